"""Records → numbers."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from shaketable import catalog
from shaketable.errors import PackageError, ShaketableError
from shaketable.protocols import BatchingMetric, JudgingMetric, Metric, PreparingMetric, TraceChoosingMetric
from shaketable.stages.baselines import score_baselines, swap_answers
from shaketable.stages.check import refuse_shared_numbers
from shaketable.stages.reference import made_by, write_references
from shaketable.store import Run
from shaketable.store.score_file import load_source
from shaketable.types import Question, Record, Score

RECORDS_AT_ONCE = 4096
"""So that a run of any size fits the memory. A metric scores a record alone as in company."""


def score(run: Run, metrics: Sequence[str] | None = None, progress: Callable[[str], None] = lambda name: None) -> int:
    """Score every stored record by every metric of the study; returns how many numbers there are.

    >>> import shaketable
    >>> study = shaketable.make_study("rehearsal", models="scripted(replies=('Paris',))", limit=2)
    >>> shaketable.score(shaketable.run(study, "runs/scored"), ["contains", "token_f1"])
    4
    """
    maker = made_by(run.study)
    if maker is not None:
        progress("reference answers")
        write_references(run)
    source = run.scores_source(metrics)
    questions = {question.id: question for question in run.store.questions(maker)}
    parts = _build(metrics or run.study.metrics)
    refuse_shared_numbers(metrics or run.study.metrics)
    swapped = swap_answers(run.store.clean_records(), questions)

    def each() -> Iterator[Score]:
        for metric in parts:
            progress(catalog.label(metric))
            yield from scores_of(run, metric, questions, swapped)

    n_scores = run.write_scores(each(), source=source, metrics=metrics)
    run.write_baselines(score_baselines(parts, swapped, questions, _batches), source=source)
    return n_scores


def make_current(run: Run, progress: Callable[[str], None] = lambda name: None) -> None:
    """Score again what was answered, or is scored otherwise, since the scores were made."""
    if not run.has_current_scores():
        score(run, run.asked_metrics(), progress)
    elif not run.has_baselines():
        questions = {question.id: question for question in run.store.questions(made_by(run.study))}
        swapped = swap_answers(run.store.clean_records(), questions)
        scored = load_source(run.folder)  # Others may take their place meanwhile.
        parts = _build(scored.asked or run.study.metrics)
        run.write_baselines(score_baselines(parts, swapped, questions, _batches), source=scored.made_from)


def _build(metrics: Sequence[str]) -> list[Metric]:
    """Refused where a package is missing, before anything is scored."""
    built = [catalog.build("metric", text, "score.metrics") for text in metrics]
    if problem := next(filter(None, (catalog.lacks_packages("metric", metric) for metric in built)), None):
        raise PackageError(problem)
    return built


def _stored(run: Run, metric: Metric) -> Iterator[Record]:
    return run.store.records(with_trace=not isinstance(metric, TraceChoosingMetric) or metric.reads_trace)


def scores_of(
    run: Run, metric: Metric, questions: Mapping[str, Question], swapped: Iterable[Record] = ()
) -> Iterator[Score]:
    """In the order of the records, which are never all in memory. `swapped` are records that will be scored after
    them."""
    if isinstance(metric, PreparingMetric):
        metric.prepare(itertools.chain(_stored(run, metric), swapped), questions)
    if isinstance(metric, JudgingMetric):
        metric.verdicts.update(run.store.verdicts(catalog.spelled(metric)))
    for records in _batches(metric, _stored(run, metric)):
        scores = _keep_verdicts(run, metric, records, questions)
        if len(scores) != len(records):
            raise ShaketableError(
                f"{catalog.label(metric)} returned {len(scores)} values for {len(records)} records. "
                "A metric returns one per record, None where it cannot score."
            )
        for score in itertools.chain.from_iterable(scores):
            if score.value is not None and not math.isfinite(score.value):
                raise ShaketableError(
                    f"{catalog.label(metric)} gave {score.value} as {score.metric} of record {score.key}. "
                    "A metric gives a finite number, or None with the reason. Nothing was written."
                )
            yield score


def _batches(metric: Metric, records: Iterable[Record]) -> Iterator[list[Record]]:
    at_once = metric.records_at_once if isinstance(metric, BatchingMetric) else RECORDS_AT_ONCE
    rest = iter(records)
    while some := list(itertools.islice(rest, at_once)):
        yield some


def _keep_verdicts(
    run: Run, metric: Metric, records: Sequence[Record], questions: Mapping[str, Question]
) -> list[list[Score]]:
    """The scores of some records; what a judge says of them is stored as it comes, so that it is paid for once."""
    if isinstance(metric, JudgingMetric):
        with contextlib.closing(metric.judge(records, questions)) as coming:
            for verdicts in coming:
                if verdicts:
                    with run.writing() as store:
                        store.add_verdicts(catalog.spelled(metric), verdicts)
    return metric.score(records, questions)
