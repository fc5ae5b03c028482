"""The seals of tables: how many rows each has, and the sum of their digests, kept by the transactions that change rows.

A sum does not depend on the order of rows, and can be brought up to date by what came and what went.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from shaketable.identity import digest
from shaketable.store.sealing.rows import weigh, weigh_checksum

TABLE = "CREATE TABLE seals (name TEXT PRIMARY KEY, n INTEGER NOT NULL, digest TEXT NOT NULL) STRICT, WITHOUT ROWID;"
SEALED = {
    "records": "SELECT checksum FROM records",
    "variants": "SELECT * FROM variants",
    "rewordings": "SELECT * FROM rewordings",
    "wordings": "SELECT * FROM wordings",
    "reference_answers": "SELECT * FROM reference_answers",
    "verdicts": "SELECT * FROM verdicts",
    "curves": "SELECT * FROM curves",
    "underway": "SELECT * FROM underway",
    "meta": "SELECT * FROM meta",
}
"""Table → the rows that are summed; a record's checksum stands for the rest of it. Questions, conditions and
environments have digests in `meta`, and texts are named by theirs."""
COMMITS = "commits"
"""The row of `seals` that counts transactions."""
MODULUS = 1 << 128


@dataclass(frozen=True, kw_only=True, slots=True)
class Seal:
    n: int
    digest: str
    """32 hexadecimal digits of the sum."""


class Changes:
    """Rows that came and went in one transaction."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = defaultdict(int)
        self.sums: dict[str, int] = defaultdict(int)

    def add(self, table: str, row: tuple[Any, ...]) -> None:
        self.counts[table] += 1
        self.sums[table] += _weight(table, row)

    def remove(self, table: str, row: tuple[Any, ...]) -> None:
        self.counts[table] -= 1
        self.sums[table] -= _weight(table, row)


def _weight(table: str, row: tuple[Any, ...]) -> int:
    return weigh_checksum(row[-1]) if table == "records" else weigh(row)


def insert_sealed(
    connection: sqlite3.Connection, changes: Changes, table: str, key: str, rows: Iterable[tuple[Any, ...]]
) -> None:
    """Rows whose first columns are `key`, by which they take the place of older ones; part of a transaction."""
    names = key.split(", ")
    same = " AND ".join(f"{name} = ?" for name in names)
    for row in rows:
        remove_sealed(connection, changes, table, same, row[: len(names)])
        connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
        changes.add(table, row)


def remove_sealed(
    connection: sqlite3.Connection, changes: Changes, table: str, where: str, values: Sequence[Any]
) -> None:
    gone = connection.execute(f"SELECT * FROM {table} WHERE {where}", values).fetchall()
    for row in gone:
        changes.remove(table, row)
    if gone:
        connection.execute(f"DELETE FROM {table} WHERE {where}", values)


def read_seals(connection: sqlite3.Connection) -> dict[str, Seal]:
    """By table."""
    return {name: Seal(n=n, digest=own) for name, n, own in connection.execute("SELECT name, n, digest FROM seals")}


def write_seals(connection: sqlite3.Connection, changes: Changes) -> dict[str, Seal]:
    """Bring the seals up to date at the end of a transaction that changed something, and count it."""
    seals = read_seals(connection)
    for table, n in changes.counts.items():
        before = seals.get(table, Seal(n=0, digest="0"))
        total = (int(before.digest, 16) + changes.sums[table]) % MODULUS
        seals[table] = Seal(n=before.n + n, digest=f"{total:032x}")
    commits = seals.get(COMMITS, Seal(n=0, digest=""))
    seals[COMMITS] = Seal(n=commits.n + 1, digest="")
    changed = [(name, seals[name].n, seals[name].digest) for name in (*changes.counts, COMMITS)]
    connection.executemany("INSERT OR REPLACE INTO seals VALUES (?, ?, ?)", changed)
    return seals


def sum_rows(table: str, rows: Iterator[tuple[Any, ...]]) -> Seal:
    """What the seal of a table must be."""
    n = total = 0
    for row in rows:
        n, total = n + 1, total + _weight(table, row)
    return Seal(n=n, digest=f"{total % MODULUS:032x}")


def seal_all(connection: sqlite3.Connection) -> dict[str, Seal]:
    """Seal what is there, whoever wrote it; part of a transaction."""
    changes = Changes()
    connection.execute("DELETE FROM seals WHERE name <> ?", (COMMITS,))
    for table, sql in SEALED.items():
        for row in connection.execute(sql):
            changes.add(table, row)
    return write_seals(connection, changes)


def digest_seals(seals: dict[str, Seal]) -> str:
    """Of all of them."""
    return digest([[name, seals[name].n, seals[name].digest] for name in sorted(seals)])
