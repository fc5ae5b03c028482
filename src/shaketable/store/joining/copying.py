"""What several runs hold, copied into one new file: records, replies under way, texts, wordings, and what was made of
them."""

from __future__ import annotations

import sqlite3
from typing import Any

from shaketable.errors import RunError, StoreError
from shaketable.store.joining.dimensions import map_dimensions, note_dimensions, write_dimensions
from shaketable.store.joining.joining import Joining
from shaketable.store.record_reading import COLUMNS
from shaketable.store.records import fits_checksum
from shaketable.store.sealing.rows import checksum

RENUMBERED = {"variant": "v.new", "condition": "c.new", "environment": "e.new"}
MADE = {
    "reference_answers": ("question_id, made_by", "{}.text"),
    "verdicts": ("judge, prompt", "json_extract({}.body, '$.text')"),
}
"""Table → what tells its rows apart, and what was said there."""
SAME_WORDINGS = "a.part = b.part AND a.question_id = b.question_id"
WORDED = (
    "SELECT variation, wording, rejected IS NULL FROM {}.wordings WHERE part = b.part AND question_id = b.question_id"
)
UNLIKE = f"""
SELECT COUNT(*), MIN(b.part), MIN(b.question_id) FROM main.rewordings a JOIN part.rewordings b ON {SAME_WORDINGS}
    WHERE NOT a.may_retry AND NOT b.may_retry AND (a.made_by IS NOT b.made_by
        OR EXISTS ({WORDED.format("main")} EXCEPT {WORDED.format("part")})
        OR EXISTS ({WORDED.format("part")} EXCEPT {WORDED.format("main")}))
"""


class _Moving:
    """Checksums of records under their new numbers; those that do not match their old ones are counted."""

    n_altered = 0
    altered = ""

    def __call__(self, *values: Any) -> str:
        row, old = values[: len(COLUMNS)], values[len(COLUMNS) :]
        before = dict(zip(COLUMNS, row, strict=True)) | dict(zip(RENUMBERED, old, strict=False))
        if not fits_checksum(tuple(before.values()), str(old[-1])):
            self.n_altered += 1
            self.altered = str(row[0])
        return checksum(row)


def copy_records(joining: Joining) -> None:
    """Those that were chosen, with all they refer to, numbered in the order of the plan."""
    for number in range(len(joining.names)):
        with joining.attached(number) as connection:
            note_dimensions(connection, number)
            connection.execute("INSERT OR IGNORE INTO main.texts SELECT * FROM part.texts")
    with joining.transaction() as connection:
        write_dimensions(connection)
    for number, name in enumerate(joining.names):
        with joining.attached(number) as connection:
            map_dimensions(connection)
            _copy_records(connection, number, name)
            connection.execute(
                """INSERT INTO main.curves SELECT k.* FROM part.curves k JOIN chosen c ON c.key = k.key
                   WHERE c.source = ?""",
                (number,),
            )


def _copy_records(connection: sqlite3.Connection, number: int, name: str) -> None:
    moving = _Moving()
    connection.create_function("moved", -1, moving)
    values = ", ".join(RENUMBERED.get(column, f"r.{column}") for column in COLUMNS)
    old = ", ".join(f"r.{column}" for column in (*RENUMBERED, "checksum"))
    connection.execute(
        f"""INSERT INTO main.records (id, {", ".join(COLUMNS)}, checksum)
            SELECT a.id, {values}, moved({values}, {old}) FROM arranged a JOIN part.records r ON r.id = a.row
            JOIN new_variants v ON v.old = r.variant JOIN new_conditions c ON c.old = r.condition
            JOIN new_environments e ON e.old = r.environment WHERE a.source = ? ORDER BY a.id""",
        (number,),
    )
    if moving.n_altered:
        raise StoreError(
            f"{name}: {moving.n_altered:,} records do not match their checksums, such as {moving.altered}. Nothing was "
            f"written. See: shaketable verify {name}."
        )


def copy_underway(joining: Joining) -> None:
    """Replies to trials that no run has ended; of a trial that several have begun, those of the first."""
    for number in range(len(joining.names)):
        with joining.attached(number) as connection:
            connection.execute(
                """INSERT INTO main.underway SELECT u.* FROM part.underway u
                   WHERE NOT EXISTS (SELECT 1 FROM chosen c WHERE c.key = u.key)
                   AND NOT EXISTS (SELECT 1 FROM main.underway m WHERE m.key = u.key)"""
            )


def copy_wordings(joining: Joining) -> None:
    """What variations made of the questions; what may be tried again gives way. Refuses where two runs reworded a
    question otherwise: a study asks one of both."""
    for number, name in enumerate(joining.names):
        with joining.attached(number) as connection:
            [(n, part, question_id)] = connection.execute(UNLIKE)
            if n:
                raise RunError(
                    f"{name}: {n:,} questions are worded otherwise than in the runs before it, such as {question_id} "
                    f"by {part}. Nothing was written. Runs of one set of wordings can be joined."
                )
            for table in ("wordings", "rewordings"):
                connection.execute(
                    f"""DELETE FROM main.{table} WHERE (part, question_id) IN (SELECT a.part, a.question_id
                        FROM main.rewordings a JOIN part.rewordings b ON {SAME_WORDINGS}
                        WHERE a.may_retry AND NOT b.may_retry)"""
                )
            for table in ("wordings", "rewordings"):
                connection.execute(
                    f"""INSERT INTO main.{table} SELECT b.* FROM part.{table} b WHERE NOT EXISTS (
                        SELECT 1 FROM main.rewordings a WHERE {SAME_WORDINGS})"""
                )


def copy_made(joining: Joining, *, prefer_first: bool) -> None:
    """Reference answers, and verdicts of judges."""
    for table, (names, said) in MADE.items():
        same = " AND ".join(f"a.{name} = b.{name}" for name in names.split(", "))
        for number, name in enumerate(joining.names):
            with joining.attached(number) as connection:
                [(n,)] = connection.execute(
                    f"""SELECT COUNT(*) FROM main.{table} a JOIN part.{table} b ON {same}
                        WHERE {said.format("a")} <> {said.format("b")}"""
                )
                if n and not prefer_first:
                    raise RunError(
                        f"{name}: {n:,} {table.replace('_', ' ')} differ from those of the runs before it. Nothing was "
                        "written. To keep those of the run that is named first: --prefer first."
                    )
                connection.execute(f"INSERT OR IGNORE INTO main.{table} SELECT * FROM part.{table}")
