"""A plan → what keeps it from running on this machine, told before anything is loaded, asked or spent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shaketable import catalog
from shaketable.errors import StudyError, lacks_packages
from shaketable.protocols import LaidOutMethod, Method, Part
from shaketable.stages.check import lacks_for_wording, model_lacks, part_lacks
from shaketable.stages.cluster.executor import Ray
from shaketable.stages.cluster.travel import is_asked_here, refuse_unspreadable
from shaketable.stages.parts import variations_of
from shaketable.stages.plan import Condition, Plan
from shaketable.stages.reference import PACKAGES as PACKAGES_OF_REFERENCES
from shaketable.study import WITHOUT_MODEL
from shaketable.text.encoder import lacks as lacks_encoder
from shaketable.types import Study


def refuse_unready(plan: Plan, executor: Ray | None = None) -> None:
    """Refuse a study whose models, weights or packages cannot be used here, or whose parts cannot by the executor."""
    if executor is not None:
        refuse_unspreadable(plan, executor)
    if problems := list(unready(plan, executor)):
        raise StudyError("\n".join(problems))


def unready(plan: Plan, executor: Ray | None = None) -> Iterator[str]:
    """Packages that are not installed, keys that are not set, weights that are not there or know no turns, each told
    once. Of what a model needs that is asked elsewhere, its workers tell."""
    yield from dict.fromkeys(_unready(plan, executor))


def _unready(plan: Plan, executor: Ray | None) -> Iterator[str]:
    for model, conditions in plan.by_model():
        if executor is not None and not is_asked_here(model) and not _traces_curves(plan.study):
            continue
        if problem := model_lacks(model, chat_methods(conditions)):
            yield f"cross.models: {problem}"
    reference = plan.study.reference
    if reference not in WITHOUT_MODEL:
        writer = catalog.build("model", reference, "score.reference")
        if problem := model_lacks(writer, ["score.reference"]) or lacks_packages(
            "A reference answer that a model writes", PACKAGES_OF_REFERENCES
        ):
            yield f"score.reference: {problem}"
    yield from _parts_unready(plan)


def chat_methods(conditions: Sequence[Condition]) -> list[str]:
    """The names of methods that ask by chat."""
    methods = {catalog.label(condition.method): condition.method for condition in conditions}
    return [name for name, method in methods.items() if _asks_by_chat(method)]


def _traces_curves(study: Study) -> bool:
    """Curves are estimated by this process, whoever answered."""
    return study.scan is not None and study.scan.curves != "none"


def _asks_by_chat(method: Method) -> bool:
    return not isinstance(method, LaidOutMethod) or method.layout == "chat"


def _parts_unready(plan: Plan) -> Iterator[str]:
    for where, kind, part in _parts(plan.study):
        if problem := part_lacks(kind, part):
            yield f"{where}: {problem}"
    for variation in variations_of(plan.study) if plan.unworded else ():  # What is worded needs nothing any more.
        if problem := lacks_for_wording(variation):
            yield f"cross.variations: {problem}"
    for text in plan.study.analyses:
        encoder = catalog.bind("analysis", text, "analyze.analyses").keywords.get("encoder")
        if encoder is not None and (problem := lacks_encoder(encoder)):
            yield f"analyze.analyses: {problem}"


def _parts(study: Study) -> Iterator[tuple[str, str, Part]]:
    """What a study names beside models, variations and analyses: where, its kind, and the part."""
    listed = {
        "cross.methods": ("method", study.methods),
        "cross.retrievers": ("retriever", study.retrievers),
        "cross.perturbations": ("perturbation", study.perturbations),
        "score.metrics": ("metric", study.metrics),
    }
    for where, (kind, texts) in listed.items():
        for text in texts:
            yield where, kind, catalog.build(kind, text, where)
