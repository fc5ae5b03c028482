"""Which records a reader asks for, in which order, and the SQL that says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from shaketable.errors import StudyError, did_you_mean
from shaketable.types import NOTHING

NO_VALUE = "(none)"
"""How a filter asks for records that lack a factor, such as the retriever of a method that does not search."""
OF_CONDITION = ("model", "method", "retriever", "perturbation")
OF_QUESTION = {"dataset": "q.dataset", "type": "json_extract(q.tags, '$.type')"}
COUNTED = ("n_searches", "n_tokens", "seconds")
OWN = ("temperature", "repeat", *COUNTED)
FACTORS = (*OF_CONDITION, "variation", *OF_QUESTION, "temperature", "repeat")
"""What records can be filtered by, beside their question and outcome."""
OUTCOMES = {"answered": "failed = 0", "failed": "failed = 1"}


@dataclass(frozen=True, kw_only=True, slots=True)
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


def format_where(selection: Selection) -> tuple[str, list[str | None]]:
    """Values never become part of the statement; names are compared with those that are known."""
    clauses: list[str] = ["1"]
    values: list[str | None] = []
    for name, value in selection.factors.items():
        clauses.append(_factor_clause(name))
        values.append(None if value == NO_VALUE else value)
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


def _factor_clause(name: str) -> str:
    if name not in FACTORS:
        raise StudyError(
            f"Records have no factor '{name}'.{did_you_mean(name, FACTORS)} Factors: {', '.join(FACTORS)}."
        )
    if name in OF_CONDITION:
        return f"i.condition IN (SELECT id FROM run.conditions WHERE {name} IS ?)"
    if name == "variation":
        return "i.variant IN (SELECT id FROM run.variants WHERE variation IS ?)"
    if name in OF_QUESTION:
        return (
            "i.variant IN (SELECT v.id FROM run.variants v JOIN run.questions q ON q.id = v.question_id "
            f"WHERE CAST({OF_QUESTION[name]} AS TEXT) IS ?)"
        )
    return f"i.{name} = CAST(? AS REAL)"


def format_order(selection: Selection, score_columns: Mapping[str, str], *, by_index: bool) -> str:
    """What has no score stands last, whichever way the others are sorted."""
    if selection.sort is None:
        return "i.id"
    column = selection.sort if selection.sort in OWN else score_column(selection.sort, score_columns)
    way = "DESC" if selection.is_descending else "ASC"
    # A plus sign keeps SQLite from walking along the index.
    return f"{'' if by_index else '+'}i.{column} {way} NULLS LAST, i.id {way}"


def format_walk(sort: str | None, score_columns: Mapping[str, str]) -> str:
    """How SQLite meets records in order, without sorting them."""
    if sort is None:
        return "NOT INDEXED"
    if sort in FACTORS:
        return ""
    return f"INDEXED BY by_{sort if sort in COUNTED else score_column(sort, score_columns)}"


def score_column(metric: str, score_columns: Mapping[str, str]) -> str:
    if metric not in score_columns:
        known = ", ".join((*OWN, *score_columns))
        raise StudyError(f"Nothing is called '{metric}' here.{did_you_mean(metric, score_columns)} Known: {known}.")
    return score_columns[metric]


def format_like(words: str) -> str:
    """Words for LIKE, in which % and _ stand for themselves."""
    escaped = "".join(f"\\{character}" if character in "\\%_" else character for character in words)
    return f"%{escaped}%"
