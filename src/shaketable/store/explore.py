"""Looking into a run without loading it: SQLite filters and sorts by a narrow index."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shaketable.store import marks
from shaketable.store.codec import decode
from shaketable.store.explored import (
    Neighbours,
    QuestionCell,
    QuestionPage,
    QuestionRow,
    RecordPage,
    RecordRow,
    RepeatRow,
)
from shaketable.store.record_index import N_SHOWN, Index, RecordIndex, Seen
from shaketable.store.records import RecordStore
from shaketable.store.run import Run
from shaketable.store.score_file import load_scores_of
from shaketable.store.selection import (
    FACTORS,
    NO_VALUE,
    OF_CONDITION,
    OF_QUESTION,
    OWN_TAGS,
    TAG_TEXT,
    Selection,
    format_before,
    format_like,
    format_order,
    format_walk,
    format_where,
    repeats_table,
    score_column,
)
from shaketable.types import Curve, Failure, Question, Record, Score, Variant

N_FEW = 20_000
"""Records that are sorted in no time."""
N_MARKED_AT_ONCE = 50_000
"""Records up to which the flags of all are read unasked: it takes a second."""
MOST_TAGGED = 50
"""Values of a tag that people choose among; one with more, such as the article of a question, is found by its words."""
WORDED = """
    INSERT INTO worded SELECT id FROM said WHERE answer LIKE ?1 ESCAPE '\\' OR variant IN (
        SELECT v.id FROM run.variants v JOIN run.questions q ON q.id = v.question_id
        WHERE v.wording LIKE ?1 ESCAPE '\\' OR q.text LIKE ?1 ESCAPE '\\')"""
"""The records in which words are found, looked for once and kept in order, so that the others are soon told apart."""


class Explorer:
    """Any number of threads may ask. Nothing is written into the run's folder."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._index = RecordIndex(run.folder, run.records_path)

    def close(self) -> None:
        self._index.close()

    def index(self) -> Index:
        """The narrow index of the records, up to date."""
        return self._index.current()

    @property
    def seen(self) -> Seen | None:
        """The run as the index knows it; None: nobody asked yet."""
        return self._index.seen

    def _store(self) -> RecordStore:
        return RecordStore(self.run.records_path, read_only=True)

    # --- lists --------------------------------------------------------------------------------

    @property
    def metrics(self) -> tuple[str, ...]:
        """The scores that records have."""
        return tuple(self._index.current().score_columns)

    def facets(self) -> Mapping[str, tuple[str, ...]]:
        """Every factor with the values it takes, of those that differ between records."""
        sources = {name: f"SELECT DISTINCT {name} FROM run.conditions" for name in OF_CONDITION}
        sources["variation"] = "SELECT DISTINCT variation FROM run.variants WHERE rejected IS NULL"
        sources |= {name: f"SELECT DISTINCT {column} FROM run.questions q" for name, column in OF_QUESTION.items()}
        sources |= {name: f"SELECT value FROM facets WHERE name = '{name}'" for name in ("temperature", "repeat")}
        with self._index.reading() as (connection, _):
            values = {
                name: tuple(_spelled(value) for (value,) in connection.execute(f"{sources[name]} ORDER BY 1"))
                for name in FACTORS
            }
        return {name: own for name, own in values.items() if len(own) > 1}

    def tags(self) -> Mapping[str, tuple[str, ...]]:
        """Every tag of the questions by which records can be told apart, with its values; `type` is a factor."""
        sql = f"SELECT DISTINCT t.key, {TAG_TEXT} FROM run.questions q, json_each(q.tags) t ORDER BY 1, t.value"
        lacking = (
            "SELECT COUNT(*) FROM run.questions q WHERE NOT EXISTS (SELECT 1 FROM json_each(q.tags) WHERE key = ?)"
        )
        values: dict[str, list[str]] = {}
        with self._index.reading() as (connection, _):
            for name, value in connection.execute(sql):
                if name not in OWN_TAGS:
                    values.setdefault(name, []).append(_spelled(value))
            few = {name: own for name, own in values.items() if len(own) <= MOST_TAGGED}
            for name, own in few.items():
                [(n,)] = connection.execute(lacking, (name,))
                own += [NO_VALUE] if n else []
        return {name: tuple(dict.fromkeys(own)) for name, own in few.items() if len(own) > 1}

    def flags(self) -> Mapping[str, int] | None:
        """Flags of evidence with the number of records that have them; None: the run is large, and nobody asked yet."""
        with self._index.reading() as (connection, _):
            [(n,)] = connection.execute("SELECT COUNT(*) FROM looked")
            if n > N_MARKED_AT_ONCE and not marks.is_there(connection, marks.FLAGGED):
                return None
        with self._index.reading(lambda index: [marks.FLAGGED]) as (connection, _):
            return dict(connection.execute("SELECT flag, COUNT(*) FROM flagged GROUP BY 1 ORDER BY 1").fetchall())

    def find(self, selection: Selection) -> RecordPage:
        with self._index.reading(lambda index: _tables(selection, index)) as (connection, index):
            chosen = _choose(connection, index, selection)
            cursor = connection.execute(
                # The rows that are shown are chosen first, and joined with their texts after.
                f"""WITH chosen AS ({chosen.sql})
                    SELECT r.key, v.question_id, q.text AS question, v.wording, v.variation, q.dataset,
                           json_extract(q.tags, '$.type') AS type, c.model, c.method, c.retriever, c.perturbation,
                           i.temperature, i.repeat, substr(r.answer, 1, {N_SHOWN}) AS answer, i.failed,
                           i.n_searches, i.n_tokens, i.seconds{index.list_columns("i.{}")}
                    FROM chosen JOIN looked i USING (id) JOIN run.records r USING (id)
                    JOIN run.variants v ON v.id = i.variant JOIN run.questions q ON q.id = v.question_id
                    JOIN run.conditions c ON c.id = i.condition ORDER BY {chosen.order}""",
                (*chosen.values, selection.limit, selection.offset),
            )
            rows = [
                RecordRow(**{**row, "failed": bool(row["failed"])}, scores=scores)
                for row, scores in _with_scores(cursor, index)
            ]
        return RecordPage(n=chosen.n, rows=tuple(rows))

    def neighbours(self, selection: Selection, key: str) -> Neighbours | None:
        """The records before and after one of a list, which is soon found at the selection's offset; None: it is not
        in this list."""
        with self._index.reading(lambda index: _tables(selection, index)) as (connection, index):
            chosen = _choose(connection, index, selection)
            [(own,)] = connection.execute("SELECT MIN(id) FROM run.records WHERE key = ?", (key,))
            place, near = selection.offset, chosen.around(connection, selection.offset)
            if near[1] != own:
                found = connection.execute(
                    f"SELECT 1 FROM looked i WHERE {chosen.where} AND i.id = ?", (*chosen.values, own)
                )
                if found.fetchone() is None:
                    return None
                before = format_before(selection, index.score_columns)
                both = f"looked own CROSS JOIN looked i WHERE own.id = ? AND {chosen.where} AND {before}"
                [(place,)] = connection.execute(f"SELECT COUNT(*) FROM {both}", (own, *chosen.values))
                near = chosen.around(connection, place)
            keys = dict(connection.execute("SELECT id, key FROM run.records WHERE id IN (?, ?)", near[::2]).fetchall())
        return Neighbours(n=chosen.n, place=place, before=keys.get(near[0]), after=keys.get(near[2]))

    def questions(self, metric: str | None, words: str = "", offset: int = 0, limit: int = 50) -> QuestionPage:
        """Questions with the mean of a metric over all their records, the lowest first."""
        where = "WHERE q.text LIKE ?1 ESCAPE '\\' OR q.id LIKE ?1 ESCAPE '\\'"
        with self._index.reading() as (connection, index):
            value = "NULL" if metric is None else f"AVG(i.{score_column(metric, index.score_columns)})"
            [(n,)] = connection.execute(f"SELECT COUNT(*) FROM run.questions q {where}", (format_like(words),))
            cursor = connection.execute(
                f"""WITH means AS (SELECT v.question_id AS id, {value} AS value, COUNT(*) AS n
                        FROM looked i JOIN run.variants v ON v.id = i.variant GROUP BY 1)
                    SELECT q.id AS question_id, q.text AS question, json_extract(q.tags, '$.type') AS type, m.value, m.n
                    FROM run.questions q JOIN means m ON m.id = q.id {where}
                    ORDER BY m.value IS NULL, m.value, q.place LIMIT ?2 OFFSET ?3""",
                (format_like(words), limit, offset),
            )
            return QuestionPage(n=n, rows=tuple(QuestionRow(**row) for row in _named(cursor)))

    # --- one question, one record -------------------------------------------------------------

    def question(self, question_id: str) -> Question | None:
        with self._store() as store:
            return store.question(question_id)

    def variants(self, question_id: str) -> tuple[Variant, ...]:
        """Every wording of a question, the rejected with their reasons."""
        with self._store() as store:
            return store.variants(question_id)

    def cells(self, question_id: str, metric: str | None) -> tuple[QuestionCell, ...]:
        """One question under every condition and temperature."""
        with self._index.reading() as (connection, index):
            column = "NULL" if metric is None else f"i.{score_column(metric, index.score_columns)}"
            cursor = connection.execute(
                # The minimum makes SQLite take the key from the row of the first repeat.
                f"""SELECT c.model, c.method, c.retriever, c.perturbation, v.variation, v.wording, i.temperature,
                           AVG({column}) AS value, COUNT(*) AS n, SUM(i.failed) AS n_failed, r.key,
                           MIN(i.repeat) AS repeat
                    FROM looked i JOIN run.records r ON r.id = i.id JOIN run.variants v ON v.id = i.variant
                    JOIN run.conditions c ON c.id = i.condition
                    WHERE i.variant IN (SELECT id FROM run.variants WHERE question_id = ?)
                    GROUP BY i.condition, i.variant, i.temperature ORDER BY c.id, v.id, i.temperature""",
                (question_id,),
            )
            return tuple(QuestionCell(**cell) for cell in _named(cursor))

    def record(self, key: str) -> Record | None:
        with self._store() as store:
            return store.record(key)

    def scores(self, key: str) -> tuple[Score, ...]:
        """A record's scores with the reasons of those that are missing."""
        return load_scores_of(self.run.folder, key)

    def repeats(self, record: Record) -> tuple[RepeatRow, ...]:
        """Every record of the same wording and condition: all repeats at all temperatures."""
        with self._index.reading() as (connection, index):
            cursor = connection.execute(
                f"""WITH own AS (SELECT variant, condition FROM run.records WHERE key = ?)
                    SELECT r.key, i.temperature, i.repeat, r.answer, r.failure{index.list_columns("i.{}")}
                    FROM own JOIN looked i ON i.variant = own.variant AND i.condition = own.condition
                    JOIN run.records r ON r.id = i.id ORDER BY i.temperature, i.repeat""",
                (record.trial.key,),
            )
            return tuple(
                RepeatRow(**{**row, "failure": _failure(row["failure"])}, scores=scores)
                for row, scores in _with_scores(cursor, index)
            )

    def untouched(self, record: Record) -> Record | None:
        """The first record of the same wording and system whose evidence was left as it is."""
        with self._store() as store:
            return store.untouched(record.trial)

    def original_wording(self, record: Record) -> Record | None:
        """The trial of the original wording under the same condition; None: this is it, or there is none."""
        with self._store() as store:
            return store.original_wording(record.trial)

    def curves(self, keys: Sequence[str]) -> list[Curve]:
        with self._store() as store:
            return store.curves_of(keys)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Chosen:
    """How a selection is asked for."""

    n: int
    source: str
    where: str
    values: Sequence[str | None]
    order: str

    @property
    def sql(self) -> str:
        """Ids in their order; its last two values are limit and offset."""
        return f"SELECT i.id FROM {self.source} WHERE {self.where} ORDER BY {self.order} LIMIT ? OFFSET ?"

    def around(self, connection: sqlite3.Connection, place: int) -> list[int | None]:
        """The ids before, at and after a place; None where there is none."""
        first = max(place - 1, 0)
        found = [id for (id,) in connection.execute(self.sql, (*self.values, 3, first))]
        return [*([] if place else [None]), *found, None, None, None][:3]


def _choose(connection: sqlite3.Connection, index: Index, selection: Selection) -> _Chosen:
    where, values = format_where(selection, index.score_columns)
    if selection.words:
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("CREATE TEMP TABLE worded (id INTEGER PRIMARY KEY)")
        connection.execute(WORDED, (format_like(selection.words),))
    [(n,)] = connection.execute(f"SELECT COUNT(*) FROM looked i WHERE {where}", values)
    # Of many records the first few in order are met soon; few are sorted faster than they are looked for.
    is_many = n > N_FEW
    order = format_order(selection, index.score_columns, by_index=is_many)
    source = f"looked i {format_walk(selection.sort, index.score_columns) if is_many else ''}"
    return _Chosen(n=n, source=source, where=where, values=values, order=order)


def _tables(selection: Selection, index: Index) -> list[str]:
    """What must have been made before a selection can be asked for."""
    repeats = [] if selection.repeats is None else [repeats_table(selection, index.score_columns)]
    return [*repeats, *([] if selection.flag is None else [marks.FLAGGED])]


def _named(cursor: sqlite3.Cursor) -> Iterator[dict[str, Any]]:
    names = [description[0] for description in cursor.description]
    return (dict(zip(names, row, strict=True)) for row in cursor)


def _with_scores(cursor: sqlite3.Cursor, index: Index) -> Iterator[tuple[dict[str, Any], dict[str, float | None]]]:
    """Rows that end with the scores, and these by metric."""
    for row in _named(cursor):
        scores = {metric: row.pop(column) for metric, column in index.score_columns.items()}
        yield row, scores


def _failure(body: str | None) -> Failure | None:
    return None if body is None else decode(Failure, json.loads(body))


def _spelled(value: Any) -> str:
    return NO_VALUE if value is None else f"{value:g}" if isinstance(value, float) else str(value)
