"""A plan → records."""

from __future__ import annotations

import contextlib
import functools
import gc
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from shaketable.errors import RepliesPending, RunError
from shaketable.identity import canonical, digest
from shaketable.protocols import BoundedMethod, ClosingModel, Model, RoundMethod
from shaketable.stages.batches import batch_line
from shaketable.stages.changed_since import describe_changes
from shaketable.stages.cluster.executor import Ray
from shaketable.stages.cluster.spread import SpreadScheduler, one_cluster
from shaketable.stages.forecast.tally import Kind, Tally, kind_of
from shaketable.stages.forecast.time_left import TimeLeft
from shaketable.stages.kept_steps import KeptSteps
from shaketable.stages.measured import known_measures, system_name
from shaketable.stages.meter import Before, Meter, Spent, Stop, System, refuse_unpriced
from shaketable.stages.plan import Condition, Plan
from shaketable.stages.readiness import refuse_unready
from shaketable.stages.repeating.looks import looks
from shaketable.stages.repeating.outcome import note_outcome
from shaketable.stages.repeating.source import Repeated
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

    @property
    def has_asked(self) -> bool:
        """Whether anything came of it: a run that is complete has neither a new answer nor a new end."""
        return bool(self.n_done or self.n_failed or self.n_shared or self.stop or self.has_spent_budget)


def answer(
    plan: Plan,
    store: RecordStore,
    progress: Progress = lambda tick: None,
    cache: AnswerCache | None = None,
    executor: Ray | None = None,
    *,
    waits: bool = True,
) -> Answered:
    """Answer what is not answered yet. Finished trials are committed before the next model call.

    With a cache, what other runs asked by the same keys is taken from it, and what is asked now is put there. With an
    executor, the models that can be are asked on its workers. `waits`: for batches; if not, they are sent, what has
    come of them is taken, and RepliesPending is raised.

    >>> import shaketable
    >>> study = shaketable.make_study("rehearsal", models="scripted(replies=('Paris',))", limit=2)
    >>> with shaketable.Run.prepare("runs/answered", study).writing() as store:
    ...     shaketable.answer(shaketable.plan(study), store).n_done
    2
    """
    start = time.perf_counter()
    n_trials = plan.n_trials
    _refuse_unworded(plan)
    refuse_strangers(plan, store)
    # Also when all is answered: keys do not know the accepted answers, and those may have been mended.
    store.add_questions([(question, plan.items[question.id]) for question in plan.questions])
    store.add_rejected(plan.rejected)
    n_before = store.n_finished()
    is_whole = store.meta().get("fingerprint") == plan.fingerprint and n_before == n_trials
    if is_whole and plan.study.precision is None:
        store.set_meta(n_trials=n_trials)  # What was added to the study may have brought no trial.
        return Answered(n_trials=n_trials, n_reused=n_trials, n_done=0, n_failed=0, n_tokens=0, seconds=0.0)
    refuse_unready(plan, executor)
    refuse_unpriced(plan.study.limits, {str(one.labels["model"]): one.model for one in plan.conditions})
    _note_begin(plan, store)
    scheduler = _scheduler(plan, store, progress, cache, executor)
    with one_cluster(executor, (model for model, _ in plan.by_model())):
        stop = _drive(plan, store, scheduler, cache, waits=waits)
    if stop is not None:
        _note_stop(store, stop, scheduler.meter.lost)
    has_spent_budget = plan.study.shake is not None and stop is not None
    if plan.study.shake is not None:
        stop = None  # That the budget is spent is its end.
        store.set_meta(stopped="")
    if stop is None and is_adaptive(plan.study):
        n_trials = len(store.keys())
        store.set_meta(n_trials=n_trials, all_asked_by=_asker(plan))
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


def is_all_answered(plan: Plan, store: RecordStore) -> bool:
    """Whether another go would ask nothing."""
    n_finished = store.n_finished()
    if not is_adaptive(plan.study):
        return n_finished == plan.n_trials
    meta = store.meta()
    return meta.get("all_asked_by") == _asker(plan) and meta.get("n_trials") == str(n_finished)


def _asker(plan: Plan) -> str:
    """What decides when an adaptive run has asked all."""
    return digest([plan.fingerprint, plan.study.limits])


def _refuse_unworded(plan: Plan) -> None:
    if plan.unworded:
        raise RunError(
            f"The wordings by {', '.join(plan.unworded)} are not made yet. Make them first: plan.worded(vary(…))."
        )


def _scheduler(
    plan: Plan, store: RecordStore, progress: Progress, cache: AnswerCache | None, executor: Ray | None
) -> Scheduler:
    left = TimeLeft(_tallies(plan, store.n_finished_by_kind()))
    sink = store if cache is None else Sharing(store, cache, plan.study.name)
    own = functools.partial(SpreadScheduler, executor=executor) if executor is not None else Scheduler
    return own(plan, sink, progress, left, Meter(plan.study.limits, _spent(store)), KeptSteps(store))


def _note_begin(plan: Plan, store: RecordStore) -> None:
    store.set_meta(
        fingerprint=plan.fingerprint,
        n_trials=plan.n_trials,
        stopped="",
        not_varied=canonical(plan.not_varied),
        **note_planned(planned_by_system(plan)),
    )


def _note_stop(store: RecordStore, stop: Stop, gone: Spent) -> None:
    """`gone`: calls of trials that did not end. Those whose replies are kept are counted there."""
    n_kept, dollars_kept = store.spent_underway()
    store.set_meta(
        stopped=stop.limit,
        lost_calls=gone.n_calls - n_kept,
        lost_dollars=max(gone.dollars - dollars_kept, 0.0),
    )


def _drive(
    plan: Plan, store: RecordStore, scheduler: Scheduler, cache: AnswerCache | None, *, waits: bool
) -> Stop | None:
    """Answer all, or up to a limit."""
    sources: dict[int, Source] = {}
    stop = _drive_each(plan, store, scheduler, cache, sources, waits=waits)
    if plan.study.precision is not None:
        repeated = [own for own in sources.values() if isinstance(own, Repeated)]
        store.set_meta(**note_outcome(plan, store, repeated))
    return stop


def _drive_each(
    plan: Plan,
    store: RecordStore,
    scheduler: Scheduler,
    cache: AnswerCache | None,
    sources: dict[int, Source],
    *,
    waits: bool,
) -> Stop | None:
    """Answer with one model after the other, until all is answered or a limit is reached. The batches of all models are
    sent, and what is asked otherwise is answered, before one batch is waited for. `sources`: where they are left, by
    the identity of their models."""
    models, pending = list(plan.by_model()), ""
    with _rare_collections():
        for patient in (False, True) if waits and len(models) > 1 else (waits,):
            source = _sources(plan, store, scheduler.meter)
            sources |= {id(model): source(conditions) for model, conditions in models}
            waiting, pending = [], ""
            # One model's weights are used up before the next one's are loaded.
            for model, conditions in models:
                own = sources[id(model)]
                # A shaken run is laid out for what its budget buys: it gives its answers, and takes none.
                if cache is not None and plan.study.shake is None and is_shared(model):
                    own = Reusing(own, cache, scheduler.take_over)
                try:
                    stop = _drive_model(model, own, store, scheduler, scheduler.meter.deadline() if patient else 0.0)
                except RepliesPending as error:
                    waiting.append((model, conditions))
                    pending += f"{error}\n"
                    continue
                if stop is not None:
                    return stop
            if not (models := waiting):
                return None
    raise RepliesPending(pending.strip())


def _drive_model(
    model: Model, source: Source, store: RecordStore, scheduler: Scheduler, deadline: float | None
) -> Stop | None:
    line = batch_line(model, store, deadline)
    stop = scheduler.run(model, source, line)
    if isinstance(model, ClosingModel):
        model.close()
    if line is not None and stop is None:
        line.let_go()
    return stop


def planned_by_system(plan: Plan) -> dict[tuple[str, str], int] | None:
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
    return study.scan is not None or study.shake is not None or study.precision is not None


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
        if plan.study.precision is not None:
            return Repeated(plan, conditions, answers)
        return Listed(planned for planned in plan.trials(conditions) if planned[0].key not in finished)

    return source


def _tallies(plan: Plan, finished: Mapping[tuple[str | float | None, ...], int]) -> dict[Kind, Tally]:
    """The trials that are to be answered, by kind. What is asked adaptively shows later."""
    n_trials = 0 if is_adaptive(plan.study) else len(plan.asked) * plan.study.repeats
    calls = {system: measured.calls for system, measured in known_measures().items()}
    return {
        kind: Tally(
            n_unstarted=max(n_trials - finished.get(kind, 0), 0),
            usual_calls=calls.get(system_name(condition.model, kind.method), _usual_calls(condition)),
            max_calls=_max_calls(plan, condition),
            n_sharing=_n_sharing(plan, condition),
        )
        for condition in plan.conditions
        for kind in (kind_of(condition, temperature) for temperature in plan.temperatures_of(condition))
    }


def _n_sharing(plan: Plan, condition: Condition) -> int:
    """Rows that go on from one prompt: its repeats at each temperature, which at 0 are one."""
    at_once = plan.study.repeats if plan.study.precision is None else looks(plan.study, plan.asked)[0]
    return sum(at_once if temperature else 1 for temperature in plan.temperatures_of(condition))


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
            f"{store.path} holds {len(strangers):,} records that this study does not plan: "
            f"{describe_changes(plan, store)}. No record was touched. Give a new folder with --out, or undo the change."
        )
