"""The whole line in one call: study → answered, scored, analyzed and reported run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from shaketable.stages.analyze import analyze
from shaketable.stages.answer import answer
from shaketable.stages.check import refuse_unready
from shaketable.stages.plan import Plan, plan
from shaketable.stages.score import score
from shaketable.store import Run
from shaketable.types import Study


def _answer(made: Run, planned: Plan) -> None:
    with made.writing() as store:
        store.note_time(answer(planned, store).seconds)


def trace(made: Run, planned: Plan, tell: Callable[[str], None] = lambda words: None) -> int:
    """Estimate the curves that the study asks for."""
    if planned.study.scan is None or planned.study.scan.curves == "none":
        return 0
    from shaketable.stages.curves import trace_curves

    tell("estimating curves")
    with made.writing() as store:
        return trace_curves(planned, store, lambda done, of: tell(f"curves: {done} of {of}"))


def run(
    study: Study,
    out: str | Path,
    tell: Callable[[str], None] = lambda words: None,
    answering: Callable[[Run, Plan], object] = _answer,
) -> Run:
    """Run a study into a folder, or go on with it where it stopped.

    `tell` hears what is being done; `answering` is the answer stage with whatever shows its progress.
    """
    planned = plan(study)
    if not (Path(out) / "records.sqlite").exists():
        refuse_unready(planned)
    made = Run.prepare(out, study)
    answering(made, planned)
    trace(made, planned, tell)
    score(made, progress=lambda name: tell(f"scoring {name}"))
    analyze(made, progress=lambda name: tell(f"analyzing {name}"))
    # The drawing library takes a second to import; only the report needs it.
    from shaketable.stages.report import report

    report(made)
    return made
