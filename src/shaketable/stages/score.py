"""Records → numbers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from shaketable import catalog
from shaketable.errors import ShaketableError
from shaketable.stages.reference import made_by, write_references
from shaketable.store import Run
from shaketable.types import Question, Score, Verdict

RECORDS_AT_ONCE = 4096
"""So that a run of any size fits the memory. A metric scores a record alone as in company."""


def score(run: Run, metrics: Sequence[str] | None = None, progress: Callable[[str], None] = lambda name: None) -> int:
    """Score every stored record by every metric of the study; returns how many numbers there are."""
    maker = made_by(run.study)
    if maker is not None:
        progress("reference answers")
        write_references(run)
    source = run.scores_source(metrics)
    questions = {question.id: question for question in run.store.questions(maker)}
    scores: list[Score] = []
    for text in metrics or run.study.metrics:
        metric = catalog.build("metric", text, "score.metrics")
        progress(catalog.label(metric))
        scores += _scores(run, metric, questions)
    run.write_scores(scores, source=source, metrics=metrics)
    return len(scores)


def make_current(run: Run, progress: Callable[[str], None] = lambda name: None) -> None:
    """Score again what was answered, or is scored otherwise, since the scores were made."""
    if not run.has_current_scores():
        score(run, run.asked_metrics(), progress)


def _scores(run: Run, metric: Any, questions: Mapping[str, Question]) -> Iterator[Score]:
    """In the order of the records, which are never all in memory."""
    stored = run.store.records(with_trace=getattr(metric, "reads_trace", True))
    at_once = getattr(metric, "records_at_once", RECORDS_AT_ONCE)
    judge = catalog.spelled(metric) if hasattr(metric, "verdicts") else None
    if judge is not None:
        metric.verdicts.update(run.store.verdicts(judge))
    while records := list(itertools.islice(stored, at_once)):
        asked_before = set(metric.verdicts) if judge is not None else set()
        found = metric.score(records, questions)
        if judge is not None:
            _keep(run, judge, {name: one for name, one in metric.verdicts.items() if name not in asked_before})
        if len(found) != len(records):
            raise ShaketableError(
                f"{catalog.label(metric)} returned {len(found)} values for {len(records)} records. "
                "A metric returns one per record, None where it cannot score."
            )
        for of_record in found:
            yield from of_record


def _keep(run: Run, judge: str, verdicts: Mapping[str, Verdict]) -> None:
    """With the run, so that scoring again does not pay again."""
    if verdicts:
        with run.writing() as store:
            store.add_verdicts(judge, verdicts)
