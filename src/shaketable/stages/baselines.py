"""Clean answers → what they score as answers to other questions: a number that knows nothing of its question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from shaketable.identity import seed_from
from shaketable.protocols import DeclaredMetric, JudgingMetric, Metric, TraceChoosingMetric
from shaketable.text.normalization import YES_NO
from shaketable.types import Question, Record, Score

System = tuple[str | None, ...]
Batches = Callable[[Metric, Iterable[Record]], Iterable[Sequence[Record]]]
"""Which records a metric scores together."""


@dataclass(frozen=True, kw_only=True)
class SwappedAnswers:
    """Records, each with the answer that its system gave to another question; made when they are asked for."""

    answered: Mapping[System, Mapping[str, Record]]
    """By question, for each system."""
    others: Mapping[System, Mapping[str, str]]
    """Question → the one whose answer it gets."""

    def __iter__(self) -> Iterator[Record]:
        for system, others in self.others.items():
            answered = self.answered[system]
            for id, other in others.items():
                yield replace(answered[id], answer=answered[other].answer)


def score_baselines(
    metrics: Sequence[Metric], swapped: SwappedAnswers, questions: Mapping[str, Question], batches: Batches
) -> Iterator[Score]:
    """One number per question and system, in its clean case: the original evidence at the coolest temperature.

    `swapped` are those records, each with the answer to another question. By metrics that compare an answer with what
    is accepted. Judges are not asked: each verdict would be paid for.
    """
    for metric in metrics:
        better = _more_is_better(metric)
        for records in batches(metric, swapped) if better else ():
            for scores in metric.score(records, questions):
                yield from (score for score in scores if score.metric in better)


def swap_answers(records: Iterable[Record], questions: Mapping[str, Question]) -> SwappedAnswers:
    """Each record with the answer that its system gave to another question of the dataset, asked in the same way.

    The other question is of the same type, and yes/no where this one is, as long as there is another: so that a coin is
    right as often as it can be. The question ids alone decide which it is.
    """
    first: dict[tuple[System, str], Record] = {}
    for record in records:
        trial = record.trial
        dataset = questions[trial.question_id].dataset
        system: System = (dataset, trial.model, trial.method, trial.retriever, trial.variant.variation)
        known = first.get((system, trial.question_id))
        if record.answer is not None and (known is None or _place(record) < _place(known)):
            first.pop((system, trial.question_id), None)  # So that they stand in the order they were stored.
            first[system, trial.question_id] = record
    answered: dict[System, dict[str, Record]] = {}
    for (system, id), record in sorted(first.items(), key=lambda item: _place(item[1])):
        answered.setdefault(system, {})[id] = record
    others = {system: pair_up([questions[id] for id in own]) for system, own in answered.items()}
    return SwappedAnswers(answered=answered, others=others)


def _place(record: Record) -> tuple[int, str]:
    """Which of several answers to a question is taken: the first."""
    return record.trial.repeat, record.trial.variant.text


def pair_up(questions: Iterable[Question]) -> dict[str, str]:
    """Question id → id of another question; empty for a single question."""
    ordered = sorted(questions, key=lambda question: (seed_from("another question", question.id), question.id))
    alike: dict[tuple[object, bool], list[str]] = {}
    for question in ordered:
        alike.setdefault(_kind(question), []).append(question.id)
    every = [question.id for question in ordered]
    pairs = _next_of(every)
    for ids in alike.values():
        pairs |= _next_of(ids)
    return pairs


def _next_of(ids: Sequence[str]) -> dict[str, str]:
    return dict(zip(ids, [*ids[1:], ids[0]], strict=True)) if len(ids) > 1 else {}


def _kind(question: Question) -> tuple[object, bool]:
    golds = {gold.strip().casefold() for gold in question.answers}
    return question.tags.get("type"), golds <= YES_NO


def _more_is_better(metric: Metric) -> frozenset[str]:
    """Its numbers that have a baseline: what reads more than an answer is no comparison with what is accepted."""
    if isinstance(metric, JudgingMetric) or not isinstance(metric, TraceChoosingMetric) or metric.reads_trace:
        return frozenset()
    numbers = metric.numbers if isinstance(metric, DeclaredMetric) else ()
    return frozenset(measure.name for measure in numbers if measure.higher_is_better)
