"""Records → numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from shaketable import catalog
from shaketable.errors import ShaketableError
from shaketable.stages.reference import SHORT, write_references
from shaketable.store import Run
from shaketable.types import Score


def score(run: Run, metrics: Sequence[str] | None = None, progress: Callable[[str], None] = lambda name: None) -> int:
    """Score every stored record by every metric of the study; returns how many numbers there are."""
    made_by = None if run.study.reference == SHORT else run.study.reference
    if made_by is not None:
        progress("reference answers")
        write_references(run)
    questions = {question.id: question for question in run.store.questions(made_by)}
    records = list(run.store.records())
    scores: list[Score] = []
    for text in metrics or run.study.metrics:
        metric = catalog.build("metric", text, "score.metrics")
        progress(catalog.label(metric))
        found = metric.score(records, questions)
        if len(found) != len(records):
            raise ShaketableError(
                f"{catalog.label(metric)} returned {len(found)} values for {len(records)} records. "
                "A metric returns one per record, None where it cannot score."
            )
        scores += [one for of_record in found for one in of_record]
    run.write_scores(scores)
    return len(scores)
