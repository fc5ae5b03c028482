"""Answers of two systems to the same wordings under equal conditions, laid beside each other by SQLite in a temporary
file."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from shaketable.errors import RunError
from shaketable.store.database import reading_uri
from shaketable.store.marks import WHITE
from shaketable.store.record_index import N_SHOWN, Index, patience
from shaketable.store.selection import format_like, score_column

N_TEXT = 1000
"""Characters of an answer that are shown."""
CHANGES = {
    "changed": "p.is_changed = 1",
    "same": "p.is_changed = 0",
    "broken": "p.first >= 1 AND p.second < 1",
    "mended": "p.first < 1 AND p.second >= 1",
}
"""What a reader may ask for; the last two need a score that tells right from wrong."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A run as it is looked into."""

    records: Path
    index: Index


@dataclass(frozen=True, kw_only=True, slots=True)
class PairedAnswer:
    key: str
    text: str
    """Its beginning; empty where it failed."""
    failed: bool
    value: float | None
    """The score that tells right from wrong; None: there is none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerPair:
    wording: str
    gold: tuple[str, ...]
    variation: str
    perturbation: str | None
    temperature: float
    repeat: int
    is_changed: bool
    first: PairedAnswer
    second: PairedAnswer


@dataclass(frozen=True, kw_only=True, slots=True)
class PairCounts:
    n: int
    n_changed: int
    n_broken: int
    """Right in the first and wrong in the second."""
    n_mended: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PairPage:
    n: int
    """Pairs in the selection."""
    counts: PairCounts
    """Of all pairs."""
    rows: tuple[AnswerPair, ...]


class AnswerPairing:
    """Any number of threads may ask for pages once it is made."""

    def __init__(self, first: Source, second: Source, systems: Sequence[tuple[str, str]], judge: str | None) -> None:
        """`systems` are pairs of system names, such as `model · method`; `judge` is a score of both runs."""
        self._sources = (first, second)
        self._folder = tempfile.TemporaryDirectory(prefix="shaketable-")
        self._path = Path(self._folder.name) / "pairs.sqlite"
        with self._connected() as connection:
            _pair(connection, systems, [_value(source.index, judge) for source in self._sources])
            connection.commit()

    def close(self) -> None:
        self._folder.cleanup()

    def find(self, change: str | None, words: str, offset: int, limit: int) -> PairPage:
        if change is not None and change not in CHANGES:
            raise RunError(f"'only' is '{change[:40]}', expected one of {', '.join(CHANGES)}, or nothing for all.")
        where, values = CHANGES[change] if change else "1", []
        if words:
            where += f" AND ({' OR '.join(f'{text} LIKE ? ESCAPE {ESCAPE}' for text in SEARCHED)})"
            values = [format_like(words)] * len(SEARCHED)
        with self._connected() as connection, patience(connection):
            joined = f"FROM pairs p {JOINED} WHERE {where}" if words else f"FROM pairs p WHERE {where}"
            [(n,)] = connection.execute(f"SELECT COUNT(*) {joined}", values)
            [counts] = connection.execute("SELECT n, n_changed, n_broken, n_mended FROM counted")
            chosen = f"SELECT p.id {joined} ORDER BY p.id LIMIT ? OFFSET ?"
            rows = connection.execute(f"{SHOWN} WHERE p.id IN ({chosen}) ORDER BY p.id", (*values, limit, offset))
            pairs = tuple(_read(row) for row in rows)
        names = ("n", "n_changed", "n_broken", "n_mended")
        return PairPage(n=n, counts=PairCounts(**dict(zip(names, counts, strict=True))), rows=pairs)

    @contextlib.contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        with contextlib.closing(sqlite3.connect(self._path.as_uri(), uri=True)) as connection:
            for name, source in zip("ab", self._sources, strict=True):
                connection.execute(f"ATTACH ? AS index_{name}", (f"{source.index.path.as_uri()}?mode=ro",))
                connection.execute(f"ATTACH ? AS run_{name}", (reading_uri(source.records),))
            yield connection


ESCAPE = "'\\'"
SEARCHED = ("v.wording", "sa.answer", "sb.answer")
JOINED = """
    JOIN index_a.said sa ON sa.id = p.a JOIN index_b.said sb ON sb.id = p.b
    JOIN run_a.variants v ON v.id = sa.variant"""
SHOWN = f"""
    SELECT v.wording, q.answers, v.variation, c.perturbation, ra.temperature, ra.repeat, p.is_changed,
           ra.key, SUBSTR(ra.answer, 1, {N_TEXT}), ra.failure IS NOT NULL, p.first,
           rb.key, SUBSTR(rb.answer, 1, {N_TEXT}), rb.failure IS NOT NULL, p.second
    FROM pairs p JOIN run_a.records ra ON ra.id = p.a JOIN run_b.records rb ON rb.id = p.b
    JOIN run_a.variants v ON v.id = ra.variant JOIN run_a.questions q ON q.id = v.question_id
    JOIN run_a.conditions c ON c.id = ra.condition"""
SYSTEM = "c.model || ' · ' || c.method || COALESCE(' · ' || c.retriever, '')"


def systems_in(connection: sqlite3.Connection, run: str) -> list[str]:
    """Names of the systems of an attached run."""
    return [name for (name,) in connection.execute(f"SELECT DISTINCT {SYSTEM} FROM {run}.conditions c ORDER BY c.id")]


def systems_of(records: Path) -> list[str]:
    """Names of the systems of a run: `model · method · retriever`."""
    with contextlib.closing(sqlite3.connect(":memory:", uri=True)) as connection:
        connection.execute("ATTACH ? AS run", (reading_uri(records),))
        return systems_in(connection, "run")


def _value(index: Index, judge: str | None) -> str:
    return "NULL" if judge is None else score_column(judge, index.score_columns)


def _pair(connection: sqlite3.Connection, systems: Sequence[tuple[str, str]], values: Sequence[str]) -> None:
    """A record of the second is found by an index for each of the first; nothing is sorted or held in memory."""
    connection.execute("CREATE TABLE meant (first TEXT, second TEXT)")
    connection.executemany("INSERT INTO meant VALUES (?, ?)", systems)
    named = {run: SYSTEM.replace("c.", f"c{run}.") for run in "ab"}
    connection.execute(
        # A system that does not search stands beside undisturbed evidence, as in `compare`.
        f"""CREATE TABLE conditions AS SELECT ca.id AS a, cb.id AS b FROM run_a.conditions ca JOIN run_b.conditions cb
            ON COALESCE(cb.perturbation, 'unchanged') = COALESCE(ca.perturbation, 'unchanged')
            JOIN meant ON meant.first = {named["a"]} AND meant.second = {named["b"]}"""
    )
    connection.execute(
        """CREATE TABLE wordings AS SELECT va.id AS a, vb.id AS b FROM run_a.variants va JOIN run_b.variants vb
           ON vb.question_id = va.question_id AND vb.variation = va.variation AND vb.wording = va.wording"""
    )
    connection.execute("CREATE INDEX wordings_by_first ON wordings (a)")
    connection.execute("CREATE INDEX conditions_by_first ON conditions (a)")
    connection.execute(
        "CREATE TABLE pairs (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, is_changed INTEGER, first REAL, second REAL)"
    )
    whole = "(SELECT TRIM(answer, {1}) FROM run_{0}.records WHERE id = {0}.id)"
    connection.execute(
        # The beginning of an answer tells most of them apart; where it is not the whole, the whole decides.
        f"""INSERT INTO pairs (a, b, is_changed, first, second)
            SELECT a.id, b.id,
                   CASE WHEN TRIM(sa.answer, {WHITE}) IS NOT TRIM(sb.answer, {WHITE}) THEN 1
                        WHEN MAX(LENGTH(sa.answer), LENGTH(sb.answer)) < {N_SHOWN} THEN 0
                        ELSE {whole.format("a", WHITE)} IS NOT {whole.format("b", WHITE)} END,
                   {values[0] if values[0] == "NULL" else f"a.{values[0]}"},
                   {values[1] if values[1] == "NULL" else f"b.{values[1]}"}
            FROM index_a.looked a NOT INDEXED
            CROSS JOIN conditions c ON c.a = a.condition CROSS JOIN wordings w ON w.a = a.variant
            CROSS JOIN index_b.looked b INDEXED BY by_factors
                ON b.condition = c.b AND b.temperature = a.temperature AND b.repeat = a.repeat AND b.failed IN (0, 1)
                AND b.variant = w.b
            JOIN index_a.said sa ON sa.id = a.id JOIN index_b.said sb ON sb.id = b.id ORDER BY a.id"""
    )
    sums = ", ".join(f"COALESCE(SUM({CHANGES[name]}), 0) AS n_{name}" for name in ("changed", "broken", "mended"))
    connection.execute(f"CREATE TABLE counted AS SELECT COUNT(*) AS n, {sums} FROM pairs p")


def _read(row: Sequence[object]) -> AnswerPair:
    wording, answers, variation, perturbation, temperature, repeat, is_changed, *sides = row
    first, second = (
        PairedAnswer(key=str(key), text=str(text or ""), failed=bool(failed), value=value)  # type: ignore[arg-type]
        for key, text, failed, value in (sides[:4], sides[4:])
    )
    return AnswerPair(
        wording=str(wording),
        gold=tuple(json.loads(str(answers))),
        variation=str(variation),
        perturbation=None if perturbation is None else str(perturbation),
        temperature=float(str(temperature)),
        repeat=int(str(repeat)),
        is_changed=bool(is_changed),
        first=first,
        second=second,
    )
