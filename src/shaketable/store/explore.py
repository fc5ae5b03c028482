"""Looking into a run without loading it: a narrow index in a temporary file, which SQLite filters and sorts."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from shaketable.errors import StudyError, did_you_mean
from shaketable.store.records import RecordStore, reading_uri
from shaketable.store.run import Run
from shaketable.types import NOTHING, Curve, Question, Record

N_SHOWN = 300
"""Characters of an answer that the index keeps, for lists and for searching."""
N_FEW = 20_000
"""Records that are sorted in no time."""
LOOK_AGAIN_SECONDS = 1.0
"""A run that is going on is asked for news at most this often."""
REST = 10
"""Times as long as it took to bring the index up to date."""
NO_VALUE = "(none)"
"""How a filter asks for records that lack a factor, such as the retriever of a method that does not search."""
OF_CONDITION = ("model", "method", "retriever", "perturbation")
OF_QUESTION = {"dataset": "q.dataset", "type": "json_extract(q.tags, '$.type')"}
COUNTED = ("n_searches", "n_tokens", "seconds")
OWN = ("temperature", "repeat", *COUNTED)
FACTORS = (*OF_CONDITION, "variation", *OF_QUESTION, "temperature", "repeat")
"""What records can be filtered by, beside their question and outcome."""
SAID = f"SELECT id, variant, substr(answer, 1, {N_SHOWN}) FROM run.records"
WORDED = """
    INSERT INTO worded SELECT id FROM said WHERE answer LIKE ?1 ESCAPE '\\' OR variant IN (
        SELECT v.id FROM run.variants v JOIN run.questions q ON q.id = v.question_id
        WHERE v.wording LIKE ?1 ESCAPE '\\' OR q.text LIKE ?1 ESCAPE '\\')"""
"""The records in which words are found, looked for once and kept in order, so that the others are soon told apart."""
OUTCOMES = {"answered": "failed = 0", "failed": "failed = 1"}


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Which records, in which order."""

    factors: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    """Factor → the value it has."""
    question_id: str | None = None
    outcome: str | None = None
    """`answered` or `failed`; None: both."""
    words: str = ""
    """Found in the question, the wording or the beginning of the answer, whatever their case."""
    sort: str | None = None
    """A metric, a factor of the record's own or a count; None: in the order they were stored."""
    is_descending: bool = False
    offset: int = 0
    limit: int = 50


@dataclass(frozen=True, kw_only=True)
class Found:
    n: int
    """Records in the selection."""
    rows: Sequence[Mapping[str, Any]]
    """Those asked for: key, every factor, question, wording, answer, failed, counts, and `scores` by metric."""


@dataclass(frozen=True, kw_only=True)
class _Index:
    path: Path
    metrics: tuple[str, ...]
    """In the order of the columns s0, s1 ..."""

    def column(self, metric: str) -> str:
        if metric not in self.metrics:
            known = ", ".join((*OWN, *self.metrics))
            raise StudyError(f"Nothing is called '{metric}' here.{did_you_mean(metric, self.metrics)} Known: {known}.")
        return f"s{self.metrics.index(metric)}"

    def walk(self, sort: str | None) -> str:
        """How SQLite meets records in order, without sorting them."""
        if sort is None:
            return "NOT INDEXED"
        return f"INDEXED BY by_{sort if sort in COUNTED else self.column(sort)}" if sort not in FACTORS else ""

    def columns(self, text: str) -> str:
        """A text for each score: `, s0 REAL, s1 REAL`."""
        return "".join(f", {text.format(f's{place}')}" for place in range(len(self.metrics)))

    def row(self, cursor: sqlite3.Cursor, row: Sequence[Any]) -> dict[str, Any]:
        """A row that ends with the scores."""
        n = len(row) - len(self.metrics)
        return _named(cursor, row[:n]) | {"scores": dict(zip(self.metrics, row[n:], strict=True))}


class Explorer:
    """Any number of threads may ask. Nothing is written into the run's folder."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._folder = tempfile.TemporaryDirectory(prefix="shaketable-")
        self._lock = threading.Lock()
        self._index: _Index | None = None
        self._seen: tuple[Any, ...] | None = None
        self._look_again = 0.0

    def close(self) -> None:
        self._folder.cleanup()

    # --- asking -------------------------------------------------------------------------------

    @property
    def metrics(self) -> tuple[str, ...]:
        """The scores that records have."""
        return self._refreshed().metrics

    def facets(self) -> dict[str, list[str]]:
        """Every factor with the values it takes, of those that differ between records."""
        sources = {name: f"SELECT DISTINCT {name} FROM run.conditions" for name in OF_CONDITION}
        sources["variation"] = "SELECT DISTINCT variation FROM run.variants WHERE rejected IS NULL"
        sources |= {name: f"SELECT DISTINCT {column} FROM run.questions q" for name, column in OF_QUESTION.items()}
        sources |= {name: f"SELECT value FROM facets WHERE name = '{name}'" for name in ("temperature", "repeat")}
        found = {}
        with self._reading() as (connection, _):
            for name in FACTORS:
                values = [value for (value,) in connection.execute(f"{sources[name]} ORDER BY 1")]
                if len(values) > 1:
                    found[name] = [_spelled(value) for value in values]
        return found

    def find(self, selection: Selection) -> Found:
        where, values = _where(selection)
        with self._reading() as (connection, index):
            if selection.words:
                connection.execute("PRAGMA temp_store = MEMORY")
                connection.execute("CREATE TEMP TABLE worded (id INTEGER PRIMARY KEY)")
                connection.execute(WORDED, (f"%{_escaped(selection.words)}%",))
            [(n,)] = connection.execute(f"SELECT COUNT(*) FROM looked i WHERE {where}", values)
            # Of many records the first few in order are met soon; few are sorted faster than they are looked for.
            is_many = n > N_FEW
            order = _order(selection, index, by_index=is_many)
            source = f"looked i {index.walk(selection.sort) if is_many else ''}"
            cursor = connection.execute(
                # The rows that are shown are chosen first, and joined with their texts after.
                f"""WITH chosen AS (SELECT i.id FROM {source} WHERE {where} ORDER BY {order} LIMIT ? OFFSET ?)
                    SELECT r.key, v.question_id, q.text AS question, v.wording, v.variation, q.dataset,
                           json_extract(q.tags, '$.type') AS type, c.model, c.method, c.retriever, c.perturbation,
                           i.temperature, i.repeat, substr(r.answer, 1, {N_SHOWN}) AS answer, i.failed,
                           i.n_searches, i.n_tokens, i.seconds{index.columns("i.{}")}
                    FROM chosen JOIN looked i USING (id) JOIN run.records r USING (id)
                    JOIN run.variants v ON v.id = i.variant JOIN run.questions q ON q.id = v.question_id
                    JOIN run.conditions c ON c.id = i.condition ORDER BY {order}""",
                (*values, selection.limit, selection.offset),
            )
            return Found(n=n, rows=[index.row(cursor, row) for row in cursor])

    def questions(self, metric: str | None, words: str = "", offset: int = 0, limit: int = 50) -> Found:
        """Questions with the mean of a metric over all their records, the lowest first."""
        sought = f"%{_escaped(words)}%"
        where = "WHERE q.text LIKE ?1 ESCAPE '\\' OR q.id LIKE ?1 ESCAPE '\\'"
        with self._reading() as (connection, index):
            value = "NULL" if metric is None else f"AVG(i.{index.column(metric)})"
            [(n,)] = connection.execute(f"SELECT COUNT(*) FROM run.questions q {where}", (sought,))
            cursor = connection.execute(
                f"""WITH means AS (SELECT v.question_id AS id, {value} AS value, COUNT(*) AS n
                        FROM looked i JOIN run.variants v ON v.id = i.variant GROUP BY 1)
                    SELECT q.id AS question_id, q.text AS question, json_extract(q.tags, '$.type') AS type, m.value, m.n
                    FROM run.questions q JOIN means m ON m.id = q.id {where}
                    ORDER BY m.value IS NULL, m.value, q.place LIMIT ?2 OFFSET ?3""",
                (sought, limit, offset),
            )
            return Found(n=n, rows=[_named(cursor, row) for row in cursor])

    def cells(self, question_id: str, metric: str | None) -> list[dict[str, Any]]:
        """One question under every condition: mean of a metric over the repeats, and the key of the first repeat."""
        with self._reading() as (connection, index):
            column = "NULL" if metric is None else f"i.{index.column(metric)}"
            cursor = connection.execute(
                f"""SELECT c.model, c.method, c.retriever, c.perturbation, v.variation, v.wording, i.temperature,
                           AVG({column}) AS value, COUNT({column}) AS n_scored, COUNT(*) AS n,
                           SUM(i.failed) AS n_failed, MIN(i.repeat) AS repeat, r.key
                    FROM looked i JOIN run.records r ON r.id = i.id JOIN run.variants v ON v.id = i.variant
                    JOIN run.conditions c ON c.id = i.condition
                    WHERE i.variant IN (SELECT id FROM run.variants WHERE question_id = ?)
                    GROUP BY i.condition, i.variant, i.temperature ORDER BY c.id, v.id, i.temperature""",
                (question_id,),
            )
            return [_named(cursor, row) for row in cursor]

    def record(self, key: str) -> Record | None:
        with self._store() as store:
            return store.record(key)

    def heats(self, record: Record) -> list[dict[str, Any]]:
        """Every record of the same wording and condition: all repeats at all temperatures."""
        with self._reading() as (connection, index):
            cursor = connection.execute(
                f"""WITH own AS (SELECT variant, condition FROM run.records WHERE key = ?)
                    SELECT r.key, i.temperature, i.repeat, r.answer, r.failure{index.columns("i.{}")}
                    FROM own JOIN looked i ON i.variant = own.variant AND i.condition = own.condition
                    JOIN run.records r ON r.id = i.id ORDER BY i.temperature, i.repeat""",
                (record.trial.key,),
            )
            return [index.row(cursor, row) for row in cursor]

    def untouched(self, record: Record) -> Record | None:
        """The first record of the same wording and system whose evidence was left as it is."""
        trial = record.trial
        where = (
            "v.question_id = ? AND v.wording = ? AND c.model = ? AND c.method = ? AND c.retriever IS ? "
            "AND c.perturbation = 'unchanged' AND r.answer IS NOT NULL"
        )
        same = (trial.question_id, trial.variant.text, trial.model, trial.method, trial.retriever)
        with self._store() as store:
            return next(store.select_records(where, same), None)

    def original_wording(self, record: Record) -> Record | None:
        """The trial of the original wording under the same condition in the same run; None: this is it, or there is
        none."""
        trial = record.trial
        if trial.variant.variation == "original":
            return None
        where = (
            "v.question_id = ? AND v.variation = 'original' AND c.model = ? AND c.method = ? AND c.retriever IS ? "
            "AND c.perturbation IS ? AND r.temperature = ? AND r.repeat = ?"
        )
        condition = (trial.model, trial.method, trial.retriever, trial.perturbation)
        with self._store() as store:
            same = (trial.question_id, *condition, trial.temperature, trial.repeat)
            return next(store.select_records(where, same), None)

    def question(self, question_id: str) -> Question | None:
        with self._store() as store:
            return store.question(question_id)

    def variants(self, question_id: str) -> list[dict[str, Any]]:
        """Every wording of a question, the rejected with their reasons."""
        with self._reading() as (connection, _):
            cursor = connection.execute(
                "SELECT variation, wording, rejected FROM run.variants WHERE question_id = ? ORDER BY id",
                (question_id,),
            )
            return [_named(cursor, row) for row in cursor]

    def curves(self, keys: Sequence[str]) -> list[Curve]:
        with self._store() as store:
            return store.curves_of(keys)

    def scores(self, key: str) -> list[dict[str, Any]]:
        """A record's scores with the reasons of those that are missing."""
        path = self.run.folder / "scores.parquet"
        if not path.is_file():
            return []
        return pl.scan_parquet(path).filter(pl.col("key") == key).drop("key").collect().to_dicts()

    # --- the index ----------------------------------------------------------------------------

    @contextlib.contextmanager
    def _store(self) -> Iterator[RecordStore]:
        with RecordStore(self.run.records_path, read_only=True) as store:
            yield store

    @contextlib.contextmanager
    def _reading(self) -> Iterator[tuple[sqlite3.Connection, _Index]]:
        index = self._refreshed()
        connection = sqlite3.connect(f"{index.path.as_uri()}?mode=ro", uri=True)
        try:
            connection.execute("ATTACH ? AS run", (reading_uri(self.run.records_path),))
            yield connection, index
        finally:
            connection.close()

    def _refreshed(self) -> _Index:
        """The index, up to date: new records are added; new scores, and records done again, build it anew."""
        with self._lock:
            if self._index is not None and time.monotonic() < self._look_again:
                return self._index
            start = time.monotonic()
            with self._store() as store:
                [(n, last)] = store.rows("SELECT COUNT(*), COALESCE(MAX(id), 0) FROM records")
            scores = self.run.folder / "scores.parquet"
            stamp = (scores.stat().st_mtime_ns, scores.stat().st_size) if scores.is_file() else None
            seen = (stamp, n, last)
            if self._index is None or self._seen is None:
                self._index = self._build(scores if stamp else None)
            elif seen != self._seen:
                is_longer = stamp is None and self._seen[0] is None and self._extend(self._index, n)
                self._index = self._index if is_longer else self._build(scores if stamp else None)
            self._seen = seen
            # However large the run and fast its growth, building leaves most of the time to other work.
            self._look_again = time.monotonic() + max(LOOK_AGAIN_SECONDS, REST * (time.monotonic() - start))
            return self._index

    def _extend(self, index: _Index, n: int) -> bool:
        """Add the records stored since; False: some were done again meanwhile."""
        with self._writing(index.path) as connection:
            [(last,)] = connection.execute("SELECT COALESCE(MAX(id), 0) FROM looked")
            connection.execute(f"INSERT INTO looked {_rows(index)} WHERE r.id > ?", (last,))
            connection.execute(f"INSERT INTO said {SAID} WHERE id > ?", (last,))
            [(known,)] = connection.execute("SELECT COUNT(*) FROM looked")
            _note_facets(connection)
        # More may have come since they were counted; fewer of them would mean that some have gone.
        return bool(known == n or (known > n and self._n_stored() == known))

    def _n_stored(self) -> int:
        with self._store() as store:
            return int(store.rows("SELECT COUNT(*) FROM records")[0][0])

    def _build(self, scores: Path | None) -> _Index:
        """A new file beside the old one, which readers may still hold."""
        table = None if scores is None else pl.read_parquet(scores, columns=["key", "metric", "value"])
        metrics = () if table is None else tuple(table["metric"].unique(maintain_order=True))
        path = Path(tempfile.mkstemp(dir=self._folder.name, suffix=".sqlite")[1])
        index = _Index(path=path, metrics=metrics)
        columns = index.columns("{} REAL")
        with self._writing(path) as connection:
            connection.execute(f"CREATE TEMP TABLE scored (key TEXT PRIMARY KEY{columns}) WITHOUT ROWID")
            connection.execute("CREATE TABLE facets (name TEXT, value)")
            connection.execute(
                f"""CREATE TABLE looked (id INTEGER PRIMARY KEY, variant INTEGER, condition INTEGER, temperature REAL,
                        repeat INTEGER, failed INTEGER, n_searches INTEGER, n_tokens INTEGER, seconds REAL{columns})"""
            )
            connection.execute("CREATE TABLE said (id INTEGER PRIMARY KEY, variant INTEGER, answer TEXT)")
            if table is not None:
                wide = table.pivot("metric", index="key", values="value", aggregate_function="first")
                rows = wide.select("key", *metrics).sort("key").iter_rows()
                marks = ", ".join("?" * (len(metrics) + 1))
                connection.executemany(f"INSERT INTO scored VALUES ({marks})", rows)
            connection.execute(f"INSERT INTO looked {_rows(index)}")
            connection.execute(f"INSERT INTO said {SAID}")
            connection.execute("CREATE INDEX by_variant ON looked (variant)")
            for name in (*COUNTED, *(index.column(metric) for metric in metrics)):
                connection.execute(f"CREATE INDEX by_{name} ON looked ({name})")
            connection.execute("CREATE INDEX by_factors ON looked (condition, temperature, repeat, failed, variant)")
            _note_facets(connection)
        return index

    @contextlib.contextmanager
    def _writing(self, path: Path) -> Iterator[sqlite3.Connection]:
        with contextlib.closing(sqlite3.connect(path.as_uri(), uri=True)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")  # readers need not wait
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("ATTACH ? AS run", (reading_uri(self.run.records_path),))
            with connection:
                yield connection


# --- words → SQL ----------------------------------------------------------------------------------


def _where(selection: Selection) -> tuple[str, list[Any]]:
    """Values never become part of the statement; names are compared with those that are known."""
    clauses, values = ["1"], []
    for name, value in selection.factors.items():
        if name not in FACTORS:
            raise StudyError(
                f"Records have no factor '{name}'.{did_you_mean(name, FACTORS)} Factors: {', '.join(FACTORS)}."
            )
        wanted = None if value == NO_VALUE else value
        if name in OF_CONDITION:
            clauses.append(f"i.condition IN (SELECT id FROM run.conditions WHERE {name} IS ?)")
        elif name == "variation":
            clauses.append("i.variant IN (SELECT id FROM run.variants WHERE variation IS ?)")
        elif name in OF_QUESTION:
            clauses.append(
                "i.variant IN (SELECT v.id FROM run.variants v JOIN run.questions q ON q.id = v.question_id "
                f"WHERE CAST({OF_QUESTION[name]} AS TEXT) IS ?)"
            )
        else:
            clauses.append(f"i.{name} = CAST(? AS REAL)")
        values.append(wanted)
    if selection.question_id is not None:
        clauses.append("i.variant IN (SELECT id FROM run.variants WHERE question_id = ?)")
        values.append(selection.question_id)
    if selection.outcome is not None:
        if selection.outcome not in OUTCOMES:
            raise StudyError(f"Records have no outcome '{selection.outcome}'. Outcomes: {', '.join(OUTCOMES)}.")
        clauses.append(OUTCOMES[selection.outcome])
    if selection.words:
        clauses.append("i.id IN worded")
    return " AND ".join(clauses), values


def _order(selection: Selection, index: _Index, *, by_index: bool) -> str:
    """What has no score stands last, whichever way the others are sorted."""
    if selection.sort is None:
        return "i.id"
    column = f"i.{selection.sort if selection.sort in OWN else index.column(selection.sort)}"
    way = "DESC" if selection.is_descending else "ASC"
    # A plus sign keeps SQLite from walking along the index.
    return f"{'' if by_index else '+'}{column} {way} NULLS LAST, i.id {way}"


def _rows(index: _Index) -> str:
    """What the index keeps of each record."""
    join = "LEFT JOIN scored s ON s.key = r.key" if index.metrics else ""
    return f"""SELECT r.id, r.variant, r.condition, r.temperature, r.repeat, r.failure IS NOT NULL,
                      r.n_searches, r.n_tokens, r.seconds{index.columns("s.{}")}
               FROM run.records r {join}"""


def _note_facets(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM facets")
    for name in ("temperature", "repeat"):
        connection.execute(f"INSERT INTO facets SELECT '{name}', {name} FROM looked GROUP BY 2")


def _spelled(value: Any) -> str:
    return NO_VALUE if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _escaped(words: str) -> str:
    """Words for LIKE, in which % and _ stand for themselves."""
    return "".join(f"\\{character}" if character in "\\%_" else character for character in words)


def _named(cursor: sqlite3.Cursor, row: Sequence[Any]) -> dict[str, Any]:
    names = [description[0] for description in cursor.description]
    named = dict(zip(names, row, strict=False))
    if isinstance(named.get("failure"), str):
        named["failure"] = json.loads(named["failure"])
    return named
