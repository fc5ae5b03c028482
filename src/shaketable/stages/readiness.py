"""A plan → what keeps it from running on this machine, told before anything is loaded, asked or spent."""

from __future__ import annotations

from collections.abc import Iterator

from shaketable import catalog, weights
from shaketable.errors import StudyError
from shaketable.protocols import LaidOutMethod, Method, Part, WeightReadingPart
from shaketable.stages.check import lacks_for_wording, model_lacks
from shaketable.stages.parts import variations_of
from shaketable.stages.plan import Plan
from shaketable.study import WITHOUT_MODEL
from shaketable.types import Study


def refuse_unready(plan: Plan) -> None:
    """Refuse a study whose models or weights cannot be used here."""
    if problems := list(unready(plan)):
        raise StudyError("\n".join(problems))


def unready(plan: Plan) -> Iterator[str]:
    """Keys that are not set and weights that are not there or know no turns, each told once."""
    for model, conditions in plan.by_model():
        methods = {catalog.label(condition.method): condition.method for condition in conditions}
        by_chat = [name for name, method in methods.items() if _asks_by_chat(method)]
        if problem := model_lacks(model, by_chat):
            yield f"cross.models: {problem}"
    reference = plan.study.reference
    if reference not in WITHOUT_MODEL and (
        problem := model_lacks(catalog.build("model", reference, "score.reference"), ["score.reference"])
    ):
        yield f"score.reference: {problem}"
    yield from dict.fromkeys(_missing_weights(plan))


def _asks_by_chat(method: Method) -> bool:
    return not isinstance(method, LaidOutMethod) or method.layout == "chat"


def _missing_weights(plan: Plan) -> Iterator[str]:
    for where, part in _parts(plan.study):
        if isinstance(part, WeightReadingPart) and (problem := part.lacks()):
            yield f"{where}: {problem}"
    for variation in variations_of(plan.study) if plan.unworded else ():  # What is worded needs nothing any more.
        if problem := lacks_for_wording(variation):
            yield f"cross.variations: {problem}"
    for text in plan.study.analyses:
        encoder = catalog.bind("analysis", text, "analyze.analyses").keywords.get("encoder")
        if encoder is not None and (problem := weights.lacks(encoder)):
            yield f"analyze.analyses: {problem}"


def _parts(study: Study) -> Iterator[tuple[str, Part]]:
    """What a study names beside models, methods, variations and analyses."""
    listed = {
        "cross.retrievers": ("retriever", study.retrievers),
        "cross.perturbations": ("perturbation", study.perturbations),
        "score.metrics": ("metric", study.metrics),
    }
    for where, (kind, texts) in listed.items():
        for text in texts:
            yield where, catalog.build(kind, text, where)
