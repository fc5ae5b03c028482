"""Runs on a clock of their own, of systems whose lengths and calls are known: what is told, and the truth."""

from dataclasses import dataclass
from random import Random

from shaketable.stages.forecast import time_left
from shaketable.stages.forecast.tally import Kind, Tally, Underway
from shaketable.stages.forecast.time_left import Left, TimeLeft
from shaketable.types import Completion

CLOSING_TOKENS = 20


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@dataclass(frozen=True)
class Machine:
    """A step takes `a_step` and `a_row` for each of at most `n_rows` rows; a prompt is read before."""

    n_rows: int
    a_step: float
    a_row: float
    a_prompt_token: float


@dataclass
class Simulated:
    """A trial: how many tokens each of its calls will write, and how many the prompts have."""

    kind: Kind
    question: int
    lengths: list[int]
    limits: list[int]
    n_prompt_tokens: list[int]
    tally: Tally | None = None
    n_calls: int = 0
    n_written: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Told:
    seconds: float
    """Since the start."""
    left: Left | None
    real: float

    @property
    def holds(self):
        """Within a factor of 1.5 or five seconds; a range, where it has the truth in it."""
        if self.left is None:
            return False
        if not self.left.is_sure:
            return self.left.low <= self.real <= self.left.high
        return self.real / 1.5 <= self.left.seconds <= 1.5 * self.real or abs(self.left.seconds - self.real) <= 5


class SimulatedRun:
    """Trials in their order, the oldest first; those of a question and method share their first prompt."""

    def __init__(self, machine, trials, monkeypatch, *, max_calls, usual_calls=None, n_sharing=1):
        self.machine, self.clock = machine, Clock()
        monkeypatch.setattr(time_left, "perf_counter", self.clock)
        tallies = {}
        for trial in trials:
            method = trial.kind.method
            known = Tally(
                max_calls=max_calls.get(method), usual_calls=(usual_calls or {}).get(method), n_sharing=n_sharing
            )
            tallies.setdefault(trial.kind, known).n_unstarted += 1
        self.left = TimeLeft(tallies)
        for trial in trials:
            trial.tally = self.left.start(trial.kind)
            trial.tally.max_tokens = max(trial.tally.max_tokens, max(trial.limits))
        self.waiting, self.rows, self.read = list(trials), [], set()
        self.forecasts, self.forecast_at = [], 30.0

    def tell_all(self):
        start = self.clock.now
        self.left.begin()
        while self.waiting or self.rows:
            before, begun = self._written(), self.clock.now
            self._seat()
            done = []
            while not done:
                done = self._step()
            self.left.stepping.busy += self.clock.now - begun
            self.left.stepping.note(before, self._written(), self.clock.now - begun)
            for trial in done:
                self._reply(trial)
            if self.clock.now - start >= self.forecast_at:
                underway = [
                    Underway(trial.tally, trial.n_calls, trial.n_written, trial.limits[trial.n_calls])
                    for trial in (*self.rows, *self.waiting)
                ]
                self.forecasts.append((self.clock.now, self.left.seconds(underway, is_told=True)))
                self.forecast_at = 1.3 * (self.clock.now - start)
        return [Told(at - start, left, self.clock.now - at) for at, left in self.forecasts]

    def _written(self):
        return {id(trial): trial.n_written for trial in self.rows}

    def _seat(self):
        n = self.machine.n_rows - len(self.rows)
        seated, self.waiting = self.waiting[:n], self.waiting[n:]
        for trial in seated:
            first = trial.question, trial.kind.method
            if trial.n_calls or first not in self.read:
                trial.seconds = self.machine.a_prompt_token * trial.n_prompt_tokens[trial.n_calls]
                self.clock.now += trial.seconds
                self.read.add(first)
        self.rows += seated

    def _step(self):
        step = self.machine.a_step + self.machine.a_row * len(self.rows)
        self.clock.now += step
        for trial in self.rows:
            trial.n_written += 1
            trial.seconds += step / len(self.rows)
        done = [trial for trial in self.rows if trial.n_written >= trial.lengths[trial.n_calls]]
        self.rows = [trial for trial in self.rows if trial.n_written < trial.lengths[trial.n_calls]]
        return done

    def _reply(self, trial):
        call, limit = trial.n_calls, trial.limits[trial.n_calls]
        reply = Completion(
            text="",
            finish_reason="end",
            n_prompt_tokens=trial.n_prompt_tokens[call],
            n_tokens=trial.n_written,
            seconds=trial.seconds,
        )
        trial.tally.note(reply, 1.0, call, limit)
        trial.n_calls, trial.n_written, trial.seconds = call + 1, 0, 0.0
        if trial.n_calls == len(trial.lengths):
            trial.tally.end(trial.n_calls, limit)
        else:
            self.waiting.insert(0, trial)


def machine(rng: Random) -> Machine:
    a_row = rng.uniform(0.003, 0.012)
    return Machine(
        n_rows=rng.choice([32, 64, 128]),
        a_step=a_row * rng.uniform(4, 40),
        a_row=a_row,
        a_prompt_token=a_row * rng.uniform(0.05, 0.3),
    )


def sweep(rng: Random, n_questions: int) -> list[Simulated]:
    """One call at six temperatures: cold answers are short, hot ones go on to the limit."""
    limit = rng.choice([32, 100, 200])
    typical, hot = rng.uniform(6, 30), rng.uniform(1.0, 1.7)
    trials = []
    for question in range(n_questions):
        for temperature in (0.0, 0.4, 0.8, 1.2, 1.6, 2.0):
            for _ in range(3):
                length = limit if temperature > hot else 1 + round(rng.gammavariate(4, typical / 4))
                kind = Kind("m", "single", None, None, temperature)
                trials.append(Simulated(kind, question, [min(length, limit)], [limit], [150 + question % 60]))
    return trials


def completed(rng: Random, n_questions: int) -> list[Simulated]:
    """Two methods at three temperatures: one call, and one that most answers need another one to complete."""
    limit, typical, share = rng.choice([48, 64]), rng.uniform(10, 40), rng.uniform(0.2, 0.95)
    trials = []
    for question in range(n_questions):
        for method in ("one", "completed"):
            for temperature in (0.0, 0.7, 1.4):
                for _ in range(2):
                    n = 1 + (method == "completed" and rng.random() < share)
                    trials.append(_trial(rng, Kind("m", method, None, None, temperature), question, n, limit, typical))
    return trials


def rounds(rng: Random, n_questions: int) -> list[Simulated]:
    """Methods that ask round after round, a different number of times for each question, and complete the answer."""
    typical, trials = rng.uniform(10, 50), []
    for question in range(n_questions):
        for method, usual in USUAL_CALLS.items():
            for _ in range(3):
                n = max(1, min(round(rng.gauss(usual, usual / 3)), MAX_CALLS[method]))
                trials.append(_trial(rng, Kind("m", method, "bm25", None, 0.7), question, n, 64, typical))
    return trials


MAX_CALLS = {"single": 1, "one": 1, "completed": 2, "few_rounds": 6, "many_rounds": 100}
USUAL_CALLS = {"one": 1.0, "few_rounds": 2.5, "many_rounds": 5.0}


def _trial(rng: Random, kind: Kind, question: int, n_calls: int, limit: int, typical: float) -> Simulated:
    limits = [limit] * (n_calls - 1) + [CLOSING_TOKENS if n_calls > 1 else limit]
    lengths = [min(1 + round(rng.gammavariate(3, typical / 3)), own) for own in limits]
    return Simulated(kind, question, lengths, limits, [300 + 80 * i for i in range(n_calls)])
