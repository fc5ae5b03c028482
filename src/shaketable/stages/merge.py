"""Runs of parts of a study → the one run of all of it, and nothing is asked."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from shaketable.errors import RunError
from shaketable.identity import canonical
from shaketable.stages.answer import is_adaptive, planned_by_system
from shaketable.stages.plan import Plan, plan
from shaketable.stages.repeating.outcome import note_outcome
from shaketable.stages.repeating.source import Repeated
from shaketable.stages.selection import describe_selection
from shaketable.stages.sources import Scanned
from shaketable.stages.vary import stored_wordings
from shaketable.store import RecordStore, Run
from shaketable.store.explanation_file import load_explanations, write_explanations
from shaketable.store.joining.copying import copy_made, copy_records, copy_underway, copy_wordings
from shaketable.store.joining.joining import Joining, Overlap
from shaketable.store.joining.meta import join_meta
from shaketable.store.joining.studies import unite_studies
from shaketable.store.lock import hold_lock, is_locked
from shaketable.store.money import note_planned


@dataclass(frozen=True, kw_only=True, slots=True)
class Merged:
    run: Run
    overlap: Overlap


def merge(
    runs: Sequence[Run],
    out: Path,
    *,
    prefer_first: bool = False,
    tell: Callable[[str], None] = lambda words: None,
) -> Merged:
    """Join runs that one study could have asked, into a new folder, which is there when it is whole.

    Where they answer one trial otherwise, the first answer is kept, or with `prefer_first` being false the runs are
    refused.
    """
    _refuse_unready(runs, out)
    draft = plan(unite_studies({str(run.folder): run.study for run in runs}))
    with _new_folder(out) as folder:
        made = Run.prepare(folder, draft.study)
        with hold_lock(folder):
            planned = _join_wordings(made, runs, draft)
            overlap = _join_records(made, runs, planned, prefer_first, tell)
            _note(made, runs, planned)
            _join_explanations(made, runs)
    return Merged(run=Run(out), overlap=overlap)


def _refuse_unready(runs: Sequence[Run], out: Path) -> None:
    folders = [run.folder.resolve() for run in runs]
    if len(set(folders)) < 2 or len(set(folders)) < len(folders):
        raise RunError("Give two runs or more, each once: shaketable merge RUN RUN --out FOLDER.")
    for run in runs:
        if is_locked(run.folder):
            raise RunError(f"Another process is writing to {run.folder}. Wait for it, then join the runs.")
        if not run.records_path.exists():
            raise RunError(f"There are no records in {run.folder} yet. Answer it first, or leave it out.")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise RunError(f"{out} is not empty. Nothing was changed. Give an empty or new folder with --out.")


@contextlib.contextmanager
def _new_folder(out: Path) -> Iterator[Path]:
    """A folder beside it that takes its place at the end; what a merge that was killed has left is thrown away."""
    folder = out.absolute().with_name(f".{out.absolute().name}.joining")
    if folder.is_dir() and is_locked(folder):
        raise RunError(f"Another process is joining runs into {out}. Wait for it.")
    shutil.rmtree(folder, ignore_errors=True)
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    folder.replace(out)


def _joining(made: Run, runs: Sequence[Run]) -> Joining:
    return Joining(made.records_path, [(str(run.folder), run.records_path) for run in runs])


def _join_wordings(made: Run, runs: Sequence[Run], draft: Plan) -> Plan:
    """The plan with its wordings where the runs have them all, else the draft."""
    with RecordStore(made.records_path) as store:
        store.add_questions([(question, draft.items[question.id]) for question in draft.questions])
    joining = _joining(made, runs)
    copy_wordings(joining)
    joining.finish()
    with RecordStore(made.records_path) as store:
        variants = stored_wordings(draft.study, draft.questions, store)
    return draft if variants is None else draft.worded(variants)


def _join_records(
    made: Run, runs: Sequence[Run], planned: Plan, prefer_first: bool, tell: Callable[[str], None]
) -> Overlap:
    joining = _joining(made, runs)
    tell("planning the joined study")
    joining.note_plan(trial.key for trial, _ in planned.trials())
    tell("comparing the runs")
    overlap = joining.choose(planned.unworded, prefer_first=prefer_first)
    tell("copying records")
    copy_records(joining)
    copy_underway(joining)
    copy_made(joining, prefer_first=prefer_first)
    joining.finish()
    return overlap


def _note(made: Run, runs: Sequence[Run], planned: Plan) -> None:
    with RecordStore(made.records_path) as store:
        store.set_meta(
            study=made.study.name,
            **_note_trials(planned, store),
            stopped="",
            not_varied=canonical(planned.not_varied),
            selection=json.dumps(describe_selection(planned)),
            **note_planned(planned_by_system(planned)),
            **join_meta(store, {str(run.folder): run.store for run in runs}),
            **({} if planned.unworded else {"fingerprint": planned.fingerprint}),
        )


def _note_trials(planned: Plan, store: RecordStore) -> dict[str, str | int]:
    """How many the joined study has; what is asked adaptively is known when nothing of it is missing."""
    n_stored = len(store.keys())
    if not is_adaptive(planned.study) or planned.unworded:
        return {"n_trials": max(planned.n_trials, n_stored)}
    answers, models = store.finished_answers(), planned.by_model()
    if planned.study.precision is not None:
        repeated = [Repeated(planned, conditions, answers) for _, conditions in models]
        n_missing = sum(len(source.take(1)) for source in repeated)  # All are taken from: each then looks at its own.
        n_trials = planned.n_trials if n_missing else n_stored
        return {"n_trials": n_trials, **note_outcome(planned, store, repeated)}
    assert planned.study.scan is not None, "Shaken runs are not joined."
    sources = (Scanned(planned, planned.study.scan, conditions, answers) for _, conditions in models)
    return {"n_trials": planned.n_trials if any(source.take(1) for source in sources) else n_stored}


def _join_explanations(made: Run, runs: Sequence[Run]) -> None:
    by_key = {own.key: own for run in reversed(runs) for own in load_explanations(run.folder)}
    if by_key:
        write_explanations(made.folder, by_key.values())
