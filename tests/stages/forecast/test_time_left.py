from collections import Counter
from dataclasses import dataclass

import pytest
from made_studies import row, study_of, write_rows

from shaketable.stages import scheduler
from shaketable.stages.answer import answer
from shaketable.stages.forecast import pace, time_left
from shaketable.stages.forecast.survival import Survival
from shaketable.stages.plan import plan
from shaketable.store import RecordStore
from shaketable.types import Completion

# --- how far a count goes ---------------------------------------------------------------------------


def test_the_mean_of_finished_ones_is_their_mean():
    assert Survival(Counter([2, 4, 4, 10]), [], 32).mean() == pytest.approx(5.0)


def test_what_is_still_to_come_is_that_of_those_who_got_as_far():
    # Of 2, 4, 4 and 10, those beyond 2 have 2, 2 and 8 to go, and the one beyond 4 has 6.
    survival = Survival(Counter([2, 4, 4, 10]), [], 32)
    assert survival.rest(2) == pytest.approx(4.0)
    assert survival.rest(4) == pytest.approx(6.0)


def test_those_under_way_count_among_the_longer_ones():
    # Worked by hand: one of four ends at 2, one of the three beyond ends at 6 when one has left the count at 4, so that
    # two were there. S = 1 to 2, 3/4 to 6, 3/8 to the limit of 10: 2 + 3 + 1.5.
    assert Survival(Counter([2, 6]), [4, 8], 10).mean() == pytest.approx(6.5)


def test_without_any_end_all_go_on_to_the_limit():
    survival = Survival(Counter(), [5, 9], 32)
    assert survival.mean() == 32
    assert survival.rest(9) == 23


def test_ends_at_nothing_count_in_the_mean_and_not_for_those_beyond():
    survival = Survival(Counter([0, 8]), [], 32)
    assert survival.mean() == pytest.approx(4.0)
    assert survival.rest(0) == pytest.approx(8.0)


# --- a simulated model on a clock of its own --------------------------------------------------------

LOADING = 60.0
ROWS = 32
STEP, ROW_STEP, READ_TOKEN = 0.05, 0.01, 0.002


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@dataclass(init=False, eq=False)
class Simulated:
    """Decodes rows together, the oldest trials first: each step takes a fixed time and some for each row, and a prompt
    is read before. One that does not tell how far it is tells the time from asked to answered, as endpoints do."""

    version = 1
    gives = frozenset()

    def __init__(self, clock, length, n_prompt_tokens=lambda prompt: 100, tells=True):
        self.clock, self.length, self.n_prompt_tokens = clock, length, n_prompt_tokens
        self.waiting, self.rows, self.is_loaded = [], [], False
        self.seconds, self.tells = {}, tells
        if tells:
            self.written = lambda: {ticket: written for ticket, _, _, written in self.rows}

    def generate(self, prompts):
        raise AssertionError("It streams.")

    def environment(self):
        if not self.is_loaded:
            self.clock.now += LOADING
            self.is_loaded = True
        return {"engine": "simulated"}

    def submit(self, ticket, prompt):
        self.waiting.append((ticket, prompt))

    def collect(self):
        while True:
            while self.waiting and len(self.rows) < ROWS:
                ticket, prompt = oldest = min(self.waiting, key=lambda one: one[0])
                self.waiting.remove(oldest)
                reading = READ_TOKEN * self.n_prompt_tokens(prompt)
                self.clock.now += reading
                self.seconds[ticket] = reading
                self.rows.append((ticket, prompt, self.length(prompt), 0))
            step = STEP + ROW_STEP * len(self.rows)
            self.clock.now += step
            for ticket, *_ in self.rows:
                self.seconds[ticket] += step / len(self.rows) if self.tells else step
            self.rows = [(ticket, prompt, length, written + 1) for ticket, prompt, length, written in self.rows]
            done = [row for row in self.rows if row[3] >= row[2]]
            self.rows = [row for row in self.rows if row[3] < row[2]]
            if done:
                return [(ticket, self._reply(ticket, prompt, length)) for ticket, prompt, length, _ in done]

    def _reply(self, ticket, prompt, length):
        return Completion(
            text="Paris",
            finish_reason="end",
            n_prompt_tokens=self.n_prompt_tokens(prompt),
            n_tokens=length,
            seconds=self.seconds[ticket],
        )


def forecasts(tmp_path, monkeypatch, model_of, n_questions=30, n_stored=0, **cross):
    """Seconds since the start, told, and really left, at every tick."""
    clock = Clock()
    monkeypatch.setattr(time_left, "perf_counter", clock)
    monkeypatch.setattr(scheduler, "perf_counter", clock)
    model = model_of(clock)
    study = study_of(write_rows(tmp_path / "q.jsonl", [row(n) for n in range(n_questions)]), **cross)
    planned = plan(study)
    monkeypatch.setattr(type(planned), "by_model", lambda self: [(model, list(self.conditions))])
    told = []
    with RecordStore(tmp_path / "r.sqlite") as store:
        answer(planned, store, lambda tick: told.append((clock.now - 1000.0, tick)))
    end = clock.now - 1000.0
    return [(at, _nearest(tick, end - at), end - at) for at, tick in told], [tick for _, tick in told]


def _nearest(tick, real):
    """What is told; of a range, what lies nearest to the truth."""
    return (
        tick.seconds_left
        if tick.seconds_range is None
        else min(max(real, tick.seconds_range[0]), tick.seconds_range[1])
    )


def worst(told, after, before_end=5):
    """The largest factor that a forecast is off, up or down."""
    late = [(left, real) for at, left, real in told if at >= after and real > before_end and left is not None]
    factors = [max(left / real, real / left) for left, real in late]
    assert len(factors) > 20
    return max(factors)


def by_temperature(prompt):
    """Cold answers are short and hot ones go on to the limit, at which they are cut."""
    return 6 + prompt.seed % 5 if prompt.sampling.temperature < 1 else prompt.sampling.max_tokens


def test_loading_is_no_speed(tmp_path, monkeypatch):
    told, ticks = forecasts(tmp_path, monkeypatch, lambda clock: Simulated(clock, lambda prompt: 10), repeats=20)
    assert worst(told, LOADING + 10) < 1.25
    assert ticks[-1].seconds == pytest.approx(told[-1][0] - LOADING)


def test_nothing_is_told_before_there_is_enough_to_tell(tmp_path, monkeypatch):
    def model(clock):
        return Simulated(clock, lambda prompt: 1 + prompt.seed % 8, lambda prompt: 1)

    told, _ = forecasts(tmp_path, monkeypatch, model, repeats=20)
    early = [left for at, left, _ in told if at < LOADING + pace.MIN_SECONDS]
    assert len(early) > 5 and set(early) == {None}
    assert all(left is not None for at, left, _ in told if at > LOADING + pace.MIN_SECONDS + 3)


HOT = {"temperatures": [0.0, 0.5, 1.5, 2.0], "repeats": 5, "generation": {"max_tokens": 200}}


def test_rows_that_are_long_at_the_beginning_do_not_mislead(tmp_path, monkeypatch):
    told, _ = forecasts(tmp_path, monkeypatch, lambda clock: Simulated(clock, by_temperature), **HOT)
    assert worst(told, LOADING + 30) < 1.5


def test_a_model_that_does_not_tell_how_far_it_is_is_taken_to_be_half_way(tmp_path, monkeypatch):
    told, _ = forecasts(tmp_path, monkeypatch, lambda clock: Simulated(clock, by_temperature, tells=False), **HOT)
    # 32 replies of 200 tokens take 75 seconds: with the first of them it is known how long they are.
    assert worst(told, LOADING + 100, before_end=60) < 1.5


def test_repeats_that_share_a_row_are_counted_as_they_come(tmp_path, monkeypatch):
    """Greedy repeats are one computation, and each of them tells its time."""

    class Sharing(Simulated):
        def submit(self, ticket, prompt):
            self.twins = getattr(self, "twins", {})
            twin = (prompt.messages, prompt.seed if prompt.sampling.temperature else 0)
            if twin in self.twins:
                self.twins[twin].append(ticket)
            else:
                self.twins[twin] = [ticket]
                super().submit(ticket, prompt)

        def collect(self):
            of = {tickets[0]: tickets for tickets in self.twins.values()}
            return [(ticket, reply) for first, reply in super().collect() for ticket in of[first]]

    told, _ = forecasts(
        tmp_path,
        monkeypatch,
        lambda clock: Sharing(clock, by_temperature),
        n_questions=12,
        temperatures=[0.0, 0.8, 1.5],
        repeats=20,
        generation={"max_tokens": 32},
    )
    assert worst(told, LOADING + 30) < 1.5


def test_kinds_of_prompts_cost_what_they_cost(tmp_path, monkeypatch):
    def n_prompt_tokens(prompt):
        return 600 if "Document:" in prompt.messages[-1].content else 40

    told, _ = forecasts(
        tmp_path,
        monkeypatch,
        lambda clock: Simulated(clock, lambda prompt: 6 + prompt.seed % 5, n_prompt_tokens),
        methods=["closed_book", "single_retrieval"],
        repeats=4,
    )
    assert worst(told, LOADING + 45) < 1.3  # The first long prompts are answered by then.


def test_methods_that_ask_several_times_are_counted_by_their_calls(tmp_path, monkeypatch, with_fake_parts):
    told, _ = forecasts(
        tmp_path,
        monkeypatch,
        lambda clock: Simulated(clock, lambda prompt: 10 + prompt.seed % 20),
        n_questions=120,
        methods=["closed_book", "two_steps"],
        temperatures=[1.0],
        repeats=1,
    )
    assert worst(told, LOADING + 30) < 1.5


def test_things_done_several_at_once_are_timed_from_the_first_that_is_finished(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(pace, "perf_counter", clock)
    steady, told = pace.Pace(), []
    clock.now += 100  # Twenty grow at once; then one is finished every two seconds.
    for done in range(1, 41):
        told.append(steady.seconds_left(done, 40))
        clock.now += 2
    assert told[7] is None and told[8] == pytest.approx(31 * 2) and told[-1] == 0
    assert steady.seconds_left(1, 10) is None


class Waking:
    """A server that takes three seconds for each of the first replies and a fiftieth of one for the others; it answers
    one after the other, and does not tell how far it is."""

    version, gives = 1, frozenset()

    def __init__(self, clock, slow=3, first=3.0, later=0.02):
        self.clock, self.slow, self.first, self.later, self.waiting, self.n = clock, slow, first, later, [], 0

    def environment(self):
        return {}

    def submit(self, ticket, prompt):
        self.waiting.append(ticket)

    def collect(self):
        seconds = self.first if self.n < self.slow else self.later
        self.n += 1
        self.clock.now += seconds
        reply = Completion(text="Oslo", finish_reason="end", n_prompt_tokens=9, n_tokens=1, seconds=seconds)
        return [(self.waiting.pop(0), reply)]

    def generate(self, prompts):
        raise AssertionError("it is asked reply by reply")


def test_a_server_that_wakes_up_does_not_make_the_rest_look_long(tmp_path, monkeypatch):
    told, _ = forecasts(tmp_path, monkeypatch, Waking, n_questions=800)
    seen = [(left, real) for _, left, real in told if left is not None and real > 2]
    assert seen[0][1] > 8, "it is told while most is left"
    # Counted from the start, the first three would make it 13 times as long.
    assert max(left / real for left, real in seen) < 2.5


def test_replies_of_one_length_are_not_thought_to_grow(tmp_path, monkeypatch):
    def steady(clock):
        return Waking(clock, slow=0, later=0.5)

    told, ticks = forecasts(tmp_path, monkeypatch, steady, n_questions=100)
    known = [tick for tick in ticks if tick.seconds_left is not None]
    assert len(known) > 80
    assert all(tick.seconds_range is None for tick in known), "one number says it"
    assert worst(told, 8) < 1.2
