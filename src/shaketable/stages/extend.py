"""A study with more in it → the folder of its run, which takes it in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from shaketable.stages.answer import refuse_strangers
from shaketable.stages.cluster.executor import Ray
from shaketable.stages.plan import Plan
from shaketable.stages.readiness import refuse_unready
from shaketable.store import RecordStore, Run
from shaketable.store.folder import find_growth


def prepare(
    draft: Plan, out: Path, tell: Callable[[str], None] = lambda words: None, executor: Ray | None = None
) -> Run:
    """The run's folder; where it grows, only after it is known that all its answers are among those that are planned,
    and as unfinished from now on."""
    growth = find_growth(out, draft.study)
    if not growth or not (out / "records.sqlite").exists():
        return Run.prepare(out, draft.study)
    refuse_unready(draft, executor)
    with RecordStore(out / "records.sqlite", read_only=True) as store:
        refuse_strangers(draft, store)
    made = Run.prepare(out, draft.study)
    tell(f"This run is extended: {'; '.join(map(str, growth))}.")
    with made.writing() as store:
        store.set_meta(n_trials=max(draft.n_trials, len(store.keys())), stopped="")
    return made


def n_answered(draft: Plan, out: Path) -> int:
    """Trials that the run in a folder holds already, of a study that it could take in; refuses another one."""
    find_growth(out, draft.study)
    if not (out / "records.sqlite").exists():
        return 0
    with RecordStore(out / "records.sqlite", read_only=True) as store:
        finished = store.finished_keys()
        return len(finished) if draft.unworded else sum(trial.key in finished for trial, _ in draft.trials())
