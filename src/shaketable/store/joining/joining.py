"""A new file of records, made of those of several runs: which run gives which record, in which order.

Nothing of a run is held in memory: one run after the other is attached, and SQLite keeps what is compared and sorted in
files of its own.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from shaketable.errors import RunError, StoreError
from shaketable.identity import digest
from shaketable.store import schema
from shaketable.store.database import Database, reading_uri
from shaketable.store.records import RecordStore
from shaketable.store.sealing.seals import seal_all

TABLES = """
CREATE TEMP TABLE planned (key TEXT PRIMARY KEY, place INTEGER) WITHOUT ROWID;
CREATE TEMP TABLE chosen (
    key TEXT PRIMARY KEY, source INTEGER, row INTEGER, may_retry INTEGER, said TEXT
) WITHOUT ROWID;
CREATE TEMP TABLE arranged (id INTEGER PRIMARY KEY, source INTEGER, row INTEGER);
"""
ARRANGE = """
INSERT INTO arranged (source, row) SELECT c.source, c.row FROM chosen c LEFT JOIN planned p ON p.key = c.key
    ORDER BY p.place NULLS LAST, c.source, c.row
"""
CHOOSE = """
INSERT INTO chosen SELECT key, ?, id, may_retry, said_in(answer, failure) FROM part.records WHERE true
    ON CONFLICT (key) DO UPDATE
    SET source = excluded.source, row = excluded.row, may_retry = excluded.may_retry, said = excluded.said
    WHERE chosen.may_retry AND NOT excluded.may_retry
"""
"""What may be asked again gives way to what need not be."""
DIFFERING = """
SELECT COUNT(*), MIN(r.key), MIN(c.source) FROM part.records r JOIN chosen c ON c.key = r.key
    WHERE NOT r.may_retry AND NOT c.may_retry AND c.said <> said_in(r.answer, r.failure)
"""

COPIES = "older_"
"""How copies of records in an older format begin, while they are read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Overlap:
    """Trials that several runs hold; each was taken once."""

    n_same: int
    """Answered alike, or failed in one of them."""
    n_differing: int
    """Answered otherwise: the first answer was taken."""


class Joining(Database):
    """Its connection has tables of its own for what is being joined, beside those of the new file."""

    def __init__(self, path: Path, runs: Sequence[tuple[str, Path]]) -> None:
        """`runs`: the name of each, and its records."""
        super().__init__(path)
        self.names = [name for name, _ in runs]
        self.files = [_readable(file, path.with_name(f"{COPIES}{n}.sqlite")) for n, (_, file) in enumerate(runs)]
        self._connection.isolation_level = None
        # The file counts when it is whole and synchronized; until then it may be lost.
        self._connection.execute("PRAGMA journal_mode = OFF")
        self._connection.execute("PRAGMA synchronous = OFF")
        self._connection.create_function("said_in", 2, _said, deterministic=True)
        self._connection.executescript(TABLES)

    def finish(self) -> None:
        """Seal and close it, as the file of any run."""
        with self.transaction() as connection:
            seals = seal_all(connection)
        self._connection.execute("PRAGMA journal_mode = WAL")
        if self._noting is not None:
            self._noting.note(seals)
        for copy in self.path.parent.glob(f"{COPIES}*"):
            copy.unlink()
        self.close()
        with self.path.open("rb") as file:
            os.fsync(file.fileno())

    @contextlib.contextmanager
    def attached(self, number: int) -> Iterator[sqlite3.Connection]:
        """The connection in one transaction, with one of the runs as `part`."""
        try:
            with self._explained():
                self._connection.execute("ATTACH ? AS part", (reading_uri(self.files[number]),))
                with self.transaction() as connection:
                    yield connection
                self._connection.execute("DETACH part")
        except StoreError as error:
            raise StoreError(f"{self.names[number]}: {error} See: shaketable verify {self.names[number]}.") from error

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        self._connection.execute("BEGIN")
        yield self._connection
        self._connection.execute("COMMIT")

    def note_plan(self, keys: Iterable[str]) -> None:
        """The keys that the study plans, in their order."""
        numbered = ((key, place) for place, key in enumerate(keys))
        with self.transaction() as connection:
            connection.executemany("INSERT OR IGNORE INTO planned VALUES (?, ?)", numbered)

    def choose(self, unworded: Sequence[str], *, prefer_first: bool) -> Overlap:
        """Which run gives each record, by its key. Refuses what the study does not plan, and answers that differ unless
        the first are preferred. Records of wordings that are not all made yet are not looked up in the plan."""
        n_shared = n_differing = 0
        for number in range(len(self.names)):
            with self.attached(number) as connection:
                self._refuse_strangers(connection, number, unworded)
                n_differing += self._count_differing(connection, number, prefer_first)
                n_shared += connection.execute("SELECT COUNT(*) FROM part.records JOIN chosen USING (key)").fetchone()[
                    0
                ]
                connection.execute(CHOOSE, (number,))
        with self.transaction() as connection:
            connection.execute(ARRANGE)
        return Overlap(n_same=n_shared - n_differing, n_differing=n_differing)

    def _refuse_strangers(self, connection: sqlite3.Connection, number: int, unworded: Sequence[str]) -> None:
        [(n,)] = connection.execute(
            f"""SELECT COUNT(*) FROM part.records r JOIN part.variants v ON v.id = r.variant
                WHERE v.variation NOT IN ({", ".join("?" * len(unworded))})
                AND NOT EXISTS (SELECT 1 FROM planned p WHERE p.key = r.key)""",
            unworded,
        )
        if n:
            raise RunError(
                f"{self.names[number]} holds {n:,} records that the joined study does not plan: its data, a prompt or "
                "the version of a component is another than here. Nothing was written. Join runs of the same data and "
                "components."
            )

    def _count_differing(self, connection: sqlite3.Connection, number: int, prefer_first: bool) -> int:
        [(n, key, source)] = connection.execute(DIFFERING)
        if n and not prefer_first:
            raise RunError(
                f"{self.names[source]} and {self.names[number]} answer {n:,} trials otherwise, such as {key}. Nothing "
                "was written. To keep the answers of the run that is named first: --prefer first."
            )
        return int(n)


def _said(answer: str | None, failure: str | None) -> str:
    """What tells answers apart; all failures are alike."""
    return digest(answer)[:16] if failure is None else ""


def _readable(file: Path, copy: Path) -> Path:
    """The file itself, or a copy of one of an older format that is brought up to date."""
    with RecordStore(file, read_only=True) as store:
        if store.version == schema.VERSION:
            return file
        with contextlib.closing(sqlite3.connect(copy)) as target:
            store.copy_to(target)
    RecordStore(copy).close()
    return copy
