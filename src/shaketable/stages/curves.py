"""Greedy records → curves: the probability of a correct answer at every temperature, from the model's logits."""

from __future__ import annotations

import collections
import functools
import itertools
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from shaketable import catalog
from shaketable.facts.curves.automaton import MATCHES, Automaton, FirstLine
from shaketable.facts.curves.curve import CurveSettings, curve, grid_to
from shaketable.facts.curves.predicate import REJECT, Match, Predicate
from shaketable.facts.curves.top_bounds import bounds_from_top_logprobs, spells
from shaketable.facts.curves.tree import Suffix
from shaketable.facts.curves.vocabulary import Vocabulary
from shaketable.identity import digest, seed_from
from shaketable.metrics.scoring import accepted
from shaketable.protocols import AliasMetric, FirstLineMethod, LogitModel, MatchingMetric, Model
from shaketable.stages.plan import Condition, Plan, hot_temperatures
from shaketable.stages.sources import judge_by
from shaketable.store import RecordStore
from shaketable.types import Completion, Curve, Failure, Generate, Prompt, Record, Sampling, Scan

VERSION = 3
"""Raised when curves mean something else: those of an earlier version are made anew."""

WINDOW = 64
"""Curves growing at once at most: their prefixes are read as one batch."""

NODES_AT_ONCE = 8192
"""Those that may be kept at once: each takes five bytes for every token of the vocabulary."""

LARGEST_VOCABULARY = 300_000
"""Of a model that does not tell: more than any has; the bounds hold for fewer too."""

Progress = Callable[[int, int], None]
"""How many of how many are done."""


@dataclass
class Growing:
    """A curve on its way, with the prefixes it waits for."""

    prompt: Prompt
    course: Generator[list[Suffix], Sequence[Any], Curve]
    wanted: list[Suffix]


def trace_curves(plan: Plan, store: RecordStore, progress: Progress = lambda done, of: None) -> int:
    """Estimate the curves that the study asks for and the store does not hold yet; returns how many were made."""
    scan = plan.study.scan
    if scan is None or scan.curves == "none":
        return 0
    n_made = 0
    for model, conditions in plan.by_model():
        # Arranging a vocabulary takes a moment; all conditions of a model share it.
        vocabulary = functools.cache(lambda model=model: Vocabulary(*model.token_bytes()))
        for condition in conditions:
            n_made += _of_condition(plan, scan, model, condition, vocabulary, store, progress)
    return n_made


def _of_condition(
    plan: Plan,
    scan: Scan,
    model: Model,
    condition: Condition,
    vocabulary: Callable[[], Vocabulary],
    store: RecordStore,
    progress: Progress,
) -> int:
    settings = _settings(plan, condition)
    metric = catalog.build("metric", scan.correct, "scan.correct")
    name = digest([settings, catalog.spelled(metric), VERSION])
    made = {one.key for one in store.curves(name)}
    known = judge_by(scan.known, plan) if scan.known and scan.curves == "known" else lambda record: True
    greedy = list(store.greedy_records(condition.identity))
    made |= _beyond_limit(plan, scan, greedy)
    records = [record for record in greedy if record.trial.key not in made and known(record)]
    questions = {question.id: question for question in plan.questions}
    refused, match = _why_not(scan, model), _match(scan)
    aliases = metric.aliases if isinstance(metric, AliasMetric) else True
    cut = isinstance(condition.method, FirstLineMethod) and condition.method.first_line

    def start(record: Record) -> Growing | Curve:
        prompt = _prompt(record, condition.decoding, cut)
        if isinstance(prompt, str) or match is None:
            return Curve(key=record.trial.key, reason=refused if isinstance(prompt, Prompt) else prompt)
        golds = accepted(questions[record.trial.question_id], aliases=aliases)
        if refused:
            rule = FirstLine(MATCHES[match](golds)) if cut else MATCHES[match](golds)
            return _from_top_logprobs(record, rule, settings) or Curve(key=record.trial.key, reason=refused)
        predicate = Predicate(golds, vocabulary(), match, cut_at_newline=cut)
        if predicate.golds and predicate.verdict(predicate.start, settings.max_tokens) == REJECT:
            reason = f"no accepted answer fits into {settings.max_tokens} new tokens"
            return Curve(key=record.trial.key, reason=reason)
        course = curve(record.trial.key, predicate, settings, seed_from(plan.study.seed, record.trial.key))
        return step_on(Growing(prompt, course, []), None)

    n_made = 0
    # Of a model without logits no curve is begun, so that it is never asked.
    for finished in grow(cast(LogitModel, model), (start(record) for record in records), settings.budget):
        store.add_curves(name, finished)
        n_made += len(finished)
        progress(n_made, len(records))
    return n_made


def _beyond_limit(plan: Plan, scan: Scan, greedy: Sequence[Record]) -> set[str]:
    """The keys of known facts after the first ones that the study takes, where curves alone are its scan."""
    if scan.strategy != "none" or scan.limit is None:
        return set()
    is_known = judge_by(scan.known, plan) if scan.known else lambda record: True
    order = {(variant.question_id, variant.variation, variant.text): i for i, variant in enumerate(plan.asked)}
    dataset = {question.id: question.dataset for question in plan.questions}

    def place(record: Record) -> int:
        variant = record.trial.variant
        return order[variant.question_id, variant.variation, variant.text]

    taken: collections.Counter[tuple[str, str]] = collections.Counter()
    beyond = set()
    for record in sorted(filter(is_known, greedy), key=place):
        group = dataset[record.trial.question_id], record.trial.variant.variation
        taken[group] += 1
        if taken[group] > scan.limit:
            beyond.add(record.trial.key)
    return beyond


def grow(model: LogitModel, started: Iterator[Growing | Curve], budget: int) -> Iterator[list[Curve]]:
    """Drive many curves of at most `budget` nodes each at once; each batch of finished ones is handed out before the
    model is asked again."""
    window = min(WINDOW, NODES_AT_ONCE // max(budget, 1)) or 1
    growing: list[Growing] = []
    while True:
        finished: list[Curve] = []
        for one in itertools.islice(started, window - len(growing)):
            (finished if isinstance(one, Curve) else growing).append(one)  # type: ignore[arg-type]
        if not growing and not finished:
            return
        replies = model.expand([(one.prompt, one.wanted) for one in growing]) if growing else []
        still: list[Growing] = []
        for one, reply in zip(growing, replies, strict=True):
            grown = step_on(one, reply)
            (finished if isinstance(grown, Curve) else still).append(grown)  # type: ignore[arg-type]
        growing = still
        if finished:
            yield finished


def step_on(one: Growing, reply: Sequence[Any] | None) -> Growing | Curve:
    """The curve one reply further: still growing, or done."""
    try:
        one.wanted = next(one.course) if reply is None else one.course.send(reply)
    except StopIteration as end:
        done: Curve = end.value
        return done
    return one


def _from_top_logprobs(record: Record, rule: Automaton, settings: CurveSettings) -> Curve | None:
    """Bounds from the greedy answer's likeliest tokens, for models that give no more; useful up to about 1."""
    [completion] = [event.reply for event in record.trace if isinstance(event.reply, Completion)]
    listed: Any = completion.extras.get("top_logprobs")
    if not listed or len(listed) != len(completion.tokens) or settings.top_k or settings.top_p < 1:
        return None
    if not spells(completion.tokens, completion.text):
        return None
    found = bounds_from_top_logprobs(
        [[(text, float(logprob)) for text, logprob in position] for position in listed],
        completion.tokens,
        rule=rule,
        temperatures=settings.grid,
        n_vocabulary=LARGEST_VOCABULARY,
        max_tokens=settings.max_tokens,
    )
    below = [t for t, low in zip(found.temperatures, found.low, strict=True) if low < settings.threshold]
    broken = [t for t, high in zip(found.temperatures, found.high, strict=True) if high < settings.threshold]
    unknown = (None,) * len(found.temperatures)
    return Curve(
        key=record.trial.key,
        temperatures=found.temperatures,
        low=found.low,
        high=found.high,
        value=unknown,
        value_low=unknown,
        value_high=unknown,
        value_reason="of a model that tells its likeliest tokens alone, bounds are all there is",
        breaking_low=below[0] if below else found.temperatures[-1],
        breaking_high=broken[0] if broken else None,
        settings={"from": "top_logprobs", "threshold": settings.threshold, "n_vocabulary": LARGEST_VOCABULARY},
    )


def _settings(plan: Plan, condition: Condition) -> CurveSettings:
    study, generation = plan.study, condition.decoding
    assert study.scan is not None
    return CurveSettings(
        max_tokens=int(generation["max_tokens"]),
        temperatures=hot_temperatures(study) or CurveSettings.temperatures,
        grid=grid_to(study.scan.curve_end),
        scan_to=study.scan.curve_end,
        budget=study.scan.curve_budget,
        n_samples=study.scan.curve_samples,
        threshold=study.scan.threshold,
        top_k=int(generation["top_k"]),
        top_p=float(generation["top_p"]),
    )


def _why_not(scan: Scan, model: Model) -> str | None:
    """Why no curve of this study can be estimated; None: it can."""
    if not isinstance(model, LogitModel):
        return f"{catalog.label(model)} does not give its logits"
    if _match(scan) is None:
        return f"curves follow scan.correct = \"contains(match='substring')\" or 'token', not {scan.correct}"
    return None


def _match(scan: Scan) -> Match | None:
    """The rule that judges as the study's metric does; None: there is none."""
    part = catalog.build("metric", scan.correct, "scan.correct")
    return part.match if isinstance(part, MatchingMetric) and part.match != "whole" else None


def _prompt(record: Record, generation: Mapping[str, Any], cut: bool) -> Prompt | str:
    """The one prompt that a record's answer continues, or why there is none."""
    if isinstance(record.failure, Failure):
        return f"the trial failed: {record.failure.kind}"
    steps = [event for event in record.trace if isinstance(event.step, Generate)]
    if len(steps) != 1 or not isinstance(steps[0].reply, Completion):
        return f"the method asks the model {len(steps)} times; a curve continues one prompt"
    step, completion, answer = steps[0].step, steps[0].reply, record.answer
    assert isinstance(step, Generate) and answer is not None
    kept = (completion.text.partition("\n")[0] if cut else completion.text).strip()
    if completion.thoughts or answer.working or answer.text.strip() != kept:
        return "the answer is a part of what the model wrote; a curve judges all of it"
    if step.stop or generation["repetition_penalty"] != 1.0 or generation["library_defaults"]:
        return "stop texts, repetition penalties and library defaults are not part of a curve"
    max_tokens = step.max_tokens or int(generation["max_tokens"])
    return Prompt(
        messages=step.messages, sampling=Sampling(temperature=1.0, max_tokens=max_tokens), seed=0, layout=step.layout
    )
