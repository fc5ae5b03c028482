"""What records of several runs refer to, numbered anew: environments, conditions and wordings."""

from __future__ import annotations

import sqlite3

NAMED_BY = {"environments": "body", "conditions": "identity", "variants": "question_id, variation, wording"}
"""Table → what tells its rows apart."""
COLUMNS = {
    "environments": "body",
    "conditions": "model, method, retriever, perturbation, identity, parts",
    "variants": "question_id, variation, wording, provenance, rejected",
}
OF_RECORDS = {"environments": "environment", "conditions": "condition", "variants": "variant"}
"""Table → the column of records that refers to it."""


def note_dimensions(connection: sqlite3.Connection, number: int) -> None:
    """Remember what the attached run has of each table, and which record of the new file refers to it first."""
    for table, columns in COLUMNS.items():
        connection.execute(
            f"CREATE TEMP TABLE IF NOT EXISTS found_{table} AS "
            f"SELECT {columns}, 0 AS first, 0 AS source, 0 AS row FROM main.{table} LIMIT 0"
        )
        connection.execute(
            f"""INSERT INTO found_{table} SELECT {columns}, u.first, {number:d}, d.id FROM part.{table} d
                LEFT JOIN (SELECT r.{OF_RECORDS[table]} AS used, MIN(a.id) AS first FROM part.records r
                           JOIN arranged a ON a.row = r.id AND a.source = {number:d} GROUP BY 1) u ON u.used = d.id"""
        )


def write_dimensions(connection: sqlite3.Connection) -> None:
    """Each once, as the first record has it; wordings that are not asked stand before the others, as in any run."""
    order = {
        "environments": "first NULLS LAST, source, row",
        "conditions": "first NULLS LAST, source, row",
        "variants": "first NULLS FIRST, (SELECT place FROM main.questions q WHERE q.id = question_id), source, row",
    }
    for table, columns in COLUMNS.items():
        known = "WHERE question_id IN (SELECT id FROM main.questions)" if table == "variants" else ""
        # Of equal rows the one that a record refers to counts: a wording refused in one run may be asked in another.
        connection.execute(
            f"""INSERT INTO main.{table} ({columns}) SELECT {columns} FROM (
                    SELECT *, ROW_NUMBER() OVER (PARTITION BY {NAMED_BY[table]} ORDER BY first NULLS LAST, source, row)
                    AS turn FROM found_{table} {known}
                ) WHERE turn = 1 ORDER BY {order[table]}"""
        )


def map_dimensions(connection: sqlite3.Connection) -> None:
    """`new_TABLE`: the number of each row in the attached run, and in the new file."""
    for table, names in NAMED_BY.items():
        connection.execute(f"CREATE TEMP TABLE IF NOT EXISTS new_{table} (old INTEGER PRIMARY KEY, new INTEGER)")
        connection.execute(f"DELETE FROM new_{table}")
        same = " AND ".join(f"a.{name} = b.{name}" for name in names.split(", "))
        connection.execute(
            f"INSERT INTO new_{table} SELECT b.id, a.id FROM part.{table} b JOIN main.{table} a ON {same}"
        )
