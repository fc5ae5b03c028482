"""A study → what would make it fail, told before anything is loaded, asked or spent."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from shaketable import catalog
from shaketable.errors import StudyError, did_you_mean
from shaketable.factors import judging_metric, numbers_of
from shaketable.protocols import (
    CheckedModel,
    CountedVariation,
    Model,
    Part,
    RecordRetriever,
    Retriever,
    Variation,
    WeightReadingPart,
)
from shaketable.types import Question, Scan, Study
from shaketable.variations.gate.reworded import RULES

SCORED = ("correct", "known", "metric")
"""Settings of analyses that name the number they read."""


def part_lacks(kind: str, part: Part) -> str | None:
    """What a part lacks here: packages, or what it says itself; None: nothing."""
    return catalog.lacks_packages(kind, part) or (part.lacks() if isinstance(part, WeightReadingPart) else None)


def model_lacks(model: Model, by_chat: Sequence[str]) -> str | None:
    """What a model lacks: packages, or what it says itself; one that says nothing lacks nothing."""
    said = model.lacks if isinstance(model, CheckedModel) else lambda by_chat: None
    return catalog.lacks_packages("model", model) or said(by_chat)


def lacks_for_wording(variation: Variation) -> str | None:
    """What a variation lacks here: packages, its weights, or what its model needs; None: nothing."""
    if problem := part_lacks("variation", variation):
        return problem
    if not isinstance(variation, CountedVariation) or variation.by == RULES:
        return None
    label = catalog.label(variation)
    return model_lacks(catalog.build("model", variation.by, f"cross.variations: {label}, by"), [label])


def refuse_data_without_evidence(questions: Sequence[Question], retrievers: Iterable[Retriever]) -> None:
    """Retrievers that give a record's own evidence need records that have some."""
    for retriever in retrievers:
        if not isinstance(retriever, RecordRetriever):
            continue
        what = {"supporting": "supporting sentences", "documents": "documents"}[retriever.needs]
        if any(q.supporting if retriever.needs == "supporting" else q.documents for q in questions):
            continue
        raise StudyError(
            f"cross.retrievers: {catalog.label(retriever)} gives the {what} of a question's own record, and none of "
            f"the {len(questions):,} questions has any. Use a dataset with evidence, a retriever that searches a "
            "corpus (bm25, dense), or a method that does not search (closed_book)."
        )


def refuse_shared_numbers(metrics: Sequence[str]) -> None:
    """Two metrics that give one number would be averaged as one."""
    given_by: dict[str, str] = {}
    for i, text in enumerate(metrics):
        for number in numbers_of([text]):
            if number in given_by:
                raise StudyError(
                    f"score.metrics[{i}]: {text} gives the number '{number}', and so does {given_by[number]}. They "
                    "cannot be told apart. Keep one; the other can be had later: shaketable score RUN --metric …"
                )
            given_by[number] = text


def refuse_unscored(study: Study) -> None:
    """Analyses need the numbers they read among those that are scored."""
    scored = numbers_of(study.metrics)
    for i, text in enumerate(study.analyses):
        for setting, number in _read_by(catalog.bind("analysis", text, f"analyze.analyses[{i}]"), study, scored):
            if number not in scored:
                raise StudyError(
                    f"analyze.analyses[{i}]: {text} reads {number} ({setting}), which is not scored."
                    f"{did_you_mean(number, scored)} Add it to score.metrics, or name another with {setting}='…'. "
                    f"Scored: {', '.join(scored) or 'nothing'}."
                )


def _read_by(ask: functools.partial[Any], study: Study, scored: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The numbers that an analysis reads, by the setting that names them; where it names none, as `analyze` gives."""
    values = catalog.values_of(ask)
    for setting in SCORED:
        if setting not in values:
            continue
        named = values[setting]
        if named is None and "known" in values:
            named = getattr(study.scan or Scan(), setting, None)
        elif setting not in ask.keywords and setting == "correct":
            named = judging_metric(scored, study.main_metric) or named
        if isinstance(named, str) and named:
            yield setting, catalog.parse(named)[0]
