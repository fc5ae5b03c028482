"""Counts, sums and state of a run, as one value."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from shaketable.store.money import Lost, SystemSpent, lost, spent_by_system
from shaketable.store.records import RecordStore
from shaketable.store.repeats import AdaptiveRepeats, read_repeats
from shaketable.store.wordings import WordingEffort
from shaketable.types import NOTHING, Json, Limits, Study

State = Literal["empty", "planning", "running", "interrupted", "stopped", "finished", "finished_with_failures"]


@dataclass(frozen=True, kw_only=True, slots=True)
class RunSummary:
    run: str
    """The folder."""
    study: str
    state: State
    created: str | None = None
    """ISO time; None: nothing was written yet."""
    finished: str | None = None
    """ISO time of the end of the last go at answering; None: none has ended."""
    trials: int = 0
    """Planned."""
    done: int = 0
    """Answered."""
    failed: int = 0
    missing: int = 0
    """Planned, and neither answered nor failed."""
    seconds: float = 0.0
    """Of all goes at answering."""
    n_questions: int = 0
    n_prompt_tokens: int = 0
    n_tokens: int = 0
    n_generations: int = 0
    n_searches: int = 0
    models: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    selection: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    """How the questions were chosen; empty: not known."""
    stopped_by: str | None = None
    """The limit of the study that the last go reached; None: it reached none."""
    limits: Limits = Limits()
    spent: tuple[SystemSpent, ...] = ()
    """By system, answers that were taken from other runs left out."""
    lost: Lost = Lost(n_calls=0, dollars=0.0)
    repeats: AdaptiveRepeats | None = None
    """What came of repeats that end of themselves; None: they are a number."""
    rewordings: tuple[WordingEffort, ...] = ()
    wording_checks: tuple[tuple[str, str], ...] = ()
    """Variation and the check that its wordings passed, where that was not the full one: `rules` or `none`."""
    """What models took that reworded the questions; the other counts are of answering alone."""

    @property
    def is_finished(self) -> bool:
        return self.state in ("finished", "finished_with_failures")


def summarize(store: RecordStore, folder: Path, study: Study, is_being_written: Callable[[], bool]) -> RunSummary:
    meta = store.meta()
    [(done, failed, n_prompt, n_tokens, n_generations, n_searches)] = store.rows(
        """SELECT SUM(failure IS NULL), SUM(failure IS NOT NULL), SUM(n_prompt_tokens), SUM(n_tokens),
                  SUM(n_generations), SUM(n_searches) FROM records"""
    )
    done, failed = done or 0, failed or 0
    trials = int(meta.get("n_trials", done + failed))
    return RunSummary(
        run=str(folder),
        study=study.name,
        limits=study.limits,
        state=_state(trials, done, failed, meta.get("stopped"), is_being_written),
        stopped_by=meta.get("stopped") or None,
        spent=spent_by_system(store),
        lost=lost(store),
        created=meta.get("created"),
        finished=meta.get("finished"),
        trials=trials,
        done=done,
        failed=failed,
        missing=trials - done - failed,
        seconds=float(meta.get("seconds", 0.0)),
        n_questions=store.n_questions(),
        n_prompt_tokens=n_prompt or 0,
        n_tokens=n_tokens or 0,
        n_generations=n_generations or 0,
        n_searches=n_searches or 0,
        models=tuple(label for (label,) in store.rows("SELECT DISTINCT model FROM conditions ORDER BY 1")),
        datasets=tuple(name for (name,) in store.rows("SELECT DISTINCT dataset FROM questions ORDER BY 1")),
        selection=json.loads(meta.get("selection", "{}")),
        repeats=None if study.precision is None else read_repeats(meta),
        rewordings=tuple(store.wording_efforts()),
        wording_checks=tuple(store.wording_checks()),
    )


def _state(trials: int, done: int, failed: int, stopped: str | None, is_being_written: Callable[[], bool]) -> State:
    if done + failed == 0:
        return "planning" if is_being_written() else "empty"
    if done + failed < trials:
        return "running" if is_being_written() else "stopped" if stopped else "interrupted"
    return "finished_with_failures" if failed else "finished"
