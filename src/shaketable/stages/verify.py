"""A run → whether all that is stored is as it was written, and its scores are those that its records give."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

from shaketable import catalog
from shaketable.errors import LayoutError, PartError, RunError, ShaketableError
from shaketable.factors import numbers_of
from shaketable.protocols import JudgingMetric, Metric, WeightReadingPart
from shaketable.stages.reference import made_by
from shaketable.stages.score import scores_of
from shaketable.store import RecordStore, Run
from shaketable.store.lock import has_locks
from shaketable.store.score_file import load_scores_by
from shaketable.store.sealing.folder import find_altered_files, list_unsealed
from shaketable.store.sealing.last_commit import describe_loss
from shaketable.store.verify import Verdict
from shaketable.store.verify import verify as verify_store
from shaketable.types import Question

OURS = "shaketable.metrics."
"""Where metrics come from that give the same numbers for the same records on any machine."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Verified:
    records: Verdict | None
    """None: the file cannot be opened; the problems say why."""
    problems: tuple[str, ...]
    """Empty: the run is sound. Of many alike a few are named, and the others counted."""
    n_problems: int
    recomputed: tuple[str, ...]
    """Metrics whose scores were worked out anew."""
    only_sealed: tuple[str, ...]
    """Those of which it is known that their scores were not altered, and no more: they read weights, ask a model, or
    are not ours."""
    unsealed: tuple[str, ...]
    """Files in a run of an older version, of which nothing is known; in another they are problems."""
    has_locks: bool
    """Whether the disk gives locks; without them it is read all the same, and nobody may write meanwhile."""
    are_scores_current: bool | None
    """Whether they are of the records that there are; None: there are none."""


def verify(run: Run, *, full: bool = False, progress: Callable[[str], None] = lambda words: None) -> Verified:
    """Look at each stored byte that carries data, and work the scores out anew by the metrics that need no weights;
    with `full` by those that do, too."""
    problems: list[str] = []
    verdict: Verdict | None = None
    can_lock = has_locks(run.folder)
    log = run.records_path.with_name(f"{run.records_path.name}-wal")
    if not can_lock and log.is_file() and log.stat().st_size:
        raise RunError(
            f"{run.folder} cannot be checked here: the disk refuses locks, and what was written last waits in "
            f"{log.name}. Copy the folder to a disk that has locks, such as this computer's own, and check it there."
        )
    progress("reading the records")
    try:
        with RecordStore(run.records_path, read_only=True) as store:
            verdict = verify_store(store)
            problems += verdict.problems
    except LayoutError as error:
        problems.append(str(error))
    except ShaketableError as error:
        problems.append(describe_loss(run.records_path, {}) or str(error))
    altered = list(find_altered_files(run.folder)) if verdict is None or verdict.is_sealed else []
    n_problems = len(problems) - len(verdict.problems if verdict else ()) + (verdict.n_problems if verdict else 0)
    recomputed: list[str] = []
    only_sealed: list[str] = []
    wrong: list[str] = []
    is_current = _are_current(run) if not problems and not altered else None
    if is_current:
        for text in run.asked_metrics() or run.study.metrics:
            metric = _repeatable(text, full=full)
            if metric is None:
                only_sealed.append(text)
                continue
            progress(f"scoring {text}")
            recomputed.append(text)
            wrong += _differing(run, text, metric)
    return Verified(
        records=verdict,
        problems=(*problems, *altered, *wrong),
        n_problems=n_problems + len(altered) + len(wrong),
        recomputed=tuple(recomputed),
        only_sealed=tuple(only_sealed),
        unsealed=list_unsealed(run.folder) if verdict is not None and not verdict.is_sealed else (),
        has_locks=can_lock,
        are_scores_current=is_current,
    )


def _are_current(run: Run) -> bool | None:
    return run.has_current_scores() if (run.folder / "scores.parquet").is_file() else None


def _repeatable(text: str, *, full: bool) -> Metric | None:
    """The metric, where it gives its numbers again for nothing."""
    try:
        metric: Metric = catalog.build("metric", text)
    except PartError:
        return None
    is_ours = type(metric).__module__.startswith(OURS) and not isinstance(metric, JudgingMetric)
    return metric if is_ours and (full or not isinstance(metric, WeightReadingPart)) else None


def _differing(run: Run, text: str, metric: Metric) -> list[str]:
    """A sentence where stored scores are not those that the metric gives."""
    questions: dict[str, Question] = {question.id: question for question in run.store.questions(made_by(run.study))}
    stored = load_scores_by(run.folder, numbers_of([text]))
    n_wrong, example = 0, ""
    for own, kept in itertools.zip_longest(scores_of(run, metric, questions), stored):
        if own != kept:
            n_wrong += 1
            example = example or (kept or own).key
    return (
        [f"scores by {text}: {n_wrong:,} are not those that the records give, such as of {example}"] if n_wrong else []
    )
