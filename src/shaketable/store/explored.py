"""What looking into a run gives: records in lists, and one question under all conditions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shaketable.types import Failure


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordRow:
    """A record as lists show it."""

    key: str
    question_id: str
    question: str
    wording: str
    variation: str
    dataset: str
    type: str | None
    """The question's tag; None: it has none."""
    model: str
    method: str
    retriever: str | None
    perturbation: str | None
    temperature: float
    repeat: int
    answer: str | None
    """Its beginning; None: the trial failed."""
    failed: bool
    n_searches: int
    n_tokens: int
    seconds: float
    scores: Mapping[str, float | None]
    """By metric."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordPage:
    n: int
    """Records in the selection."""
    rows: tuple[RecordRow, ...]
    """Those asked for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Neighbours:
    """Where a record stands in a list."""

    n: int
    """Records in the list."""
    place: int
    """Its own, from 0."""
    before: str | None
    """The key of the one before; None: it is the first."""
    after: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionRow:
    question_id: str
    question: str
    type: str | None
    value: float | None
    """Mean of the metric over all records of the question; None: none is scored."""
    n: int
    """Its records."""


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionPage:
    n: int
    """Questions in which the words occur."""
    rows: tuple[QuestionRow, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionCell:
    """One wording of a question under one condition at one temperature."""

    key: str
    """The record of the first repeat."""
    repeat: int
    """The first."""
    model: str
    method: str
    retriever: str | None
    perturbation: str | None
    variation: str
    wording: str
    temperature: float
    value: float | None
    """Mean of the metric over the repeats; None: none is scored."""
    n: int
    """Repeats."""
    n_failed: int


@dataclass(frozen=True, kw_only=True, slots=True)
class RepeatRow:
    """A record of one wording and condition among all its temperatures and repeats."""

    key: str
    temperature: float
    repeat: int
    answer: str | None
    failure: Failure | None
    scores: Mapping[str, float | None]
    """By metric."""
