"""The records of a run by condition: what was asked of one system, in one wording, at one temperature."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

from shaketable.factors import FACTORS, Factor
from shaketable.store.records import RecordStore
from shaketable.types import Record


@dataclass(frozen=True, kw_only=True, slots=True)
class FactorValues:
    """One condition on the questions of one dataset: a value of each factor. None: the method does not search."""

    dataset: str
    model: str
    method: str
    retriever: str | None
    perturbation: str | None
    variation: str
    temperature: float

    @property
    def condition(self) -> dict[Factor, str | float | None]:
        return {name: getattr(self, name) for name in FACTORS}


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedCell(FactorValues):
    """One condition, with how much was asked under it."""

    n_repeats: int
    """Of the question with the most."""
    n_questions: int
    n_records: int


JOINED = """records r JOIN variants v ON v.id = r.variant JOIN questions q ON q.id = v.question_id
            JOIN conditions c ON c.id = r.condition"""
COLUMNS = "q.dataset, c.model, c.method, c.retriever, c.perturbation, v.variation, r.temperature"
IS_OF = """(SELECT dataset FROM questions WHERE id = v.question_id) = ? AND c.model = ? AND c.method = ?
           AND c.retriever IS ? AND c.perturbation IS ? AND v.variation = ? AND r.temperature = ?"""
IN_ORDER = "(SELECT place FROM questions WHERE id = v.question_id), v.id, r.repeat, r.id"


def asked_cells(store: RecordStore) -> list[AskedCell]:
    """In the order in which they were first asked."""
    rows = store.rows(
        f"""SELECT {COLUMNS}, MAX(r.repeat) + 1, COUNT(DISTINCT v.question_id), COUNT(*) FROM {JOINED}
            GROUP BY {COLUMNS} ORDER BY MIN(q.place), MIN(r.condition), MIN(v.id), r.temperature"""
    )
    names = [own.name for own in fields(AskedCell)]
    return [AskedCell(**dict(zip(names, row, strict=True))) for row in rows]


def records_in(store: RecordStore, cell: FactorValues) -> Iterator[Record]:
    """By question, wording and repeat."""
    return store.select_records(IS_OF, tuple(cell.condition.values()), order=IN_ORDER)


def keys_in(store: RecordStore, cell: FactorValues) -> list[str]:
    """Those of the same, in the same order."""
    sql = f"SELECT r.key FROM {JOINED} WHERE {IS_OF} ORDER BY {IN_ORDER}"
    return [key for (key,) in store.rows(sql, *cell.condition.values())]
