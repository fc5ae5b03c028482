"""A plan → records."""

from __future__ import annotations

import contextlib
import gc
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from shaketable.errors import RunError
from shaketable.identity import canonical
from shaketable.protocols import BoundedMethod, ClosingModel, RoundMethod
from shaketable.stages.estimate import known_measures, system_name
from shaketable.stages.forecast.tally import Kind, Tally, kind_of
from shaketable.stages.forecast.time_left import TimeLeft
from shaketable.stages.meter import Before, Meter, Spent, Stop, System, refuse_unpriced
from shaketable.stages.plan import Condition, Plan
from shaketable.stages.readiness import refuse_unready
from shaketable.stages.reuse import Reusing, Sharing, is_shared
from shaketable.stages.scheduler import Progress, Scheduler
from shaketable.stages.shaking.source import Shaken
from shaketable.stages.sources import Listed, Scanned, Source
from shaketable.store import RecordStore
from shaketable.store.answer_cache import AnswerCache
from shaketable.store.money import lost, note_planned, spent_by_system
from shaketable.types import Study

NEW_OBJECTS = 10_000
"""After so many the interpreter looks for cycles of objects."""


@dataclass(frozen=True, kw_only=True)
class Answered:
    n_trials: int
    n_reused: int
    n_done: int
    """Answered now."""
    n_failed: int
    n_tokens: int
    """New tokens of this go."""
    seconds: float
    stop: Stop | None = None
    """Where it stopped before its end; None: all is answered."""
    has_spent_budget: bool = False
    """Whether a limit ended a shake, whose end that is: there is more that it could ask."""
    n_shared: int = 0
    """Taken from other runs now."""


def answer(
    plan: Plan,
    store: RecordStore,
    progress: Progress = lambda tick: None,
    cache: AnswerCache | None = None,
) -> Answered:
    """Answer what is not answered yet. Finished trials are committed before the next model call.

    With a cache, what other runs asked by the same keys is taken from it, and what is asked now is put there.

    >>> import shaketable
    >>> study = shaketable.make_study("rehearsal", models="scripted(replies=('Paris',))", limit=2)
    >>> with shaketable.Run.prepare("runs/answered", study).writing() as store:
    ...     shaketable.answer(shaketable.plan(study), store).n_done
    2
    """
    start = time.perf_counter()
    n_trials = plan.n_trials
    if plan.unworded:
        raise RunError(
            f"The wordings by {', '.join(plan.unworded)} are not made yet. Make them first: plan.worded(vary(…))."
        )
    refuse_strangers(plan, store)
    # Also when all is answered: keys do not know the accepted answers, and those may have been mended.
    store.add_questions([(question, plan.items[question.id]) for question in plan.questions])
    store.add_rejected(plan.rejected)
    n_before = store.n_finished()
    if store.meta().get("fingerprint") == plan.fingerprint and n_before == n_trials:
        store.set_meta(n_trials=n_trials)  # What was added to the study may have brought no trial.
        return Answered(n_trials=n_trials, n_reused=n_trials, n_done=0, n_failed=0, n_tokens=0, seconds=0.0)
    refuse_unready(plan)
    refuse_unpriced(plan.study.limits, {str(one.labels["model"]): one.model for one in plan.conditions})
    _note_begin(plan, store)
    meter = Meter(plan.study.limits, _spent(store))
    left = TimeLeft(_tallies(plan, store.n_finished_by_kind()))
    sink = store if cache is None else Sharing(store, cache, plan.study.name)
    scheduler = Scheduler(plan, sink, progress, left, meter)
    stop = _drive(plan, store, scheduler, cache)
    if stop is not None:
        store.set_meta(stopped=stop.limit, lost_calls=meter.lost.n_calls, lost_dollars=meter.lost.dollars)
    has_spent_budget = plan.study.shake is not None and stop is not None
    if plan.study.shake is not None:
        stop = None  # That the budget is spent is its end.
        store.set_meta(stopped="")
    if stop is None and is_adaptive(plan.study):
        n_trials = len(store.keys())
        store.set_meta(n_trials=n_trials)
    return Answered(
        n_trials=n_trials,
        n_reused=n_before,
        n_done=scheduler.n_done,
        n_failed=scheduler.n_failed,
        n_tokens=scheduler.n_tokens,
        n_shared=scheduler.n_shared,
        seconds=time.perf_counter() - start,
        stop=stop,
        has_spent_budget=has_spent_budget,
    )


def _note_begin(plan: Plan, store: RecordStore) -> None:
    store.set_meta(
        fingerprint=plan.fingerprint,
        n_trials=plan.n_trials,
        stopped="",
        not_varied=canonical(plan.not_varied),
        **note_planned(_planned(plan)),
    )


def _drive(plan: Plan, store: RecordStore, scheduler: Scheduler, cache: AnswerCache | None) -> Stop | None:
    """Answer with one model after the other, until all is answered or a limit is reached."""
    source = _sources(plan, store, scheduler.meter)
    with _rare_collections():
        # One model's weights are used up before the next one's are loaded.
        for model, conditions in plan.by_model():
            own = source(conditions)
            # A shaken run is laid out for what its budget buys: it gives its answers, and takes none.
            if cache is not None and plan.study.shake is None and is_shared(model):
                own = Reusing(own, cache, scheduler.take_over)
            stop = scheduler.run(model, own)
            if isinstance(model, ClosingModel):
                model.close()
            if stop is not None:
                return stop
    return None


def _planned(plan: Plan) -> dict[tuple[str, str], int] | None:
    """Trials by system; None: what is asked shows on the way."""
    if is_adaptive(plan.study):
        return None
    planned: Counter[tuple[str, str]] = Counter()
    for condition in plan.conditions:
        kind = kind_of(condition, 0.0)
        planned[kind.model, kind.method] += plan.n_trials_of([condition])
    return planned


def _spent(store: RecordStore) -> Before:
    """What earlier goes spent."""
    gone = lost(store)
    return Before(
        systems={
            System(spent.model, spent.method): Spent(
                n_trials=spent.n_trials,
                n_calls=spent.n_calls,
                dollars=spent.dollars or 0.0,
                n_priced=spent.n_priced,
            )
            for spent in spent_by_system(store)
            if spent.n_trials
        },
        lost_calls=gone.n_calls,
        lost_dollars=gone.dollars,
        seconds=float(store.meta().get("seconds", 0.0)),
    )


def is_adaptive(study: Study) -> bool:
    """Whether what is asked depends on what was answered."""
    return study.scan is not None or study.shake is not None


def _sources(plan: Plan, store: RecordStore, meter: Meter) -> Callable[[Sequence[Condition]], Source]:
    """Conditions of one model → where their trials come from."""
    scan = plan.study.scan
    # Only what is adaptive goes by what was answered; a list needs no more than the keys.
    finished = set() if is_adaptive(plan.study) else store.finished_keys()
    answers = store.finished_answers() if is_adaptive(plan.study) else {}

    def source(conditions: Sequence[Condition]) -> Source:
        if plan.study.shake is not None:
            return Shaken(plan, conditions, answers, meter.n_affordable)
        if scan is not None:
            return Scanned(plan, scan, conditions, answers)
        return Listed(planned for planned in plan.trials(conditions) if planned[0].key not in finished)

    return source


def _tallies(plan: Plan, finished: Mapping[tuple[str | float | None, ...], int]) -> dict[Kind, Tally]:
    """The trials that are to be answered, by kind. What is asked adaptively shows later."""
    n_trials = 0 if is_adaptive(plan.study) else len(plan.asked) * plan.study.repeats
    calls = {system: measured.calls for system, measured in known_measures().items()}
    return {
        kind: Tally(
            n_unstarted=max(n_trials - finished.get(kind, 0), 0),
            usual_calls=calls.get(system_name(kind.model, kind.method), _usual_calls(condition)),
            max_calls=_max_calls(plan, condition),
            n_sharing=_n_sharing(plan, condition),
        )
        for condition in plan.conditions
        for kind in (kind_of(condition, temperature) for temperature in plan.temperatures_of(condition))
    }


def _n_sharing(plan: Plan, condition: Condition) -> int:
    """Rows that go on from one prompt: its repeats at each temperature, which at 0 are one."""
    return sum(plan.study.repeats if temperature else 1 for temperature in plan.temperatures_of(condition))


def _usual_calls(condition: Condition) -> float | None:
    return condition.method.usual_calls if isinstance(condition.method, RoundMethod) else None


def _max_calls(plan: Plan, condition: Condition) -> int | None:
    """Of a trial; None: its method states no limit."""
    if not isinstance(condition.method, BoundedMethod):
        return None
    return condition.method.at_most(int(str(plan.study.generation["max_tokens"]))).n_calls


@contextlib.contextmanager
def _rare_collections() -> Iterator[None]:
    """Trials leave no cycles behind; looking for them after every 700 objects takes a tenth of a fast run's time."""
    usual = gc.get_threshold()
    gc.set_threshold(usual[0] and max(usual[0], NEW_OBJECTS), *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def refuse_strangers(plan: Plan, store: RecordStore) -> None:
    """Records of another version of a part, a prompt or the data must not be averaged with new ones. Those of wordings
    that are not made yet, in a draft of a plan, are not looked at."""
    stored = store.keys(plan.unworded)
    if not stored or store.meta().get("fingerprint") == plan.fingerprint:
        return
    strangers = stored - {trial.key for trial, _ in plan.trials()}
    if strangers:
        raise RunError(
            f"{store.path} holds {len(strangers):,} records that this study does not plan: the data, a prompt or the "
            "version of a part changed since. No record was touched. Give a new folder with --out."
        )
