"""A study → what would make it fail, told before anything is loaded, asked or spent."""

from __future__ import annotations

import functools
import importlib.util
import inspect
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from shaketable import catalog, weights
from shaketable.errors import StudyError, WeightsError, did_you_mean
from shaketable.factors import judging_metric, numbers_of
from shaketable.study import WITHOUT_MODEL
from shaketable.types import Question, Scan, Study

if TYPE_CHECKING:
    from shaketable.stages.plan import Condition, Plan

SCORED = ("correct", "known", "metric")
"""Settings of analyses that name the number they read."""
WEIGHTS = ("encoder", "pipeline")
"""Settings of parts that name weights."""


def refuse_unready(plan: Plan) -> None:
    """Refuse a study whose models or weights cannot be used here."""
    if problems := list(unready(plan)):
        raise StudyError("\n".join(problems))


def unready(plan: Plan) -> Iterator[str]:
    """Keys that are not set and weights that are not there or know no turns, each told once."""
    for model, conditions in plan.by_model():
        methods = {catalog.label(one.method): getattr(one.method, "layout", "chat") for one in conditions}
        by_chat = [method for method, layout in methods.items() if layout == "chat"]
        if problem := _lacks(model, by_chat):
            yield f"cross.models: {problem}"
    reference = plan.study.reference
    if reference not in WITHOUT_MODEL and (
        problem := _lacks(catalog.build("model", reference, "score.reference"), ["score.reference"])
    ):
        yield f"score.reference: {problem}"
    yield from dict.fromkeys(_missing_weights(plan))


def _lacks(model: Any, by_chat: Sequence[str]) -> str | None:
    """What a model says that it lacks; one that says nothing lacks nothing."""
    problem: str | None = model.lacks(by_chat) if hasattr(model, "lacks") else None
    return problem


def refuse_wording_models(study: Study, variations: Iterable[Any]) -> None:
    """Variations ask their model while planning, so this is told before."""
    for text, part in zip(study.variations, variations, strict=False):
        by = getattr(part, "by", "rules")
        if by != "rules" and (problem := _lacks(catalog.build("model", by, f"cross.variations: {text}, by"), [text])):
            raise StudyError(f"cross.variations: {problem}")


def refuse_data_without_evidence(questions: Sequence[Question], conditions: Sequence[Condition]) -> None:
    """Retrievers that give a record's own evidence need records that have some."""
    for label, retriever in {one.labels["retriever"]: one.retriever for one in conditions}.items():
        needed = getattr(type(retriever), "needs", None)
        if needed is None or any(getattr(question, needed) for question in questions):
            continue
        what = {"supporting": "supporting sentences"}.get(needed, needed)
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
    for where, part in _parts(plan):
        settings = part.keywords if isinstance(part, functools.partial) else catalog.settings_of(part)
        for setting in WEIGHTS:
            name = settings.get(setting)
            # A similarity of 0 is not measured, so its encoder is not read.
            if not isinstance(name, str) or getattr(part, "min_similarity", 1) == 0:
                continue
            if setting == "pipeline" and importlib.util.find_spec(name.partition(".")[0] if "/" not in name else "_"):
                continue  # an installed spaCy package
            try:
                weights.glance(name)
            except WeightsError as error:
                yield f"{where}: {error}"


def _parts(plan: Plan) -> Iterator[tuple[str, Any]]:
    """What a study names beside models and methods."""
    study = plan.study
    listed = {
        "cross.retrievers": ("retriever", study.retrievers),
        "cross.perturbations": ("perturbation", study.perturbations),
        "cross.variations": ("variation", study.variations),
        "score.metrics": ("metric", study.metrics),
    }
    for where, (kind, texts) in listed.items():
        for text in texts:
            yield where, catalog.build(kind, text, where)
    for text in study.analyses:
        yield "analyze.analyses", catalog.bind("analysis", text, "analyze.analyses")
