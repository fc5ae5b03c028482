"""The whole line in one call: study → answered, scored, analyzed and reported run."""

from __future__ import annotations

from pathlib import Path

from shaketable.stages.analyze import analyze
from shaketable.stages.answer import Progress, answer
from shaketable.stages.plan import plan
from shaketable.stages.report import report
from shaketable.stages.score import score
from shaketable.store import Run
from shaketable.types import Study


def run(study: Study, out: str | Path, progress: Progress = lambda tick: None) -> Run:
    """Run a study into a folder, or go on with it where it stopped."""
    planned = plan(study)
    made = Run.prepare(out, study)
    with made.writing() as store:
        store.note_time(answer(planned, store, progress).seconds)
    score(made)
    analyze(made)
    report(made)
    return made
