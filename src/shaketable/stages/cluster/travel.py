"""Which models are asked on a cluster, and what keeps a study from being spread."""

from __future__ import annotations

from shaketable import catalog
from shaketable.errors import StudyError, need_packages
from shaketable.protocols import EndpointModel, Model, PipelineModel, SourcePart, WhiteBoxModel
from shaketable.stages.cluster.connect import refuse_silent
from shaketable.stages.cluster.executor import Ray
from shaketable.stages.plan import Plan
from shaketable.types import Limits


def is_asked_here(model: Model) -> bool:
    """Whether a model is asked from this process, whatever the executor: an endpoint, a pipeline, or what a script
    registered. They gain nothing from a cluster, and their keys and code stay where they are."""
    return isinstance(model, EndpointModel | PipelineModel | SourcePart)


def refuse_unspreadable(plan: Plan, executor: Ray) -> None:
    """Before anything is asked or spent."""
    need_packages("--executor ray", "ray")
    travelling = [(model, own) for model, own in plan.by_model() if not is_asked_here(model)]
    if travelling:
        refuse_silent(executor.address)
    for model, conditions in travelling:
        _refuse_limits(plan.study.limits, model)
        for condition in conditions:
            for part in (condition.method, condition.retriever, condition.perturbation):
                if isinstance(part, SourcePart):
                    raise StudyError(
                        f"{catalog.label(part)} is registered in this process, and the workers of a cluster are other "
                        "processes. Offer it from a package that they have installed, by an entry point "
                        "(CONTRIBUTING.md shows one), or run without --executor ray."
                    )


def _refuse_limits(limits: Limits, model: Model) -> None:
    """Nobody is paid for a local model, so that money does not limit it."""
    named = "max_calls" if limits.max_calls is not None else "max_cost"
    if limits.max_calls is not None or (limits.max_cost is not None and not isinstance(model, WhiteBoxModel)):
        raise StudyError(
            f"limits.{named} is counted before each call, which workers cannot do together. With --executor ray "
            f"{catalog.label(model)} can be limited by max_minutes; or run without it."
        )
