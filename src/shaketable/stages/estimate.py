"""A plan → what it would cost before anything is spent: at most, by the methods' limits, and likely, as measured."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from shaketable import catalog
from shaketable.protocols import BoundedMethod, CountedVariation, Model
from shaketable.stages.measured import Measured, known_measures, known_rates, system_name
from shaketable.stages.meter import asked_in_batches, prices_of
from shaketable.stages.parts import variations_of
from shaketable.stages.plan import Condition, Plan
from shaketable.stages.rehearsal import light
from shaketable.stages.scheduler import Scheduler
from shaketable.stages.sources import Listed, Planned
from shaketable.types import Completion, Failure, Json, Prompt, Query, Question, Record, RefusedReply
from shaketable.variations.gate.feedback import MAX_FEEDBACK
from shaketable.variations.gate.reworded import RULES

REHEARSED = 64
TEMPLATE_TOKENS, MESSAGE_TOKENS = 40, 8
"""What a chat template adds at most, roughly: its own system message, and the marks around each message."""
CHARACTERS_PER_TOKEN = 4.0
"""English text in common vocabularies; the forecast says so."""


@dataclass(frozen=True, kw_only=True)
class Amount:
    """What all trials of a system take together."""

    calls: int
    prompt_tokens: int
    new_tokens: int
    seconds: float | None
    """None: this model has not run on this machine yet, or is asked in batches, which take as long as they take."""
    dollars: float | None
    """None: the part has no price settings, or the model is local."""


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What one system, a model with a method, would do."""

    model: str
    method: str
    trials: int
    likely: Amount | None
    """As many calls and tokens a trial as were measured last on this machine; None: it has not run here yet."""
    at_most: Amount | None
    """By the method's limits, every answer of full length; None: the method states none."""


@dataclass(frozen=True, kw_only=True)
class WordingForecast:
    """What a model would do that rewords the questions."""

    variation: str
    model: str
    n_questions: int
    at_most: Amount
    """Every attempt made, every reply of full length."""


@dataclass
class _Rehearsal:
    """Stands in for model and store: says nothing, and counts."""

    version: ClassVar[int] = 1
    gives: ClassVar[frozenset[str]] = frozenset()

    records: list[tuple[Record, Condition]] = field(default_factory=list)

    def generate(self, prompts: Sequence[Prompt]) -> list[Completion | Failure]:
        return [
            Completion(
                text="",
                finish_reason="length",
                n_prompt_tokens=_prompt_tokens(prompt),
                n_tokens=prompt.sampling.max_tokens,
                seconds=0.0,
            )
            for prompt in prompts
        ]

    def environment(self) -> Mapping[str, Json]:
        return {}

    def append(self, records: Sequence[tuple[Record, Condition]], environment: Mapping[str, Json]) -> None:
        self.records += records


def estimate(plan: Plan) -> list[Forecast]:
    """One forecast for each model and method, in the order of the plan."""
    systems: dict[tuple[str, str], list[Condition]] = {}
    for condition in plan.conditions:
        systems.setdefault((catalog.label(condition.model), catalog.label(condition.method)), []).append(condition)
    return [_forecast(plan, model, method, conditions) for (model, method), conditions in systems.items()]


def estimate_wordings(plan: Plan) -> list[WordingForecast]:
    """One forecast for each variation that asks a model, in the order of the study."""
    return [
        _wording_forecast(plan, variation)
        for variation in variations_of(plan.study)
        if isinstance(variation, CountedVariation) and variation.by != RULES
    ]


def _wording_forecast(plan: Plan, variation: CountedVariation) -> WordingForecast:
    model = catalog.build("model", variation.by, f"cross.variations: {catalog.label(variation)}, by")
    n_questions = len(plan.questions)
    prompts = [prompt for question in plan.questions for prompt in _prompts_at_most(variation, question)]
    per_question = Measured(
        n_trials=0,
        calls=variation.max_attempts,
        prompt_tokens=sum(map(_prompt_tokens, prompts)) / n_questions,
        new_tokens=sum(prompt.sampling.max_tokens for prompt in prompts) / n_questions,
    )
    return WordingForecast(
        variation=catalog.label(variation),
        model=catalog.label(model),
        n_questions=n_questions,
        at_most=_amount(per_question, n_questions, model, in_batches=False),
    )


def _prompts_at_most(variation: CountedVariation, question: Question) -> Iterator[Prompt]:
    """Of all attempts: each reads those before it, of full length, and why they were refused."""
    first = variation.prompt(question)
    reply = "x" * round(first.sampling.max_tokens * CHARACTERS_PER_TOKEN)
    refused = RefusedReply(text=reply, feedback="x" * MAX_FEEDBACK)
    return (variation.prompt(question, [refused] * n_before) for n_before in range(variation.max_attempts))


def _forecast(plan: Plan, model: str, method: str, conditions: Sequence[Condition]) -> Forecast:
    trials = plan.n_trials_of(conditions)
    measured = known_measures().get(system_name(conditions[0].model, method))
    most, part = _most(plan, conditions), conditions[0].model
    if most is not None and measured is not None:  # Characters are a rough measure of tokens.
        most = replace(
            most,
            prompt_tokens=max(most.prompt_tokens, measured.prompt_tokens),
            new_tokens=max(most.new_tokens, measured.new_tokens),
        )
    in_batches = asked_in_batches(part)
    return Forecast(
        model=model,
        method=method,
        trials=trials,
        likely=None if measured is None else _amount(measured, trials, part, in_batches=in_batches),
        at_most=None if most is None else _amount(most, trials, part, in_batches=in_batches),
    )


def _amount(per_trial: Measured, trials: int, model: Model, *, in_batches: bool) -> Amount:
    prompt_tokens, new_tokens = round(trials * per_trial.prompt_tokens), round(trials * per_trial.new_tokens)
    rate = None if in_batches else known_rates().get(catalog.written(model))
    prices = prices_of(model, in_batches=in_batches)
    return Amount(
        calls=round(trials * per_trial.calls),
        prompt_tokens=prompt_tokens,
        new_tokens=new_tokens,
        seconds=new_tokens / rate if rate else None,
        dollars=None if prices is None else prices.dollars(prompt_tokens, new_tokens),
    )


def _most(plan: Plan, conditions: Sequence[Condition]) -> Measured | None:
    """What a trial takes at most; None: its method states no limits.

    The longest of the rehearsed prompts, and as many of the longest passages, stand for all of them.
    """
    method = conditions[0].method
    if not isinstance(method, BoundedMethod):
        return None
    effort = method.at_most(int(str(plan.study.generation["max_tokens"])))
    rehearsal = _Rehearsal()
    sample = itertools.islice(_spread(plan, conditions), REHEARSED)
    Scheduler(plan, rehearsal, lambda tick: None).run(rehearsal, Listed(sample))
    longest = max(
        (
            event.reply.n_prompt_tokens
            for record, _ in rehearsal.records
            for event in record.trace
            if isinstance(event.reply, Completion)
        ),
        default=0,
    )
    per_call = longest
    if effort.n_calls > 1:  # Later prompts hold what was written and found before.
        per_call += effort.n_tokens + effort.n_passages * _longest_passage(plan, conditions, effort.n_passages)
    return Measured(
        n_trials=0, calls=effort.n_calls, prompt_tokens=effort.n_calls * per_call, new_tokens=effort.n_tokens
    )


def _longest_passage(plan: Plan, conditions: Sequence[Condition], k: int) -> int:
    """In tokens, of what the first questions bring when they are the query."""
    questions = {question.id: question for question in plan.questions}
    queries = [Query(text=variant.text, question=questions[variant.question_id]) for variant in plan.asked[:REHEARSED]]
    retrievers = {condition.labels["retriever"]: light(condition).retriever for condition in conditions}
    passages = [
        hit.passage
        for retriever in retrievers.values()
        if retriever is not None
        for hits in retriever.search(queries, k)
        for hit in hits
    ]
    return max((_n_tokens(len(passage.title) + len(passage.text)) for passage in passages), default=0)


def _prompt_tokens(prompt: Prompt) -> int:
    template = TEMPLATE_TOKENS + MESSAGE_TOKENS * len(prompt.messages) if prompt.layout == "chat" else 0
    return _n_tokens(sum(len(message.content) for message in prompt.messages)) + template


def _n_tokens(n_characters: int) -> int:
    return int(n_characters / CHARACTERS_PER_TOKEN) + 1


def _spread(plan: Plan, conditions: Sequence[Condition]) -> Iterator[Planned]:
    """The first trial of every wording and condition."""
    for variant in plan.asked:
        for condition in conditions:
            trial, suited = next(plan.trials_of(variant, condition))
            yield trial, light(suited)
