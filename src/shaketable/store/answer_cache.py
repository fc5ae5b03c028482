"""Answers that runs share by their keys: one SQLite file, bounded, for several processes at once.

Nothing in it is needed: where it cannot be read or written, a warning says so and every answer is asked for.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
import warnings
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from shaketable import weights
from shaketable.errors import StoreError
from shaketable.identity import digest_text

BROKEN = (sqlite3.Error, UnicodeError)
"""What is raised of a file that cannot be read; SQLite's own words about it may be broken too."""
APPLICATION = 0x53484B43  # "SHKC": tells the cache from a run and any other SQLite file.
WAIT_SECONDS = 30.0
"""For another process that writes."""
AT_ONCE = 500
"""Names in one query, and rows that are looked at to be forgotten."""
A_ROW = 128
"""Bytes of a row beside its body, about."""
TABLES = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS answers (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, checksum TEXT NOT NULL, body BLOB NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS totals (id INTEGER PRIMARY KEY, n INTEGER NOT NULL, n_bytes INTEGER NOT NULL) STRICT;
INSERT OR IGNORE INTO totals VALUES (1, 0, 0);
CREATE TRIGGER IF NOT EXISTS added AFTER INSERT ON answers
    BEGIN UPDATE totals SET n = n + 1, n_bytes = n_bytes + NEW.size; END;
CREATE TRIGGER IF NOT EXISTS removed AFTER DELETE ON answers
    BEGIN UPDATE totals SET n = n - 1, n_bytes = n_bytes - OLD.size; END;
PRAGMA application_id = {APPLICATION};
COMMIT;
"""


class AnswerCache:
    """Packed answers by their names. Several processes may use it at once."""

    def __init__(self, path: Path, most_bytes: int) -> None:
        self.path, self.most_bytes = path, most_bytes
        self._connection: sqlite3.Connection | None = None
        with self._forgiven():
            self._connection = open_file(path)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    @contextlib.contextmanager
    def _forgiven(self) -> Iterator[None]:
        """After a first problem the run goes on without the cache."""
        try:
            yield
        except (*BROKEN, OSError, StoreError) as error:
            self.close()
            self._connection = None
            warnings.warn(
                f"The cache of answers {self.path} cannot be used: {error}. All is asked. Empty it with: "
                "shaketable cache clear.",
                stacklevel=4,
            )

    def find(self, names: Sequence[str]) -> dict[str, bytes]:
        """Name → body, of those that are there as they were put there."""
        bodies: dict[str, bytes] = {}
        n_altered = 0
        for start in range(0, len(names), AT_ONCE):
            for name, checksum, body in self._rows("name, checksum, body", names[start : start + AT_ONCE]):
                unpacked = _unpacked(name, checksum, body)
                if unpacked is None:
                    n_altered += 1
                else:
                    bodies[name] = unpacked
        if n_altered:
            warnings.warn(
                f"{n_altered:,} answers in {self.path} do not match their checksums; they are asked again. Empty it "
                "with: shaketable cache clear.",
                stacklevel=2,
            )
        return bodies

    def n_known(self, names: Sequence[str]) -> int:
        return sum(len(self._rows("1", names[start : start + AT_ONCE])) for start in range(0, len(names), AT_ONCE))

    def _rows(self, columns: str, names: Sequence[str]) -> list[tuple[str, str, bytes]]:
        rows: list[tuple[str, str, bytes]] = []
        with self._forgiven():
            if self._connection is not None:
                marks = ", ".join("?" * len(names))
                rows = self._connection.execute(
                    f"SELECT {columns} FROM answers WHERE name IN ({marks})", names
                ).fetchall()
        return rows

    def add(self, bodies: Mapping[str, bytes]) -> None:
        """In one transaction; the newest of a name counts, and the oldest of all give way where there is no room."""
        rows = []
        for name, body in bodies.items():
            packed = zlib.compress(body)
            rows.append((name, len(packed) + A_ROW, _checksum(name, packed), packed))
        with self._forgiven():
            if self._connection is None or not rows:
                return
            with _transaction(self._connection) as connection:
                # Not by REPLACE, which would not fire the trigger.
                connection.executemany("DELETE FROM answers WHERE name = ?", [row[:1] for row in rows])
                insert = "INSERT INTO answers (name, size, checksum, body) VALUES (?, ?, ?, ?)"
                connection.executemany(insert, rows)
                self._forget_oldest(connection)

    def _forget_oldest(self, connection: sqlite3.Connection) -> None:
        [n_bytes] = connection.execute("SELECT n_bytes FROM totals").fetchone()
        while n_bytes > self.most_bytes:
            oldest = connection.execute(f"SELECT id, size FROM answers ORDER BY id LIMIT {AT_ONCE}").fetchall()
            if not oldest:
                return
            for row_id, size in oldest:
                connection.execute("DELETE FROM answers WHERE id = ?", (row_id,))
                n_bytes -= size
                if n_bytes <= self.most_bytes:
                    break


def open_file(path: Path) -> sqlite3.Connection:
    """Readable by its owner alone: answers may be private."""
    weights.make_folder(path.parent)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)
    # The files beside it get its permissions.
    connection = sqlite3.connect(path, timeout=WAIT_SECONDS, isolation_level=None)
    try:
        if not connection.execute("PRAGMA schema_version").fetchone()[0]:
            _keep_a_log(connection)
            connection.executescript(TABLES)
        if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
            raise StoreError("it is an SQLite file, but not one of Shaketable's caches")
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _keep_a_log(connection: sqlite3.Connection) -> None:
    """Readers and a writer do not wait for each other then. SQLite does not wait for a process that does the same."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Begun as a writer: one that reads first and writes then could meet another, and would not wait."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _checksum(name: str, packed: bytes) -> str:
    return digest_text(f"{name} {packed.hex()}")


def _unpacked(name: str, checksum: str, packed: bytes) -> bytes | None:
    """None: it was altered, its type perhaps too."""
    is_sound = isinstance(packed, bytes) and checksum == _checksum(name, packed)
    return zlib.decompress(packed) if is_sound else None
