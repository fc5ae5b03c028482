"""The whole line in one call: study → answered, scored, analyzed and reported run."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

from shaketable.report.time_words import describe_left
from shaketable.stages.answer import answer
from shaketable.stages.cluster.executor import Ray
from shaketable.stages.extend import prepare
from shaketable.stages.forecast.afterwards import Afterwards
from shaketable.stages.forecast.pace import Pace
from shaketable.stages.pipeline import make
from shaketable.stages.plan import Plan, plan
from shaketable.stages.readiness import refuse_unready
from shaketable.stages.showing import Line, showing
from shaketable.stages.vary import vary
from shaketable.store import Run
from shaketable.store.user_cache import open_cache
from shaketable.types import Study


def word(made: Run, draft: Plan) -> Plan:
    """The plan with its wordings: those that the run holds, and those that are made now."""
    return draft.worded(vary(draft.study, draft.questions, made))


def _answer(made: Run, planned: Plan, line: Line | None = None, executor: Ray | None = None) -> None:
    with made.writing() as store, open_cache() as cache:
        shown = Line() if line is None else line
        shown.n_todo = planned.n_trials - store.n_finished()
        answered = answer(planned, store, shown.tick, cache, executor)
        if answered.has_asked:
            store.note_time(answered.seconds)


def trace(made: Run, planned: Plan, tell: Callable[[str], None] = lambda words: None) -> int:
    """Estimate the curves that the study asks for; not where its answers stopped at a limit."""
    if made.summary().state == "stopped":
        return 0
    if planned.study.scan is None or planned.study.scan.curves == "none":
        return 0
    from shaketable.stages.curves import trace_curves

    tell("estimating curves")
    pace = Pace()

    def told(done: int, of: int) -> None:
        left = pace.seconds_left(done, of)
        tell(f"curves: {done} of {of}" + ("" if left is None else f", {describe_left(left)}"))

    with made.writing() as store:
        return trace_curves(planned, store, told)


def ask(
    study: Study,
    out: str | Path,
    tell: Callable[[str], None] = lambda words: None,
    wording: Callable[[Run, Plan], Plan] = word,
    answering: Callable[[Run, Plan], object] = _answer,
    executor: Ray | None = None,
) -> Run:
    """Word, answer and trace a study into a folder, or go on with it where it stopped.

    `tell` hears what is being done; `wording` and `answering` are these stages with whatever shows their progress, the
    latter with the executor.
    """
    draft = plan(study)
    if not (Path(out) / "records.sqlite").exists():
        refuse_unready(draft, executor)
    made = prepare(draft, Path(out), tell, executor)
    planned = wording(made, draft)
    answering(made, planned)
    trace(made, planned, tell)
    return made


def run(
    study: Study,
    out: str | Path,
    tell: Callable[[str], None] | None = None,
    wording: Callable[[Run, Plan], Plan] = word,
    answering: Callable[[Run, Plan], object] | None = None,
    *,
    remembering: bool = False,
    progress: bool | None = None,
    executor: Ray | None = None,
) -> Run:
    """Run a study into a folder, or go on with it: `ask`, then `follow`. What has not changed is not made again.
    `remembering`: what that took
    is kept for the forecasts of later runs on this machine. `progress` shows in one line how it goes on; None: in a
    notebook and on a terminal. `executor`: where models are asked; None: in this process.

    >>> import shaketable
    >>> study = shaketable.make_study("rehearsal", models="scripted(replies=('Paris',))", limit=2, metrics="contains")
    >>> run = shaketable.run(study, "runs/first")
    >>> run.summary().done
    2
    """
    with showing(progress if tell is None and answering is None else False) as line:
        say = tell or line.say
        own = functools.partial(_answer, line=line, executor=executor)
        made = ask(study, out, say, wording, answering or own, executor)
        follow(made, say, remembering=remembering)
        line.say(f"done: {made.folder / 'report.html'}")
    return made


def follow(
    made: Run, tell: Callable[[str], None] = lambda words: None, *, remembering: bool = False
) -> tuple[str, ...]:
    """Score, analyze and report what has changed; returns the names of the stages that were run."""
    steps = Afterwards(made.summary().done, tell)
    stages = make(made, steps.begin)
    steps.end()
    if remembering and stages:
        steps.remember()
    return stages
