"""Trials → records: drives many methods at once and resumes each as its reply comes."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Protocol

from shaketable import catalog
from shaketable.errors import ModelError, RepliesPending, ShaketableError
from shaketable.identity import digest, seed_from
from shaketable.protocols import (
    DraftingModel,
    ForgettingModel,
    KeptLine,
    Method,
    Model,
    ReplyLine,
    Steps,
    StreamingModel,
    TellingModel,
    WhiteBoxModel,
)
from shaketable.stages.evidence_lookup import Asked, EvidenceLookup
from shaketable.stages.forecast.tally import Tally, Underway
from shaketable.stages.forecast.time_left import Left, TimeLeft
from shaketable.stages.history import continued
from shaketable.stages.kept_steps import KeptSteps
from shaketable.stages.meter import Meter, Money, Stop, System, price_of, refuse_untold
from shaketable.stages.plan import Condition, Plan
from shaketable.stages.side_by_side import SideBySide
from shaketable.stages.sources import Source
from shaketable.store.underway import KeptReply
from shaketable.text.half_characters import are_whole, mend
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
    Question,
    Reading,
    Record,
    Reply,
    Sampling,
    Search,
    Step,
    Trial,
)

WINDOW = 1024
"""Trials in flight: enough for a batch of 512 rows that answer several trials each, few enough to hold in memory."""
FORECAST_EVERY_SECONDS = 2.0
LOOKING_SHARE = 0.01
"""Of the time, at most, that is spent on asking a model how far its rows have come."""
LONG_WAIT_SECONDS = 0.5
"""Replies that took longer are stored before methods go on with them, which may load what takes seconds as well."""
TICKETS = itertools.count()
"""No number is given twice in a process: an interrupted run's replies may come when another one waits."""

Progress = Callable[["Tick"], None]
Driving = Generator[None, None, Stop | None]
"""Work that goes on when it is asked to, to its end or to a limit."""


@dataclass(frozen=True, kw_only=True)
class Tick:
    """News for a progress bar."""

    n_done: int
    n_failed: int
    n_tokens: int
    seconds: float = 0.0
    """Since the first model was loaded, later ones' loading left out."""
    seconds_left: float | None = None
    """None: too little was seen to tell."""
    seconds_range: tuple[float, float] | None = None
    """Where one number would say more than is known."""
    money: tuple[Money, ...] = ()
    """By system, of all goes."""
    n_shared: int = 0
    """Answers that were taken from other runs; not among those done."""


@dataclass(slots=True)
class Flight:
    """A trial on its way: its method, paused at a step."""

    trial: Trial
    condition: Condition
    question: Question
    steps: Steps
    tally: Tally
    events: list[Event] = field(default_factory=list)
    n_searches: int = 0
    n_generations: int = 0
    n_prompt_tokens: int = 0
    n_tokens: int = 0
    seconds: float = 0.0
    dollars: float | None = 0.0
    """None: a call had no price."""
    step: Step | None = None
    """The step whose reply it waits for."""
    n_replies: int = 0
    prompt: Prompt | None = None
    """Whose reply it waits for, or got last."""
    prompt_digest: str = ""
    """Of it, once it was needed."""

    @property
    def max_tokens(self) -> int:
        """Of the reply it waits for, or got last."""
        return 0 if self.prompt is None else self.prompt.sampling.max_tokens


class Sink(Protocol):
    """Where finished records go."""

    def append(self, records: Sequence[tuple[Record, Condition]], environment: Mapping[str, Json]) -> None: ...


class Scheduler:
    def __init__(
        self,
        plan: Plan,
        store: Sink,
        progress: Progress,
        left: TimeLeft | None = None,
        meter: Meter | None = None,
        kept: KeptSteps | None = None,
    ) -> None:
        self.store, self.progress = store, progress
        self.left, self.meter, self.kept = left or TimeLeft({}), meter or Meter(), kept or KeptSteps()
        self.questions = {question.id: question for question in plan.questions}
        self.evidence = EvidenceLookup()
        self.n_done = self.n_failed = self.n_tokens = self.n_shared = 0
        self.forecast: Left | None = None
        self.forecast_at = self.told_at = self.look_at = perf_counter()
        self.money: tuple[Money, ...] = ()
        generation = plan.study.generation
        self.wants: tuple[str, ...] = ("logprobs", "processed_logprobs") if generation.get("logprobs") else ()
        self.greedy_wants: tuple[str, ...] = ("top_logprobs",) if generation.get("top_logprobs") else ()
        self.engine: ReplyLine
        self.teller: TellingModel | None = None
        """The model, where it tells how far its rows have come."""
        self.drafter: DraftingModel | None = None
        """The model, where it tells what it has written, and there is a place to keep it."""
        self.source: Source
        self.window = SideBySide(WINDOW, None)
        self.flights: dict[int, Flight] = {}
        self.searching: list[tuple[int, Asked]] = []
        self.probing: list[tuple[int, Probe]] = []
        self.held: deque[tuple[int, Prompt]] = deque()
        """Calls that a limit stands against, as long as others are under way."""
        self.finished: list[tuple[Record, Condition]] = []
        self.waited_seconds = 0.0
        """For the next replies."""

    def run(self, model: Model, source: Source, line: KeptLine | None = None) -> Stop | None:
        """Drive all trials of one model to their ends, or to a limit of the run. `line`: where it is asked in batches;
        None: it is asked itself."""
        driving = self.drive(model, source, line)
        while True:
            try:
                next(driving)
            except StopIteration as end:
                stop: Stop | None = end.value
                return stop

    def drive(self, model: Model, source: Source, line: KeptLine | None = None) -> Driving:
        """The same, pausing whenever replies were taken: what has ended by then is in the store."""
        self.engine = line or (model if isinstance(model, StreamingModel) else Batches(model))
        self.window = SideBySide(WINDOW, self.kept.underway) if line is None else SideBySide(line.n_at_once, None)
        self.source = source
        self.teller = model if isinstance(model, TellingModel) else None
        can_keep = line is None and self.kept.underway is not None
        self.drafter = model if can_keep and isinstance(model, DraftingModel) else None
        self.meter.begin(model, in_batches=line is not None)
        try:
            return (yield from self._drive(model, source))
        except RepliesPending:
            self._store(model)
            if self.meter.is_late():
                return self._stop(model)
            for flight in self.flights.values():
                flight.tally.n_unstarted += 1
            self._drop_flights()
            self.meter.take_back()
            raise
        except BaseException as error:
            if isinstance(model, ForgettingModel):
                model.forget()
            if isinstance(error, KeyboardInterrupt):
                self._save(model)
            raise

    def _drive(self, model: Model, source: Source) -> Driving:
        while True:
            n_room = self.meter.n_to_start(self.window.n - len(self.flights), len(self.flights))
            started = source.take(n_room)
            if not started and not self.flights:
                is_at_end = bool(n_room) or not source.take(1)
                self.left.end()
                self.window.end()
                self.kept.store_drafts({})
                return None if is_at_end else self._stop(model)
            if self.meter.is_late() or (self.held and not self.meter.n_pending):
                self.window.end()
                return self._stop(model)
            self.window.begin()
            for trial, condition in started:
                ticket = next(TICKETS)
                steps = _steps(condition.method, trial.variant.text)
                tally = self.left.start(trial)
                self.flights[ticket] = Flight(trial, condition, self.questions[trial.question_id], steps, tally)
                self._resume(ticket, None)
            self._look_up()
            if self.left.begun is None:
                model.environment()  # Loads what is not loaded yet: the clock begins with the work.
                self.left.begin()
            replies = self._collect()
            if self.flights and not replies and self.drafter is None:
                raise ModelError(
                    f"{catalog.label(model)} returned nothing while {len(self.flights)} prompts were waiting. "
                    "`collect` works until at least one is finished."
                )
            self._take_each(replies)
            self._look_up()
            self._submit_held()
            self._keep()
            self._keep_drafts()
            if self.finished or perf_counter() - self.told_at >= FORECAST_EVERY_SECONDS:
                self._store(model)
            yield

    def _take_each(self, replies: Sequence[tuple[int, Completion | Failure]]) -> None:
        """Go on with the trials whose replies came."""
        n_sharing = Counter(id(reply) for _, reply in replies)
        awaited = []
        for ticket, reply in replies:
            if ticket not in self.flights:
                continue  # It was asked before an interruption, and nobody waits for it any more.
            flight, whole = self.flights[ticket], _whole(reply)
            if isinstance(whole, Completion) and flight.prompt is not None:
                self.kept.note(flight.trial.key, flight.n_replies, flight.prompt, whole, self.meter.prices)
                flight.tally.note(whole, 1 / n_sharing[id(reply)], flight.n_replies, flight.max_tokens)
                flight.n_replies += 1
            awaited.append((ticket, whole))
        if self.waited_seconds >= LONG_WAIT_SECONDS:
            self._keep()
        if replies:
            self.waited_seconds = 0.0
        for ticket, whole in awaited:
            self._take(ticket, whole)

    def _keep(self) -> None:
        """Store what came for trials that go on."""
        if self.kept.store():
            self.window.stored()

    def _keep_drafts(self) -> None:
        """Now and then, write down how far the replies have come that are waited for."""
        if self.drafter is None or perf_counter() < self.kept.draft_at:
            return
        drafts = {}
        for ticket, draft in self.drafter.drafts().items():
            if (flight := self.flights.get(ticket)) is not None:
                flight.prompt_digest = flight.prompt_digest or digest(flight.prompt)
                drafts[flight.trial.key, flight.n_replies, flight.prompt_digest] = draft
        self.kept.store_drafts(drafts)

    def _collect(self) -> Sequence[tuple[int, Completion | Failure]]:
        """The next replies; now and then with a look at how far the rows have come before and after."""
        start = perf_counter()
        teller = self.teller if start >= self.look_at else None
        before = teller.written() if teller else {}
        begun = perf_counter()
        if self.drafter is not None:
            replies = self.drafter.collect_for(max(self.kept.draft_at - begun, 0.0))
        else:
            replies = self.engine.collect()
        end = perf_counter()
        self.waited_seconds += end - begun
        self.left.stepping.busy += end - begun
        if teller:
            self.left.stepping.note(before, teller.written(), end - begun)
            now = perf_counter()
            self.look_at = now + (begun - start + now - end) / LOOKING_SHARE
        return replies

    def _stop(self, model: Model) -> Stop:
        """Let go of what is under way, at a limit: finished trials are stored, the others are asked another time."""
        self.left.expect(self.source.expected())
        stop = self.meter.stop(self._n_left())
        if self.flights and isinstance(model, ForgettingModel):
            model.forget()
        self._drop_flights()
        return stop

    def _drop_flights(self) -> None:
        for flight in self.flights.values():
            flight.steps.close()
        self.flights, self.held = {}, deque()
        self.left.end()

    def _n_left(self) -> Mapping[System, float]:
        """Trials that are not answered, by system."""
        left: Counter[System] = Counter()
        for kind, tally in self.left.tallies.items():
            left[System(kind.model, kind.method)] += tally.n_unstarted  # type: ignore[assignment]
        for flight in self.flights.values():
            left[System(flight.trial.model, flight.trial.method)] += 1
        return left

    def _resume(self, ticket: int, reply: Reply) -> None:
        """Hand a method its reply and do what it asks for next."""
        flight = self.flights[ticket]
        try:
            step = flight.steps.send(reply)
            while isinstance(step, Note):
                flight.events.append(Event(step=mend(step), reply=None))
                step = next(flight.steps)
            step = _whole_step(continued(flight.trial.variant.history, step, flight.condition.system_message))
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
            self.searching.append((ticket, Asked(flight.condition, flight.question, step)))
        elif isinstance(step, Generate):
            flight.prompt, flight.prompt_digest = self._prompt(flight, step), ""
            flight.tally.max_tokens = max(flight.tally.max_tokens, flight.max_tokens)
            if (kept := self.kept.reply_to(flight.trial.key, flight.n_replies, flight.prompt)) is not None:
                flight.n_replies += 1
                self._take(ticket, kept.reply, kept)
                return
            self.held.append((ticket, flight.prompt))
            self._submit_held()
        elif not isinstance(step, Probe):
            flight.steps.close()
            self._finish(ticket, _broken(f"It asked for {step!r}; a step is a Search, Generate, Probe or Note."))
        else:
            self.probing.append((ticket, step))

    def _submit_held(self) -> None:
        """Call the model as far as the limits allow, the oldest first."""
        while self.held and self.meter.may_call():
            self.meter.n_pending += 1
            ticket, prompt = self.held.popleft()
            flight = self.flights[ticket]
            draft = self.kept.draft_of(flight.trial.key, flight.n_replies, prompt) if self.drafter else None
            if self.drafter is not None and draft is not None:
                self.drafter.go_on(ticket, prompt, draft)
            else:
                self.engine.submit(ticket, prompt)

    def _take(
        self, ticket: int, reply: Evidence | Completion | Reading | Failure, kept: KeptReply | None = None
    ) -> None:
        """Write a reply into the trace, count it, and go on. `kept`: an earlier go got it."""
        flight = self.flights[ticket]
        assert flight.step is not None, "A reply answers a step."
        flight.events.append(Event(step=_kept_step(flight.step), reply=_kept_reply(reply)))
        if isinstance(flight.step, Search):
            flight.n_searches += 1
        elif isinstance(flight.step, Generate):
            self._pay(flight, reply, kept)
        if isinstance(reply, Failure):
            flight.steps.close()
            self._finish(ticket, reply)
            return
        if isinstance(reply, Completion):
            flight.n_prompt_tokens += reply.n_prompt_tokens
            flight.n_tokens += reply.n_tokens
            flight.seconds += reply.seconds
        self._resume(ticket, reply)

    def _pay(self, flight: Flight, reply: Evidence | Completion | Reading | Failure, kept: KeptReply | None) -> None:
        """Count a call, or those that a pipeline made, and what it cost."""
        assert isinstance(reply, Completion | Failure), "A call brings nothing else."
        dollars = price_of(reply, self.meter.prices) if kept is None else kept.dollars
        if dollars is None and isinstance(reply, Completion) and not self.meter.is_local:
            refuse_untold(self.meter.limits, flight.trial.model)
        flight.dollars = None if flight.dollars is None or dollars is None else flight.dollars + dollars
        n_calls = reply.n_calls if isinstance(reply, Completion) else 1
        flight.n_generations += n_calls
        if kept is None:
            self.meter.note(dollars, n_calls)
        else:
            self.meter.recall(n_calls, dollars)

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
            hits=step.hits,
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
                self._take(ticket, mend(reading) if isinstance(reading, Failure) else reading)

    def _search(self) -> None:
        """Answer the waiting searches together."""
        waiting, self.searching = self.searching, []
        if waiting:
            found = self.evidence.find([asked for _, asked in waiting])
            for (ticket, _), evidence in zip(waiting, found, strict=True):
                self._take(ticket, evidence)

    def _finish(self, ticket: int, end: Answer | Failure) -> None:
        flight = self.flights.pop(ticket)
        self.kept.end(flight.trial.key)
        if not isinstance(end, Answer | Failure):
            end = _broken(f"It returned {end!r}; a method returns an Answer.")
        end = _whole_end(end)
        failure = end if isinstance(end, Failure) else None
        cost = Cost(
            n_searches=flight.n_searches,
            n_generations=flight.n_generations,
            n_prompt_tokens=flight.n_prompt_tokens,
            n_tokens=flight.n_tokens,
            seconds=flight.seconds,
            dollars=flight.dollars if flight.n_generations else None,
        )
        record = Record(
            trial=flight.trial,
            answer=None if isinstance(end, Failure) else end,
            failure=failure,
            trace=tuple(flight.events),
            cost=cost,
        )
        flight.tally.end(flight.n_replies, flight.max_tokens)
        self._count(record, flight.condition)

    def _count(self, record: Record, condition: Condition) -> None:
        """A trial has ended."""
        self.meter.end(System(record.trial.model, record.trial.method), record.cost)
        self.finished.append((record, condition))
        self.source.done(record)
        self.n_tokens += record.cost.n_tokens
        if record.failure is None:
            self.n_done += 1
        else:
            self.n_failed += 1

    def _save(self, model: Model) -> None:
        """Store what has ended, and what came for trials that have not."""
        if self.finished:
            self.store.append(self.finished, model.environment())
            self.finished = []
            self.window.stored()
        self.kept.store()

    def _store(self, model: Model) -> None:
        self._save(model)
        self._tell_now(is_last=not self.flights)

    def _tell_now(self, *, is_last: bool) -> None:
        """`is_last`: nothing is under way, so that this may be the last that is told."""
        self.told_at = perf_counter()
        left = self._left()
        if is_last:
            self.money = self.meter.money(self._n_left())
        self._tell(left)

    def take_over(self, records: Sequence[tuple[Record, Condition]]) -> None:
        """Store what other runs have asked: nothing is asked or paid for it."""
        for environment, own in itertools.groupby(records, lambda taken: taken[0].environment):
            self.store.append(list(own), environment)
        for record, _ in records:
            self.left.start(record.trial)
        self.n_shared += len(records)
        self._tell(None)

    def _tell(self, left: Left | None) -> None:
        self.progress(
            Tick(
                n_done=self.n_done,
                n_failed=self.n_failed,
                n_tokens=self.n_tokens,
                seconds=self.left.elapsed(),
                seconds_left=None if left is None else left.seconds,
                seconds_range=None if left is None or left.is_sure else (left.low, left.high),
                money=self.money,
                n_shared=self.n_shared,
            )
        )

    def _left(self) -> Left | None:
        """Worked out now and then; in between, the last one less the time since."""
        now = perf_counter()
        if now - self.forecast_at >= FORECAST_EVERY_SECONDS:
            self.left.expect(self.source.expected())
            written = self.teller.written() if self.teller else None
            if not self.meter.is_kept:  # When a batch ends, nobody can tell.
                self.forecast = self.left.seconds(self._underway(written or {}), is_told=written is not None)
            self.forecast_at = now
            self.money = self.meter.money(self._n_left())
        return None if self.forecast is None else self.forecast.after(now - self.forecast_at)

    def _underway(self, written: Mapping[int, int]) -> Iterator[Underway]:
        for ticket, flight in self.flights.items():
            yield Underway(flight.tally, flight.n_replies, written.get(ticket, 0), flight.max_tokens)


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


def _kept_step(step: Step) -> Step:
    """What the trace keeps: passages stand in the evidence of a search already."""
    if isinstance(step, Search) and step.found is not None:
        return dataclasses.replace(step, found=None)
    return dataclasses.replace(step, hits=()) if isinstance(step, Generate) and step.hits else step


def _kept_reply(reply: Evidence | Completion | Reading | Failure) -> Evidence | Completion | Reading | Failure:
    """What the trace keeps. Attention of a reading grows with the square of its tokens; methods note what they decide
    by it. What a pipeline found stands in the evidence of a search."""
    if isinstance(reply, Completion) and reply.hits:
        return dataclasses.replace(reply, hits=())
    return dataclasses.replace(reply, extras={}) if isinstance(reply, Reading) else reply


def _whole(reply: Completion | Failure) -> Completion | Failure:
    """Half a character (a lone surrogate, from a reply cut inside an emoji) cannot be stored or scored as text."""
    if isinstance(reply, Failure):
        return mend(reply)
    if are_whole(reply.text, reply.thoughts, reply.written, *reply.tokens):
        return reply
    whole = dataclasses.replace(
        reply,
        text=_joined(reply.text),
        thoughts=_joined(reply.thoughts),
        written=_joined(reply.written),
        tokens=tuple(map(_joined, reply.tokens)),
        notes=(*reply.notes, "half_characters_replaced"),
    )
    return mend(whole)


def _whole_step(step: Step) -> Step:
    """Looking at each field would take longer than an instant model: what methods write is looked at."""
    match step:
        case Generate(messages=messages):
            is_whole = are_whole(*(message.content for message in messages))
        case Search(query=query, found=None):
            is_whole = are_whole(query)
        case _:
            is_whole = False
    return step if is_whole else mend(step)


def _whole_end(end: Answer | Failure) -> Answer | Failure:
    is_whole = isinstance(end, Answer) and are_whole(end.text, end.working, end.reason or "")
    return end if is_whole else mend(end)


def _joined(text: str) -> str:
    """Two halves that belong together become one character; what is left alone is replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
