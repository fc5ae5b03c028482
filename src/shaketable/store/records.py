"""`records.sqlite`: finished trials, appended as they finish, readable by others meanwhile."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from shaketable.identity import canonical, digest_text
from shaketable.store import trace
from shaketable.store.derived import Derived
from shaketable.store.dimensions import Condition, Dimensions
from shaketable.store.record_reading import COLUMNS, RecordReading
from shaketable.store.sealing.rows import CHECKSUM, checksum
from shaketable.store.sealing.seals import remove_sealed
from shaketable.store.underway import Underway
from shaketable.types import Json, Record

MADE_FROM = {
    "records": "SELECT key, checksum FROM records ORDER BY id",
    "questions": "SELECT id, body FROM questions ORDER BY id",
    "variants": "SELECT id, question_id, variation, wording, rejected FROM variants ORDER BY id",
    "conditions": "SELECT id, identity FROM conditions ORDER BY id",
    "reference_answers": "SELECT * FROM reference_answers ORDER BY question_id, made_by",
    "curves": "SELECT * FROM curves ORDER BY key",
}
"""What scores and findings are made from, by table."""
N_OLDER = 16
"""Columns of records up to version 5."""
AT_ONCE = 500
"""Keys in one query."""
NOTHING_NEWER = (None, 0)
"""Values of the columns since then where nothing is known."""
INSERT = f"INSERT OR REPLACE INTO records ({', '.join(COLUMNS)}, checksum) VALUES ({', '.join('?' * 19)})"


class RecordStore(RecordReading, Dimensions, Derived, Underway):
    """One writer, any number of readers. Every append is one transaction: `kill -9` leaves whole records."""

    def append(self, records: Sequence[tuple[Record, Condition]], environment: Mapping[str, Json]) -> None:
        """Finished records of one model, in one transaction."""
        texts: dict[str, str] = {}

        def keep(value: object) -> str:
            return self._keep(value, texts)

        rows: dict[str, tuple[Any, ...]] = {}
        with self._writing() as connection:
            environment_id = self._environment_id(environment)
            for record, condition in records:
                trial, cost = record.trial, record.cost
                row = (
                    trial.key, self._variant_id(trial.variant), self._condition_id(condition),
                    trial.temperature + 0.0, trial.repeat, trial.seed,
                    None if record.answer is None else record.answer.text,
                    None if record.failure is None else canonical(record.failure),
                    int(record.failure is not None and record.failure.may_retry),
                    cost.n_searches, cost.n_generations, cost.n_prompt_tokens, cost.n_tokens, float(cost.seconds),
                    environment_id, trace.pack(record, keep),
                    None if cost.dollars is None else float(cost.dollars), int(record.reused),
                )  # fmt: skip
                rows[trial.key] = (*row, checksum(row))
            connection.executemany("INSERT OR IGNORE INTO texts VALUES (?, ?)", texts.items())
            self._seal_records(connection, rows)
            connection.executemany(INSERT, rows.values())
            # What was kept while they were under way stands in their traces now.
            ended = self._kept_keys & rows.keys()
            for key in ended:
                remove_sealed(connection, self._changes, "underway", "key = ?", (key,))
        self._kept_keys -= ended
        self._known_texts.update(texts)

    def _seal_records(self, connection: sqlite3.Connection, rows: Mapping[str, tuple[Any, ...]]) -> None:
        """Those that come; those whose place they take go."""
        keys = list(rows)
        for start in range(0, len(keys), AT_ONCE):
            some = keys[start : start + AT_ONCE]
            sql = f"SELECT checksum FROM records WHERE key IN ({', '.join('?' * len(some))})"
            for gone in connection.execute(sql, some).fetchall():
                self._changes.remove("records", gone)
        for row in rows.values():
            self._changes.add("records", row)

    def keys(self, without: Sequence[str] = ()) -> set[str]:
        """Of all records; those of some variations left out."""
        if not without:
            return {key for (key,) in self.rows("SELECT key FROM records")}
        sql = f"""SELECT r.key FROM records r JOIN variants v ON v.id = r.variant
                  WHERE v.variation NOT IN ({", ".join("?" * len(without))})"""
        return {key for (key,) in self.rows(sql, *without)}

    def finished_keys(self) -> set[str]:
        """Keys that need no further run: answered, or failed for good."""
        return {key for (key,) in self.rows("SELECT key FROM records WHERE may_retry = 0")}

    def finished_answers(self) -> dict[str, str | None]:
        """Key → answer of every trial that needs no further run; None: it failed for good."""
        return dict(self.rows("SELECT key, answer FROM records WHERE may_retry = 0"))

    def n_finished(self) -> int:
        return int(self.rows("SELECT COUNT(*) FROM records WHERE may_retry = 0")[0][0])

    def n_finished_by_kind(self) -> dict[tuple[str | float | None, ...], int]:
        """Model, method, retriever, perturbation and temperature → trials that need no further run."""
        rows = self.rows(
            """SELECT c.model, c.method, c.retriever, c.perturbation, r.temperature, COUNT(*)
               FROM records r JOIN conditions c ON c.id = r.condition WHERE r.may_retry = 0 GROUP BY 1, 2, 3, 4, 5"""
        )
        return {tuple(kind): n for *kind, n in rows}

    def content_digest(self) -> str:
        """The digest of all that scores and findings are made from."""
        content = hashlib.sha256()
        tables = {name for (name,) in self.rows("SELECT name FROM sqlite_master")}  # An older format has fewer.
        for table, sql in MADE_FROM.items():
            if table in tables:
                for row in self.stream(sql):
                    content.update(f"{table} {row!r}\n".encode("utf-8", "surrogatepass"))
        return content.hexdigest()[:32]


def fits_checksum(row: tuple[Any, ...], found: str) -> bool:
    """Whether a record's stored values are those that its checksum was made of, by the rule of its time."""
    return found == (checksum(row) if found.startswith(CHECKSUM) else older_checksum(row))


def older_checksum(row: Sequence[Any]) -> str:
    """Up to version 6: nothing tells texts from other values, and of what came with version 6 only what says something
    counts."""
    row = row[:N_OLDER] if tuple(row[N_OLDER:]) == NOTHING_NEWER else row
    return digest_text("\x1f".join(map(str, row)))[:16]
