"""Time left in simulated runs of many shapes: machines, lengths, limits, calls and numbers of trials differ."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated_runs import MAX_CALLS, USUAL_CALLS, SimulatedRun, completed, machine, rounds, sweep

from shaketable.stages.forecast.drawn_rest import Kin, Paused, draw_seconds
from shaketable.stages.forecast.stepping import Stepping
from shaketable.stages.forecast.survival import Endings

SHAPES = {"sweep": (sweep, 3, 16), "completed": (completed, 6, 5), "rounds": (rounds, 2, 3)}
"""How the trials are made, questions for each of the drawn number, and rows that share a first prompt."""


def simulate(shape, seed, monkeypatch):
    """Whether each forecast from 30 seconds on holds, of a run that takes a minute or more; empty: it does not."""
    rng = Random(seed)
    computer = machine(rng)
    make, per_drawn, n_sharing = SHAPES[shape]
    trials = make(rng, per_drawn * rng.randint(2, 12))
    # What is known beforehand of a method's calls is not what this model does.
    usual = {method: calls * rng.uniform(0.75, 1.3) for method, calls in USUAL_CALLS.items()}
    run = SimulatedRun(computer, trials, monkeypatch, max_calls=MAX_CALLS, usual_calls=usual, n_sharing=n_sharing)
    told = run.tell_all()
    return [each for each in told if each.real > 10] if run.clock.now - 1000 > 60 else []


def shares(shape, n_runs, monkeypatch):
    """Of runs in which all that is told holds; of forecasts that hold; and of those that say something else."""
    runs = [told for seed in range(n_runs) if (told := simulate(shape, seed, monkeypatch))]
    forecasts = [each for told in runs for each in told]
    said = [each for each in forecasts if each.left is not None]
    assert len(runs) > 0.6 * n_runs
    return (
        sum(all(each.holds for each in told if each.left is not None) for told in runs) / len(runs),
        sum(each.holds for each in said) / len(said),
        len(said) / len(forecasts),
    )


@pytest.mark.parametrize("shape", ["sweep", "completed"])
def test_one_or_two_calls_are_forecast_within_the_factor_in_nine_runs_of_ten(shape, monkeypatch):
    runs, _, said = shares(shape, 16, monkeypatch)
    assert runs >= 0.9 and said >= 0.95


def test_round_after_round_nine_forecasts_of_ten_hold_and_most_say_something(monkeypatch):
    """How often a method asks is known from few trials when they go side by side: often a range is told."""
    _, forecasts, said = shares("rounds", 16, monkeypatch)
    assert forecasts >= 0.9 and said >= 0.85


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_hundred_runs_of_each_shape(shape, monkeypatch):
    runs, forecasts, said = shares(shape, 100, monkeypatch)
    assert forecasts >= 0.9 and said >= 0.85
    assert runs >= (0.6 if shape == "rounds" else 0.9)


# --- what the forecasts are drawn from ----------------------------------------------------------------

counts = st.dictionaries(st.integers(1, 60), st.integers(1, 9), max_size=8)
chances = st.floats(0.001, 0.999)


@given(counts, st.lists(st.integers(1, 60), max_size=8), st.integers(0, 59), chances, st.floats(-2, 2))
def test_a_drawn_end_lies_beyond_what_is_reached_and_within_the_limit(ends, underway, reached, chance, shift):
    endings = Endings(ends, underway, 64, shift, tail=0.1, unseen=0.25)
    assert reached < endings.drawn(reached, chance) <= 64


@given(counts, st.lists(st.integers(1, 60), max_size=8), chances)
def test_a_shift_to_more_never_draws_less(ends, underway, chance):
    few, many = (Endings(ends, underway, 64, shift, tail=0.1, unseen=0.25) for shift in (-1.0, 1.0))
    assert few.drawn(0, chance) <= many.drawn(0, chance)


@given(st.floats(0.01, 0.5), st.floats(0.001, 0.02), st.floats(0.05, 2.0), st.integers(0, 1000))
def test_the_costs_of_steps_rows_and_prompts_are_found_from_what_many_windows_took(a_step, a_row, a_prompt, seed):
    rng, stepping = Random(seed), Stepping()
    for _ in range(400):
        n_rows, n_new, steps = rng.randint(10, 120), rng.randint(0, 3), rng.randint(1, 6)
        before = dict.fromkeys(range(n_rows), 10)
        after = dict.fromkeys(range(n_rows), 10 + steps) | {1000 + row: steps for row in range(n_new)}
        seconds = steps * (a_step + a_row * (n_rows + n_new)) + a_prompt * n_new
        stepping.note(before, after, seconds)
    assert stepping.costs() == pytest.approx((a_step, a_row, a_prompt), rel=0.1, abs=0.01)


def kin(length, n_calls):
    def always(n):
        return Endings({n: 1}, (), n, 0.0, tail=0.5, unseen=0.0)

    return Kin(
        first=always(length),
        later=always(length),
        short=always(1),
        ends_short=0.0,
        calls=always(n_calls),
        a_token=0.01,
        first_reading=1.0,
        later_reading=2.0,
    )


def test_the_last_rows_take_steps_of_their_own():
    """Two trials of two calls of ten tokens, of which one has four tokens of its first reply. By hand: it writes
    6 + 10 tokens and reads one more prompt, the other writes 20 and reads two: 36 row steps, 2 + 1 + 2 seconds of
    reading, and 20 steps as both go side by side, or 36 one after the other."""
    waiting = [Paused(kin(10, 2), 0, 4), Paused(kin(10, 2), 0, 0)]
    assert draw_seconds(waiting, [], 8, 0.1, Random(0)) == pytest.approx(0.36 + 5 + 2.0)
    assert draw_seconds(waiting, [], 1, 0.1, Random(0)) == pytest.approx(0.36 + 5 + 3.6)


def test_trials_that_are_not_started_fill_the_rows():
    # 4,000 trials of ten tokens on eight rows: 5,000 steps, 40,000 row steps, and as many first prompts.
    assert draw_seconds([], [(kin(10, 1), 4000.0)], 8, 0.1, Random(0)) == pytest.approx(500 + 400 + 4000, rel=0.01)
