"""A plan → what will run as the study says, but hardly as its author meant."""

from __future__ import annotations

import json

from shaketable import catalog
from shaketable.models.endpoint.hints import ROOM_TO_THINK
from shaketable.models.endpoint.processed import why_unknown
from shaketable.protocols import (
    CountedVariation,
    GoldMetric,
    LaidOutMethod,
    ListingModel,
    ParticularModel,
    ScaledMetric,
    TemperatureModel,
    ThinkingModel,
    TurnMethod,
)
from shaketable.report.words import describe_processed_at_zero
from shaketable.stages.meter import asked_in_batches
from shaketable.stages.parts import variations_of
from shaketable.stages.plan import Condition, Plan
from shaketable.types import Question
from shaketable.variations.gate.reworded import RULES

USE_RAW = "Set distribution='raw', or a top_k in [generation] of no more tokens than the endpoint lists"


def advice_on(planned: Plan) -> list[str]:
    """One sentence for each model and method that do not fit each other, or take long; nothing is changed."""
    advice = [advise(condition) for condition in planned.conditions for advise in (_on_thoughts, _on_batches)]
    advice.append(_on_answers(planned))
    advice += _on_refused_settings(planned)
    advice += _on_sampled_distributions(planned)
    return list(dict.fromkeys(filter(None, advice)))


def _on_refused_settings(planned: Plan) -> list[str]:
    """Settings that an endpoint is known to refuse: of models under test, and of those that reword the questions."""
    told = []
    for condition in planned.conditions:
        n_tokens = json.loads(condition.generation)["max_tokens"]
        if isinstance(condition.model, ParticularModel) and (problem := condition.model.known_refusal(n_tokens)):
            told.append(f"cross.models: {problem}")
    for variation in variations_of(planned.study) if planned.questions else ():
        if not isinstance(variation, CountedVariation) or variation.by == RULES:
            continue
        model = catalog.build("model", variation.by, "cross.variations")
        n_tokens = variation.prompt(planned.questions[0]).sampling.max_tokens
        if isinstance(model, ParticularModel) and (problem := model.known_refusal(n_tokens)):
            told.append(f"cross.variations: {catalog.name_of(variation)}: {problem}")
    return told


def _on_sampled_distributions(planned: Plan) -> list[str]:
    """Methods and metrics that read the probabilities that were sampled: where those say nothing, or are not known."""
    told = []
    metrics = [catalog.build("metric", text) for text in planned.study.metrics]
    scaled = [catalog.name_of(metric) for metric in metrics if isinstance(metric, ScaledMetric) and metric.scaled]
    for condition in planned.conditions:
        temperatures = sorted({*planned.temperatures_of(condition), *planned.hot_temperatures_of(condition)})
        is_processed = any(want.startswith("processed_") for want in condition.method.wants)
        method, model = catalog.label(condition.method), catalog.label(condition.model)
        if is_processed and 0 in temperatures:
            told.append(describe_processed_at_zero(method))
        if not isinstance(condition.model, ListingModel):
            continue
        for temperature in temperatures:
            settings = {**condition.decoding, "temperature": temperature}
            if settings.pop("library_defaults") or not _sends_temperature(condition):
                settings.pop("top_p")
            problem = why_unknown(settings, condition.model.top_logprobs)
            if problem is None:
                continue
            if is_processed:
                told.append(f"{method} fails at temperature {temperature:g} on {model}: {problem}. {USE_RAW}")
            elif scaled and condition.decoding.get("logprobs"):
                instead = " and ".join(f"{name}(scaled=False)" for name in scaled)
                told.append(
                    f"{' and '.join(scaled)} cannot be given for {model} at temperature {temperature:g}: {problem}. "
                    f"The model's own distribution can: {instead}."
                )
            break
    return told


def _sends_temperature(condition: Condition) -> bool:
    return not isinstance(condition.model, TemperatureModel) or condition.model.takes_temperature


def _on_answers(planned: Plan) -> str | None:
    """A column of answers under another name is easily overlooked: everything runs, and nothing can be scored."""
    metrics = {name: catalog.build("metric", name) for name in planned.study.metrics}
    judging = [name for name, own in metrics.items() if isinstance(own, GoldMetric) and own.needs_answers]
    if not judging or not planned.questions or any(map(_can_be_judged, planned.questions)):
        return None
    return (
        f"no question has an accepted answer, so {', '.join(judging)} cannot tell right from wrong. Name the column of "
        "answers 'answer' (or the field 'answers'); without answers, ask for the metric same_answer."
    )


def _can_be_judged(question: Question) -> bool:
    return bool(question.answers or question.tags.get("unanswerable"))


def _on_batches(condition: Condition) -> str | None:
    if not asked_in_batches(condition.model):
        return None
    return (
        f"{catalog.label(condition.model)} is asked in batches, each of which may take its endpoint a day; a method "
        "that asks in rounds takes one a round. The run can be interrupted meanwhile."
    )


def _on_thoughts(condition: Condition) -> str | None:
    model, method = condition.model, condition.method
    by_chat = isinstance(method, LaidOutMethod) and method.layout == "chat"
    if not by_chat or not isinstance(model, ThinkingModel) or not model.thinks:
        return None
    own = method.turn_tokens if isinstance(method, TurnMethod) else None
    n_tokens = own or json.loads(condition.generation)["max_tokens"]
    if n_tokens >= ROOM_TO_THINK:
        return None
    return (
        f"{catalog.label(method)} gives {catalog.label(model)} {n_tokens} tokens at a time, and its chat template has "
        "thoughts, which may take them all. Give the method layout='plain', in which no thought is opened, or more "
        "tokens."
    )
