"""A small version of `benchmarks/honesty.py`: what is drawn is known, what is counted is right."""

from __future__ import annotations

import numpy as np
import pytest
from honesty import Case
from known_truth import draws, intervals, margins, nothing, power
from known_truth.rows import Row, covered, merge
from known_truth.studies import MAKERS, null_study
from known_truth.words import asserts

from shaketable.types import Estimate


def interval(low: float | None, high: float | None) -> Estimate:
    return Estimate(value=0.5, low=low, high=high, level=0.95, n=24, how="by hand")


# --- counting -------------------------------------------------------------------------------------


def test_intervals_that_hold_the_truth_are_counted_among_those_that_there_are():
    row = covered("by hand", 24, 0.1, [interval(0, 0.2), interval(0.2, 0.3), interval(None, None)])
    assert (row.hits, row.n_draws, row.note) == (1, 2, "33% without an interval")


@pytest.mark.parametrize(("hits", "verdict"), [(92, "ok"), (80, "NOT"), (100, "ok")])
def test_a_verdict_allows_for_two_errors_of_the_simulation(hits, verdict):
    assert Row(part="", what="", n=24, hits=hits, n_draws=100, least=0.93, most=0.98).verdict == verdict


def test_draws_of_the_same_are_merged():
    first = Row(part="", what="a", n=24, hits=1, n_draws=2, kinds=("heat",))
    (row,) = merge([first, first])
    assert (row.hits, row.n_draws, row.kinds) == (2, 4, ("heat", "heat"))


@pytest.mark.parametrize(
    ("text", "is_claim"),
    [
        ("Sentence removal costs model 10 points of correctness [2, 18] at temperature 0.", True),
        ("Sentence removal: an effect on the correctness of model is not shown.", False),
        ("Whether temperature or evidence moves the bertscore of model more than the other is undecided.", False),
        ("The higher the temperature of model, the more masking costs it: 3 points per unit of temperature.", True),
        ("No rewording is shown to lower the correctness. Spelling costs model 3 points.", True),
        ("Masking hurts model more than removal at every temperature tried; that it changes is not shown.", True),
        ("model is correct in 60 % [40, 80] at temperature 0.", False),
    ],
)
def test_words_that_say_that_something_differs_are_found(text, is_claim):
    assert asserts(text) is is_claim


# --- drawing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("icc", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("runs", [1, 3])
def test_as_much_is_lost_as_was_asked_for(icc, runs):
    values = draws.lost_shares(np.random.default_rng(0), 200, 500, mean=0.6, lose=0.1, gain=0.03, icc=icc, runs=runs)
    original, disturbed = values.mean(axis=(0, 2, 3, 4))
    assert original == pytest.approx(0.6, abs=0.01)
    assert original - disturbed == pytest.approx(0.07, abs=0.01)


# --- what must hold -------------------------------------------------------------------------------


def verdicts(case: Case, n_draws: int) -> dict[str, str]:
    return {row.what: row.verdict for row in case.run(range(n_draws))}


@pytest.mark.slow
@pytest.mark.parametrize("n", [12, 24])
def test_intervals_of_shares_and_of_their_differences_hold_the_truth(n):
    measured = [verdicts(case, 200) for case in intervals.share_cases(n, full=False)]
    assert "NOT" not in {verdict for own in measured for verdict in own.values()}, measured


@pytest.mark.slow
@pytest.mark.parametrize("n", [24, 60])
def test_intervals_of_scores_hold_the_truth_where_no_disaster_hides(n):
    measured = [verdicts(case, 200) for case in intervals.score_cases(n, full=False)]
    assert {what for own in measured for what, verdict in own.items() if verdict == "NOT" and "normal" in what} == set()


@pytest.mark.slow
@pytest.mark.parametrize("n", [3, 12, 60])
def test_shares_at_the_margin_are_not_called_equivalent_nor_their_temperature_a_ceiling(n):
    at_margin = [case for case in margins.cases(full=False) if case.n == n and "scores" not in case.what]
    measured = [verdicts(case, 200) for case in at_margin]
    assert len(measured) == 3
    assert "NOT" not in {verdict for own in measured for verdict in own.values()}, measured


@pytest.mark.slow
@pytest.mark.parametrize("n", [60, 200])
def test_a_planted_loss_is_found_as_often_as_by_plain_tests(n):
    assert set(verdicts(power.Power(loss=0.1, n=n, runs=1), 200).values()) == {"ok"}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n_draws"), [("demo", 20), ("factual_robustness", 10), ("joint", 5)])
def test_studies_in_which_nothing_differs_claim_nothing(name, n_draws):
    measured = verdicts(nothing.Nothing(study=name, n=24), n_draws)
    assert measured[f"{name}: false claims"] == "ok"
    assert measured[f"{name}: analyses that fail"] == "ok"


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
def test_a_small_study_without_an_effect_goes_through_all_its_analyses(name):
    said = null_study(name, np.random.default_rng(0), 8, "q")
    assert said.headlines
    assert said.failed == ()
