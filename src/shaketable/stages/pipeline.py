"""A run's answers → its scores, findings and report, each made only where what it is made from has changed.

Each stage keeps a digest of what it read beside what it wrote: scores that of the records, references and metrics;
findings that of the scores, the study and the version of the package; the report that of all of these and of what else
stands on the page. A run that is complete and given again therefore reads a few digests and writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from shaketable.stages.analyze import analyze
from shaketable.stages.score import score
from shaketable.store import Run

Begin = Callable[[str], None]
"""Hears the name of each step as it begins."""
REPORT = "writing the report"


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    name: str
    is_current: Callable[[Run], bool]
    make: Callable[[Run, Begin], object]


def make(run: Run, begin: Begin = lambda step: None) -> tuple[str, ...]:
    """Bring a run up to date by its own study; returns the names of the stages that were run."""
    made = []
    for stage in STAGES:
        if not stage.is_current(run):
            stage.make(run, begin)
            made.append(stage.name)
    return tuple(made)


def _has_scores(run: Run) -> bool:
    return run.asked_metrics() is None and run.has_current_scores() and run.has_baselines()


def _has_findings(run: Run) -> bool:
    return run.asked_analyses() is None and run.has_current_findings()


def _score(run: Run, begin: Begin) -> None:
    score(run, progress=lambda name: begin(f"scoring {name}"))


def _analyze(run: Run, begin: Begin) -> None:
    analyze(run, progress=lambda name: begin(f"analyzing {name}"))


def _report(run: Run, begin: Begin) -> None:
    begin(REPORT)
    # The drawing library takes a second to import; only the report needs it.
    from shaketable.stages.report import report

    report(run)


STAGES = (
    Stage(name="scores", is_current=_has_scores, make=_score),
    Stage(name="findings", is_current=_has_findings, make=_analyze),
    Stage(name="report", is_current=Run.has_current_report, make=_report),
)
