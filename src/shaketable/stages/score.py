"""Records → numbers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from shaketable import catalog
from shaketable.errors import ShaketableError
from shaketable.stages.reference import made_by, write_references
from shaketable.store import Run
from shaketable.types import Question, Score

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
    while records := list(itertools.islice(stored, RECORDS_AT_ONCE)):
        found = metric.score(records, questions)
        if len(found) != len(records):
            raise ShaketableError(
                f"{catalog.label(metric)} returned {len(found)} values for {len(records)} records. "
                "A metric returns one per record, None where it cannot score."
            )
        for of_record in found:
            yield from of_record
