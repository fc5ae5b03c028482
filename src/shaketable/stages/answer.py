"""A plan → records. One scheduler drives many methods at once and resumes each as its reply comes."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeVar

from shaketable import catalog
from shaketable.errors import ModelError, PartError, RetrieverDown, RunError, ShaketableError
from shaketable.identity import seed_from
from shaketable.protocols import Method, Model, Part, RecordRetriever, ReplyLine, Steps, StreamingModel, WhiteBoxModel
from shaketable.stages.history import continued
from shaketable.stages.plan import Condition, Plan
from shaketable.stages.readiness import refuse_unready
from shaketable.stages.sources import Listed, Scanned, Source
from shaketable.store import RecordStore
from shaketable.types import (
    Answer,
    Completion,
    Cost,
    Event,
    Evidence,
    Failure,
    Generate,
    Json,
    Note,
    Probe,
    Prompt,
    Query,
    Question,
    Reading,
    Record,
    Reply,
    Sampling,
    Search,
    Step,
    Trial,
)

WINDOW = 512
"""Trials in flight: enough to fill any batch, few enough to lose little and to hold in memory."""
NEW_OBJECTS = 10_000
"""After so many the interpreter looks for cycles of objects."""
KEPT_EVIDENCE = 4096
"""Searches remembered, so that one question's temperatures and repeats share one search."""

Progress = Callable[["Tick"], None]


@dataclass(frozen=True, kw_only=True)
class Tick:
    """News for a progress bar."""

    n_done: int
    n_failed: int
    n_tokens: int


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


@dataclass(slots=True)
class Flight:
    """A trial on its way: its method, paused at a step."""

    trial: Trial
    condition: Condition
    question: Question
    steps: Steps
    events: list[Event] = field(default_factory=list)
    n_searches: int = 0
    n_generations: int = 0
    n_prompt_tokens: int = 0
    n_tokens: int = 0
    seconds: float = 0.0
    step: Step | None = None
    """The step whose reply it waits for."""


def answer(plan: Plan, store: RecordStore, progress: Progress = lambda tick: None) -> Answered:
    """Answer what is not answered yet. Finished trials are committed before the next model call."""
    start = time.perf_counter()
    n_trials = plan.n_trials
    if plan.unworded:
        raise RunError(
            f"The wordings by {', '.join(plan.unworded)} are not made yet. Make them first: plan.worded(vary(…))."
        )
    _refuse_strangers(plan, store)
    # Also when all is answered: keys do not know the accepted answers, and those may have been mended.
    store.add_questions([(question, plan.items[question.id]) for question in plan.questions])
    store.add_rejected(plan.rejected)
    if store.meta().get("fingerprint") == plan.fingerprint and store.n_finished() == n_trials:
        return Answered(n_trials=n_trials, n_reused=n_trials, n_done=0, n_failed=0, n_tokens=0, seconds=0.0)
    refuse_unready(plan)
    store.set_meta(fingerprint=plan.fingerprint, n_trials=n_trials)
    scheduler = Scheduler(plan, store, progress)
    scan = plan.study.scan
    # Only a scan goes by what was answered; a list needs no more than the keys.
    finished = store.finished_keys() if scan is None else set()
    answers = {} if scan is None else store.finished_answers()
    with _rare_collections():
        # One model's weights are used up before the next one's are loaded.
        for model, conditions in plan.by_model():
            if scan is None:
                new = (planned for planned in plan.trials(conditions) if planned[0].key not in finished)
                scheduler.run(model, Listed(new))
            else:
                scheduler.run(model, Scanned(plan, scan, conditions, answers))
    if scan is not None:
        n_trials = len(store.keys())
        store.set_meta(n_trials=n_trials)
    return Answered(
        n_trials=n_trials,
        n_reused=n_trials - scheduler.n_done - scheduler.n_failed,
        n_done=scheduler.n_done,
        n_failed=scheduler.n_failed,
        n_tokens=scheduler.n_tokens,
        seconds=time.perf_counter() - start,
    )


@contextlib.contextmanager
def _rare_collections() -> Iterator[None]:
    """Trials leave no cycles behind; looking for them after every 700 objects takes a tenth of a fast run's time."""
    usual = gc.get_threshold()
    gc.set_threshold(usual[0] and max(usual[0], NEW_OBJECTS), *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def _refuse_strangers(plan: Plan, store: RecordStore) -> None:
    """Records of another version of a part, a prompt or the data must not be averaged with new ones."""
    stored = store.keys()
    if not stored or store.meta().get("fingerprint") == plan.fingerprint:
        return
    strangers = stored - {trial.key for trial, _ in plan.trials()}
    if strangers:
        raise RunError(
            f"{store.path} holds {len(strangers):,} records that this study does not plan: the data, a prompt or the "
            "version of a part changed since. No record was touched. Give a new folder with --out."
        )


class Sink(Protocol):
    """Where finished records go."""

    def append(self, records: Sequence[tuple[Record, Condition]], environment: Mapping[str, Json]) -> None: ...


Given = TypeVar("Given")


class EvidenceKey(NamedTuple):
    """Searches with one key have one reply."""

    batch: tuple[int, int, int]
    """Retriever, perturbation and k: what is searched and disturbed together."""
    question_id: str
    query: str


class Scheduler:
    def __init__(self, plan: Plan, store: Sink, progress: Progress) -> None:
        self.store, self.progress = store, progress
        self.questions = {question.id: question for question in plan.questions}
        self.evidence: OrderedDict[EvidenceKey, Evidence | Failure] = OrderedDict()
        self.n_done = self.n_failed = self.n_tokens = 0
        generation = plan.study.generation
        self.wants: tuple[str, ...] = ("logprobs", "processed_logprobs") if generation.get("logprobs") else ()
        self.greedy_wants: tuple[str, ...] = ("top_logprobs",) if generation.get("top_logprobs") else ()
        self.engine: ReplyLine
        self.source: Source
        self.flights: dict[int, Flight] = {}
        self.searching: list[tuple[int, Search]] = []
        self.probing: list[tuple[int, Probe]] = []
        self.finished: list[tuple[Record, Condition]] = []

    def run(self, model: Model, source: Source) -> None:
        """Drive all trials of one model to their ends."""
        self.engine = model if isinstance(model, StreamingModel) else Batches(model)
        self.source = source
        ticket = 0
        while True:
            started = source.take(WINDOW - len(self.flights))
            if not started and not self.flights:
                return
            for trial, condition in started:
                steps = _steps(condition.method, trial.variant.text)
                self.flights[ticket] = Flight(trial, condition, self.questions[trial.question_id], steps)
                self._resume(ticket, None)
                ticket += 1
            self._look_up()
            replies = self.engine.collect()
            if self.flights and not replies:
                raise ModelError(
                    f"{catalog.label(model)} returned nothing while {len(self.flights)} prompts were waiting. "
                    "`collect` works until at least one is finished."
                )
            for done, reply in replies:
                self._take(done, _whole(reply))
            self._look_up()
            if self.finished:
                self._store(model)

    def _resume(self, ticket: int, reply: Reply) -> None:
        """Hand a method its reply and do what it asks for next."""
        flight = self.flights[ticket]
        try:
            step = flight.steps.send(reply)
            while isinstance(step, Note):
                flight.events.append(Event(step=step, reply=None))
                step = next(flight.steps)
            step = continued(flight.trial.variant.history, step)
        except StopIteration as end:
            self._finish(ticket, end.value)
            return
        except ShaketableError:
            raise
        except Exception as error:
            self._finish(ticket, _broken(f"{type(error).__name__}: {error}"))
            return
        flight.step = step
        if isinstance(step, Search):
            self.searching.append((ticket, step))
        elif isinstance(step, Generate):
            self.engine.submit(ticket, self._prompt(flight, step))
        elif not isinstance(step, Probe):
            flight.steps.close()
            self._finish(ticket, _broken(f"It asked for {step!r}; a step is a Search, Generate, Probe or Note."))
        else:
            self.probing.append((ticket, step))

    def _take(self, ticket: int, reply: Evidence | Completion | Reading | Failure) -> None:
        """Write a reply into the trace, count it, and go on."""
        flight = self.flights[ticket]
        assert flight.step is not None, "A reply answers a step."
        flight.events.append(Event(step=flight.step, reply=_kept_reply(reply)))
        if isinstance(flight.step, Search):
            flight.n_searches += 1
        elif isinstance(flight.step, Generate):
            flight.n_generations += 1
        if isinstance(reply, Failure):
            flight.steps.close()
            self._finish(ticket, reply)
            return
        if isinstance(reply, Completion):
            flight.n_prompt_tokens += reply.n_prompt_tokens
            flight.n_tokens += reply.n_tokens
            flight.seconds += reply.seconds
        self._resume(ticket, reply)

    def _prompt(self, flight: Flight, step: Generate) -> Prompt:
        settings = {**flight.condition.drawing, "temperature": flight.trial.temperature, **step.sampling}
        if step.max_tokens is not None:
            settings["max_tokens"] = step.max_tokens
        seed = flight.trial.seed
        return Prompt(
            messages=step.messages,
            sampling=Sampling(stop=step.stop, **settings),
            seed=seed if flight.n_generations == 0 else seed_from(seed, flight.n_generations),
            layout=step.layout,
            wants=(*self._kept(flight), *step.wants),
        )

    def _kept(self, flight: Flight) -> tuple[str, ...]:
        """The extras that the study wants to keep, as far as the model gives them."""
        wanted = self.wants + self.greedy_wants if flight.trial.temperature == 0 else self.wants
        if not wanted:
            return ()
        gives = flight.condition.model.gives
        return tuple(want for want in wanted if want in gives or want == "logprobs")

    def _look_up(self) -> None:
        """Answer the waiting searches and probes, until no method asks for another."""
        while self.searching or self.probing:
            self._search()
            self._probe()

    def _probe(self) -> None:
        """Answer the waiting probes together."""
        waiting, self.probing = self.probing, []
        if waiting:
            model = self.flights[waiting[0][0]].condition.model
            assert isinstance(model, WhiteBoxModel), "Planning refuses methods that want more than the model gives."
            for (ticket, _), reading in zip(waiting, model.probe([step for _, step in waiting]), strict=True):
                self._take(ticket, reading)

    def _search(self) -> None:
        """Answer the waiting searches, alike ones together."""
        if self.searching:
            waiting, self.searching = self.searching, []
            keys = [self._evidence_key(ticket, step) for ticket, step in waiting]
            wanted: dict[EvidenceKey, tuple[Flight, Search]] = {}
            for (ticket, step), key in zip(waiting, keys, strict=True):
                if key not in self.evidence:
                    wanted[key] = self.flights[ticket], step
            self._find(wanted)
            for (ticket, _), key in zip(waiting, keys, strict=True):
                self._take(ticket, self.evidence[key])
            # An engine that was down may be up again for the next search.
            for key in wanted:
                if isinstance(failure := self.evidence[key], Failure) and failure.may_retry:
                    del self.evidence[key]
            while len(self.evidence) > KEPT_EVIDENCE:
                self.evidence.popitem(last=False)

    def _evidence_key(self, ticket: int, step: Search) -> EvidenceKey:
        flight = self.flights[ticket]
        condition = flight.condition
        batch = id(condition.retriever), id(condition.perturbation), step.k
        return EvidenceKey(batch, flight.question.id, step.query)

    def _find(self, wanted: Mapping[EvidenceKey, tuple[Flight, Search]]) -> None:
        """Search and disturb, one batch for each retriever, perturbation and k."""
        batches: dict[tuple[int, int, int], list[EvidenceKey]] = {}
        for key in wanted:
            batches.setdefault(key.batch, []).append(key)
        for keys in batches.values():
            flights = [wanted[key][0] for key in keys]
            condition, k = flights[0].condition, wanted[keys[0]][1].k
            questions = [flight.question for flight in flights]
            queries = [Query(text=wanted[key][1].query, question=wanted[key][0].question) for key in keys]
            assert condition.retriever is not None and condition.perturbation is not None
            try:
                hits = _for_each(condition.retriever, condition.retriever.search(queries, k), len(queries))
            except RetrieverDown as error:
                down = Failure(kind="retriever", message=str(error), step="search", may_retry=True)
                self.evidence.update(dict.fromkeys(keys, down))
                continue
            disturbed = _for_each(condition.perturbation, condition.perturbation.perturb(questions, hits), len(queries))
            for key, question, evidence in zip(keys, questions, disturbed, strict=True):
                given = isinstance(condition.retriever, RecordRetriever)
                self.evidence[key] = evidence if evidence.hits or not given else _no_evidence(question, condition)

    def _finish(self, ticket: int, end: Answer | Failure) -> None:
        flight = self.flights.pop(ticket)
        if not isinstance(end, Answer | Failure):
            end = _broken(f"It returned {end!r}; a method returns an Answer.")
        failure = end if isinstance(end, Failure) else None
        record = Record(
            trial=flight.trial,
            answer=None if isinstance(end, Failure) else end,
            failure=failure,
            trace=tuple(flight.events),
            cost=Cost(
                n_searches=flight.n_searches,
                n_generations=flight.n_generations,
                n_prompt_tokens=flight.n_prompt_tokens,
                n_tokens=flight.n_tokens,
                seconds=flight.seconds,
            ),
        )
        self.finished.append((record, flight.condition))
        self.source.done(record)
        self.n_tokens += flight.n_tokens
        if failure is None:
            self.n_done += 1
        else:
            self.n_failed += 1

    def _store(self, model: Model) -> None:
        self.store.append(self.finished, model.environment())
        self.finished = []
        self.progress(Tick(n_done=self.n_done, n_failed=self.n_failed, n_tokens=self.n_tokens))


class Batches:
    """Lets a model that answers lists only stand where replies are taken as they come."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.waiting: list[tuple[int, Prompt]] = []

    def submit(self, ticket: int, prompt: Prompt) -> None:
        self.waiting.append((ticket, prompt))

    def collect(self) -> list[tuple[int, Completion | Failure]]:
        waiting, self.waiting = self.waiting, []
        replies = self.model.generate([prompt for _, prompt in waiting]) if waiting else []
        if len(replies) != len(waiting):
            raise ModelError(
                f"{catalog.label(self.model)} returned {len(replies)} replies for {len(waiting)} prompts. "
                "A model returns one per prompt, a Failure where it cannot answer."
            )
        return [(ticket, reply) for (ticket, _), reply in zip(waiting, replies, strict=True)]


def _steps(method: Method, wording: str) -> Steps:
    """A method's steps. It is called inside, so that one that raises at once spoils its own record only."""
    answer: Answer = yield from method.answer(wording)
    return answer


def _broken(message: str) -> Failure:
    return Failure(kind="method", message=message, step="method", may_retry=False)


def _for_each(part: Part, given: list[Given], n: int) -> list[Given]:
    if len(given) != n:
        raise PartError(
            f"{catalog.label(part)} returned {len(given)} values for {n} questions. A part returns one for each."
        )
    return given


def _kept_reply(reply: Evidence | Completion | Reading | Failure) -> Evidence | Completion | Reading | Failure:
    """What the trace keeps. Attention of a reading grows with the square of its tokens; methods note what they decide
    by it."""
    return dataclasses.replace(reply, extras={}) if isinstance(reply, Reading) else reply


def _whole(reply: Completion | Failure) -> Completion | Failure:
    """Half a character (a lone surrogate, from a reply cut inside an emoji) cannot be stored or scored as text."""
    if isinstance(reply, Failure):
        return reply
    try:
        "".join((reply.text, reply.thoughts, *reply.tokens)).encode()
        return reply
    except UnicodeEncodeError:
        return dataclasses.replace(
            reply,
            text=_mend(reply.text),
            thoughts=_mend(reply.thoughts),
            tokens=tuple(map(_mend, reply.tokens)),
            notes=(*reply.notes, "half_characters_replaced"),
        )


def _mend(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _no_evidence(question: Question, condition: Condition) -> Failure:
    return Failure(
        kind="no_evidence",
        message=(
            f"Question {question.id} has no evidence for {condition.labels['retriever']}: its record holds no "
            "supporting sentences or documents. Use a dataset with evidence, another retriever, or closed_book."
        ),
        step="search",
        may_retry=False,
    )
