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
OF_TEXTS = ("question", "answer")
SORTS = (*OF_TEXTS, *FACTORS, *COUNTED)
"""What records can be sorted by, beside their scores."""
OUTCOMES = {"answered": "i.failed = 0", "failed": "i.failed = 1", "empty": "i.is_empty = 1"}
JUDGED = {"right": "i.{} >= 1", "wrong": "i.{} < 1"}
"""Outcomes that a score tells; what has none is neither."""
REPEATS = ("differ", "flip")
"""How answers to one wording under one condition at one temperature disagree: in their words, or in being right."""
ANY_FLAG = "any"
TAG_TEXT = "CASE t.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' ELSE CAST(t.value AS TEXT) END"
"""The value of a tag as people write it."""
OF_TAG = f"""i.variant IN (SELECT v.id FROM run.variants v JOIN run.questions q ON q.id = v.question_id
    WHERE {{}} (SELECT 1 FROM json_each(q.tags) t WHERE t.key = ? AND COALESCE({TAG_TEXT} = ?, 1)))"""
"""Records by a tag of their question; with NOT EXISTS and no value, those whose question lacks it."""
OWN_TAGS = ("type", "n_facts")
"""Tags that records have a column of already."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """Which records, in which order."""

    factors: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    """Factor → the value it has."""
    tags: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    """Tag of the question → the value it has, as `TAG_TEXT` spells it."""
    question_id: str | None = None
    outcome: str | None = None
    """`answered`, `failed`, `empty`, or by `judged_by` `right`, `wrong`; None: all."""
    judged_by: str | None = None
    """The metric that tells right answers from wrong ones."""
    repeats: str | None = None
    """`differ`: the repeats differ in their words; `flip`: some of them are right and some wrong; None: all."""
    flag: str | None = None
    """What kept a perturbation from the evidence, or `any` of these; None: whatever it was."""
    words: str = ""
    """Found in the question, the wording or the beginning of the answer, whatever their case."""
    sort: str | None = None
    """A metric, a factor, a count, `question` or `answer`; None: in the order they were stored."""
    is_descending: bool = False
    offset: int = 0
    limit: int = 50


def format_where(selection: Selection, score_columns: Mapping[str, str]) -> tuple[str, list[str | None]]:
    """Values never become part of the statement; names are compared with those that are known."""
    clauses: list[str] = ["1"]
    values: list[str | None] = []
    for name, value in selection.factors.items():
        clauses.append(_factor_clause(name))
        values.append(None if value == NO_VALUE else value)
    for name, value in selection.tags.items():
        clauses.append(OF_TAG.format("NOT EXISTS" if value == NO_VALUE else "EXISTS"))
        values += [name, None if value == NO_VALUE else value]
    if selection.question_id is not None:
        clauses.append("i.variant IN (SELECT id FROM run.variants WHERE question_id = ?)")
        values.append(selection.question_id)
    if selection.outcome is not None:
        clauses.append(_outcome_clause(selection, score_columns))
    if selection.repeats is not None:
        clauses.append(f"i.id IN {repeats_table(selection, score_columns)}")
    if selection.flag is not None:
        clauses.append("i.id IN (SELECT id FROM flagged WHERE ? IN (flag, 'any'))")
        values.append(selection.flag)
    if selection.words:
        clauses.append("i.id IN worded")
    return " AND ".join(clauses), values


def _outcome_clause(selection: Selection, score_columns: Mapping[str, str]) -> str:
    if selection.outcome in JUDGED and selection.judged_by is not None:
        return JUDGED[selection.outcome].format(score_column(selection.judged_by, score_columns))
    if selection.outcome not in OUTCOMES:
        known = ", ".join((*OUTCOMES, *(JUDGED if selection.judged_by is not None else ())))
        raise StudyError(f"Records have no outcome '{selection.outcome}'. Outcomes: {known}.")
    return OUTCOMES[selection.outcome]


def repeats_table(selection: Selection, score_columns: Mapping[str, str]) -> str:
    """The table of the index that has the records whose repeats disagree."""
    known = REPEATS if selection.judged_by is not None else REPEATS[:1]
    if selection.repeats not in known:
        raise StudyError(f"'repeats' is '{selection.repeats}', expected {' or '.join(known)}.")
    is_flip = selection.repeats == "flip" and selection.judged_by is not None
    return f"flips_{score_column(str(selection.judged_by), score_columns)}" if is_flip else "differs"


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
    """What has no value stands last, whichever way the others are sorted."""
    if selection.sort is None:
        return "i.id"
    way = "DESC" if selection.is_descending else "ASC"
    return f"{_sorted_by(selection.sort, score_columns, by_index=by_index)} {way} NULLS LAST, i.id {way}"


def format_before(selection: Selection, score_columns: Mapping[str, str]) -> str:
    """Which records stand before one in this order, `own`: counted in one walk, where numbering them would sort all."""
    earlier, sign = ("i.id > own.id", ">") if selection.is_descending else ("i.id < own.id", "<")
    if selection.sort is None:
        return "i.id < own.id"
    value = _sorted_by(selection.sort, score_columns, by_index=True)
    of_own = _sorted_by(selection.sort, score_columns, by_index=True, of="own")
    return (
        f"CASE WHEN {of_own} IS NULL THEN {value} IS NOT NULL OR {earlier} "
        f"ELSE {value} {sign} {of_own} OR ({value} = {of_own} AND {earlier}) END"
    )


def _sorted_by(sort: str, score_columns: Mapping[str, str], *, by_index: bool, of: str = "i") -> str:
    """The value of a record, which `of` names."""
    if sort == "answer":
        return f"(SELECT s.answer FROM said s WHERE s.id = {of}.id) COLLATE NOCASE"
    if sort == "question":
        return f"(SELECT v.wording FROM run.variants v WHERE v.id = {of}.variant) COLLATE NOCASE"
    if sort in OF_CONDITION:
        return f"(SELECT c.{sort} FROM run.conditions c WHERE c.id = {of}.condition)"
    if sort == "variation":
        return f"(SELECT v.variation FROM run.variants v WHERE v.id = {of}.variant)"
    if sort in OF_QUESTION:
        of_variant = f"run.variants v JOIN run.questions q ON q.id = v.question_id WHERE v.id = {of}.variant"
        return f"(SELECT {OF_QUESTION[sort]} FROM {of_variant})"
    column = sort if sort in OWN else score_column(sort, score_columns)
    # A plus sign keeps SQLite from walking along the index.
    return f"{'' if by_index else '+'}{of}.{column}"


def format_walk(sort: str | None, score_columns: Mapping[str, str]) -> str:
    """How SQLite meets records in order, without sorting them; by a text it keeps the first few of all."""
    if sort is None or (sort in SORTS and sort not in OWN):
        return "NOT INDEXED"
    if sort in FACTORS:
        return ""
    return f"INDEXED BY by_{sort if sort in COUNTED else score_column(sort, score_columns)}"


def score_column(metric: str, score_columns: Mapping[str, str]) -> str:
    if metric not in score_columns:
        known = (*SORTS, *score_columns)
        raise StudyError(f"Nothing is called '{metric}' here.{did_you_mean(metric, known)} Known: {', '.join(known)}.")
    return score_columns[metric]


def format_like(words: str) -> str:
    """Words for LIKE, in which % and _ stand for themselves."""
    escaped = "".join(f"\\{character}" if character in "\\%_" else character for character in words)
    return f"%{escaped}%"
