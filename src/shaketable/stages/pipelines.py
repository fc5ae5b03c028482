"""What a pipeline is crossed with: as much of the study as it can vary, and a remark on the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from shaketable import catalog
from shaketable.factors import UNCHANGED
from shaketable.protocols import Method, Model, Perturbation, PipelineModel, Retriever, TemperatureModel
from shaketable.types import Crossed, Hit, NotVaried, Query, Study

Case = tuple[Method, Retriever | None, Perturbation | None]


@dataclass(frozen=True, kw_only=True)
class Own:
    """Stands where a retriever does for a pipeline that finds its passages itself, and is never asked for any."""

    version: ClassVar[int] = 1

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        return [[] for _ in queries]


OWN = Own()
AS_ASKED: Method = catalog.build("method", "as_asked")
USUAL_METHODS = ("single_retrieval",)
"""What a study has that names no method: nobody misses it."""


def pipeline_cases(
    model: PipelineModel,
    evidence: Sequence[tuple[Retriever, Perturbation]],
    perturbations: Sequence[Perturbation],
) -> list[Case]:
    """A pipeline that finds its own passages and hands them over is crossed with perturbations alone; one that takes a
    context with retrievers too; any other with neither."""
    takes = model.takes
    if "disturb" in takes:
        own = catalog.build("method", "as_asked(evidence='own')")
        return [(own, OWN, perturbation) for perturbation in perturbations]
    if "context" in takes:
        given = catalog.build("method", "as_asked(evidence='given')")
        return [(given, *both) for both in evidence]
    return [(AS_ASKED, None, None)]


def not_varied(study: Study, models: Sequence[Model]) -> tuple[NotVaried, ...]:
    """What the study crosses and a model of it cannot vary, for each that there is something to say of."""
    named = {catalog.label(model): model for model in models}
    remarks = [NotVaried(model=label, factors=tuple(_fixed(study, model))) for label, model in named.items()]
    return tuple(remark for remark in remarks if remark.factors)


def _fixed(study: Study, model: Model) -> Iterator[Crossed]:
    if isinstance(model, PipelineModel):
        if study.methods != USUAL_METHODS:
            yield "methods"
        if "disturb" in model.takes:
            if len(study.retrievers) > 1:
                yield "retrievers"
        elif "context" not in model.takes and (len(study.retrievers) > 1 or set(study.perturbations) - {UNCHANGED}):
            yield "evidence"
    if isinstance(model, TemperatureModel) and not model.takes_temperature and len(study.temperatures) > 1:
        yield "temperatures"
