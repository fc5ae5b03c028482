"""Tables of an index that take a look at every record, made when somebody first asks: repeats that disagree, flags."""

from __future__ import annotations

import sqlite3

from shaketable.store.evidence_flags import evidence_flags
from shaketable.store.records import RecordStore

FLAGGED = "flagged"
WHITE = "' ' || CHAR(9, 10, 13)"
"""What an empty answer may consist of, and what around an answer makes it no other one."""
ANSWERED_WORDS = f"LOWER(TRIM(s.answer, {WHITE}))"


def is_there(connection: sqlite3.Connection, table: str) -> bool:
    [(n,)] = connection.execute("SELECT COUNT(*) FROM main.sqlite_master WHERE type = 'table' AND name = ?", (table,))
    return bool(n)


def make(connection: sqlite3.Connection, table: str, store: RecordStore) -> None:
    """`flagged`, `differs`, or `flips_` with the column of a score. Groups are met along an index: none is sorted."""
    if table == FLAGGED:
        connection.execute("CREATE TABLE flagged (flag TEXT, id INTEGER, PRIMARY KEY (flag, id)) WITHOUT ROWID")
        connection.executemany(
            "INSERT INTO flagged SELECT ?, id FROM run.records WHERE key = ?",
            ((flag, key) for key, flags in evidence_flags(store).iter_rows() for flag in flags.split()),
        )
        return
    value = ANSWERED_WORDS if table == "differs" else f"i.{table.removeprefix('flips_')}"
    connection.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY)")
    connection.execute(
        f"""INSERT INTO {table}
            WITH split AS (
                SELECT i.variant, i.condition, i.temperature FROM looked i INDEXED BY by_variant
                JOIN said s ON s.id = i.id WHERE i.failed = 0
                GROUP BY i.variant, i.condition, i.temperature HAVING MIN({value}) < MAX({value}))
            SELECT i.id FROM split JOIN looked i INDEXED BY by_variant
                ON i.variant = split.variant AND i.condition = split.condition AND i.temperature = split.temperature
            WHERE i.failed = 0"""
    )


def forget(connection: sqlite3.Connection) -> None:
    """What was made before more records came."""
    names = "name IN ('flagged', 'differs') OR name LIKE 'flips\\_%' ESCAPE '\\'"
    found = connection.execute(f"SELECT name FROM main.sqlite_master WHERE type = 'table' AND ({names})").fetchall()
    for (name,) in found:
        connection.execute(f"DROP TABLE {name}")
