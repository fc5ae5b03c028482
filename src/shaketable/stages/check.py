"""A study → what would make it fail, told before anything is loaded, asked or spent."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from shaketable import catalog, weights
from shaketable.errors import StudyError, did_you_mean
from shaketable.factors import judging_metric, numbers_of
from shaketable.protocols import (
    CheckedModel,
    LaidOutMethod,
    Method,
    Model,
    Part,
    RecordRetriever,
    Variation,
    WeightReadingPart,
    WordingModelVariation,
)
from shaketable.study import WITHOUT_MODEL
from shaketable.types import Question, Scan, Study

if TYPE_CHECKING:
    from shaketable.stages.plan import Condition, Plan

SCORED = ("correct", "known", "metric")
"""Settings of analyses that name the number they read."""


def refuse_unready(plan: Plan) -> None:
    """Refuse a study whose models or weights cannot be used here."""
    if problems := list(unready(plan)):
        raise StudyError("\n".join(problems))


def unready(plan: Plan) -> Iterator[str]:
    """Keys that are not set and weights that are not there or know no turns, each told once."""
    for model, conditions in plan.by_model():
        methods = {catalog.label(condition.method): condition.method for condition in conditions}
        by_chat = [name for name, method in methods.items() if _asks_by_chat(method)]
        if problem := _lacks(model, by_chat):
            yield f"cross.models: {problem}"
    reference = plan.study.reference
    if reference not in WITHOUT_MODEL and (
        problem := _lacks(catalog.build("model", reference, "score.reference"), ["score.reference"])
    ):
        yield f"score.reference: {problem}"
    yield from dict.fromkeys(_missing_weights(plan))


def _asks_by_chat(method: Method) -> bool:
    return not isinstance(method, LaidOutMethod) or method.layout == "chat"


def _lacks(model: Model, by_chat: Sequence[str]) -> str | None:
    """What a model says that it lacks; one that says nothing lacks nothing."""
    return model.lacks(by_chat) if isinstance(model, CheckedModel) else None


def refuse_wording_models(study: Study, variations: Iterable[Variation]) -> None:
    """Variations ask their model while planning, so this is told before."""
    for text, part in zip(study.variations, variations, strict=False):
        if not isinstance(part, WordingModelVariation) or part.by == "rules":
            continue
        if problem := _lacks(catalog.build("model", part.by, f"cross.variations: {text}, by"), [text]):
            raise StudyError(f"cross.variations: {problem}")


def refuse_data_without_evidence(questions: Sequence[Question], conditions: Sequence[Condition]) -> None:
    """Retrievers that give a record's own evidence need records that have some."""
    for label, retriever in {one.labels["retriever"]: one.retriever for one in conditions}.items():
        if not isinstance(retriever, RecordRetriever):
            continue
        what = {"supporting": "supporting sentences", "documents": "documents"}[retriever.needs]
        if any(q.supporting if retriever.needs == "supporting" else q.documents for q in questions):
            continue
        raise StudyError(
            f"cross.retrievers: {label} gives the {what} of a question's own record, and none of the "
            f"{len(questions):,} questions has any. Use a dataset with evidence, a retriever that searches a "
            "corpus (bm25, dense), or a method that does not search (closed_book)."
        )


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
    parameters = inspect.signature(ask).parameters
    for setting in SCORED:
        if setting not in parameters:
            continue
        named = parameters[setting].default
        if setting not in ask.keywords and "scan" in parameters:
            named = getattr(study.scan or Scan(), setting, None)
        elif setting not in ask.keywords and setting == "correct":
            named = judging_metric(scored, study.main_metric) or named
        if isinstance(named, str) and named:
            yield setting, catalog.parse(named)[0]


def _missing_weights(plan: Plan) -> Iterator[str]:
    for where, part in _parts(plan.study):
        if isinstance(part, WeightReadingPart) and (problem := part.lacks()):
            yield f"{where}: {problem}"
    for text in plan.study.analyses:
        encoder = catalog.bind("analysis", text, "analyze.analyses").keywords.get("encoder")
        if encoder is not None and (problem := weights.lacks(encoder)):
            yield f"analyze.analyses: {problem}"


def _parts(study: Study) -> Iterator[tuple[str, Part]]:
    """What a study names beside models, methods and analyses."""
    listed = {
        "cross.retrievers": ("retriever", study.retrievers),
        "cross.perturbations": ("perturbation", study.perturbations),
        "cross.variations": ("variation", study.variations),
        "score.metrics": ("metric", study.metrics),
    }
    for where, (kind, texts) in listed.items():
        for text in texts:
            yield where, catalog.build(kind, text, where)
