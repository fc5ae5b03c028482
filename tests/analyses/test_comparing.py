from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from score_rows import score_rows

from shaketable.analyses.comparing import Comparison, compare_scores, judge_comparisons
from shaketable.analyses.pairs import Unpaired
from shaketable.analyses.rows import UNSETTLED
from shaketable.factors import System
from shaketable.statistics.intervals import Bootstrap

FIRST, SECOND = {"method": "closed_book"}, {"method": "single_retrieval"}
BEFORE = (1, 1, 0, 0, 0, 0, 0, 0, 1, 1)
AFTER = (0, 1, 1, 1, 1, 1, 1, 1, 1, 1)
"""One question is lost, six are gained, three are right in both."""


def runs(*values: float | Sequence[float | None] | None) -> dict[str, Sequence[float | None]]:
    """Questions q0, q1 … with their runs."""
    return {f"q{i}": own if isinstance(own, Sequence) else (own,) for i, own in enumerate(values)}


def rows(values: Mapping[str, Sequence[float | None]], **factors: Any) -> pl.DataFrame:
    return score_rows(values, **({"metric": "contains"} | factors))


def compare(first: pl.DataFrame, second: pl.DataFrame, *, metric: str = "contains", **more: Any) -> Comparison:
    return compare_scores(first, second, metric=metric, judging=metric, bootstrap=Bootstrap(n_resamples=200), **more)


def test_one_run_of_shares_is_tested_as_mcnemar_does() -> None:
    """Seven questions differ, one of them against the second: 2 (1 + 7) / 2⁷."""
    comparison = compare(rows(runs(*BEFORE), **FIRST), rows(runs(*AFTER), **SECOND))
    overall = comparison.overall
    assert (overall.first.value, overall.second.value) == (pytest.approx(0.4), pytest.approx(0.9))
    assert overall.difference.value == pytest.approx(0.5)
    assert overall.p == pytest.approx(16 / 128)
    assert overall.difference.low is not None and overall.difference.high is not None
    assert overall.difference.low < 0 < 0.5 < overall.difference.high
    assert (comparison.n_questions, comparison.n_conditions, comparison.n_pairs) == (10, 1, 10)
    assert (comparison.levels, comparison.conditions, comparison.worst_case) == ((), (), None)
    assert comparison.first == System(model="smollm2", method="closed_book", retriever="gold")


def test_flips_both_ways_add_up_to_the_difference() -> None:
    flips = compare(rows(runs(*BEFORE)), rows(runs(*AFTER))).flips
    assert flips is not None and flips.noise is None
    assert (flips.lost.value, flips.gained.value) == (pytest.approx(0.1), pytest.approx(0.6))


def test_runs_are_averaged_and_their_own_flips_are_told() -> None:
    """First: half of q0's runs are right, all of q1's; second: all of both. Runs of q0 disagree in 2 · ½ · ½ · 2 = 1
    of 1 pair; the second's never do, so of q0 half of the noise is left, of q1 none."""
    comparison = compare(rows(runs((1, 0), (1, 1))), rows(runs((1, 1), (1, 1))))
    assert comparison.overall.difference.value == pytest.approx(0.25)
    assert comparison.flips is not None and comparison.flips.noise is not None
    assert (comparison.flips.lost.value, comparison.flips.gained.value) == (0, pytest.approx(0.25))
    assert comparison.flips.noise.value == pytest.approx(0.25)


def two_conditions(unchanged: Sequence[float], removal: Sequence[float], **factors: Any) -> pl.DataFrame:
    return pl.concat(
        [rows(runs(*unchanged), **factors), rows(runs(*removal), perturbation="sentence_removal", **factors)]
    )


def test_conditions_levels_and_the_worst_case_of_each_question() -> None:
    """Worst of q0: 1 and 0; of q1: 0 and 1; of q2: 0 and 1; of q3: 0 and 0."""
    first = two_conditions((1, 1, 0, 1), (1, 0, 1, 0), **FIRST)
    second = two_conditions((1, 1, 1, 1), (0, 1, 1, 0), **SECOND)
    comparison = compare(first, second)
    assert comparison.overall.difference.value == pytest.approx(1 / 8)
    of_level = {change.cell.perturbation: change.difference.value for change in comparison.levels}
    assert of_level == {"unchanged": 0.25, "sentence_removal": 0.0}
    assert [change.difference.value for change in comparison.conditions] == [0.0, 0.25]
    assert all(change.among is not None for change in comparison.conditions)
    worst = comparison.worst_case
    assert worst is not None
    assert (worst.first.value, worst.second.value, worst.difference.value) == (0.25, 0.5, 0.25)


def test_of_a_number_that_should_be_small_the_largest_is_the_worst() -> None:
    first, second = (two_conditions(*values, metric="refusal") for values in (((0, 1), (0, 0)), ((0, 1), (1, 0))))
    worst = compare_scores(first, second, metric="refusal").worst_case
    assert worst is not None
    assert (worst.first.value, worst.second.value) == (0.5, 1)


def test_the_worst_case_is_of_as_many_runs_on_both_sides() -> None:
    """The worst of noisy means is the lower the fewer runs they have, whatever the system."""
    first = two_conditions((0, 1), (1, 0))
    second = pl.concat(
        [rows(runs((0, 1, 1), (1, 0, 1))), rows(runs((1, 1, 0), (0, 1, 1)), perturbation="sentence_removal")]
    )
    worst = compare(first, second).worst_case
    assert worst is not None
    assert (worst.first.value, worst.second.value) == (0, 0)


def test_what_has_no_partner_is_counted_with_its_reason() -> None:
    first = pl.concat([rows(runs(1, 1, 1, None)), rows({"q0": (1,)}, temperature=1.0), rows({"x": (1,)})])
    second = pl.concat([rows(runs(1, 1, None, 1)), rows({"q1": (1,)}, variation="grammar"), rows({"q4": (1,)})])
    comparison = compare(first, second)
    assert comparison.n_pairs == 2
    assert {(own.why, own.side): own.n for own in comparison.unpaired} == {
        ("condition", "first"): 1,
        ("condition", "second"): 1,
        ("no score", "first"): 1,
        ("no score", "second"): 1,
        ("question", "first"): 1,
        ("question", "second"): 1,
    }


def test_what_the_study_leaves_out_did_not_fail() -> None:
    """One passage cannot be reordered: the second run leaves all of them out, and the first has scores."""
    base = pl.concat([rows(runs(1, 1)), rows(runs(1, 0), perturbation="source_reordering")])
    new = pl.concat(
        [
            rows(runs(1, None), is_left_out=False),
            rows(runs(None, None), perturbation="source_reordering", is_left_out=True),
        ]
    )
    comparison = compare(base.with_columns(is_left_out=pl.lit(False)), new)
    assert {(own.why, own.side, own.n) for own in comparison.unpaired} == {
        ("left out", "second", 2),
        ("no score", "second", 1),
    }
    [empty] = [change for change in comparison.levels if change.cell.perturbation == "source_reordering"]
    assert {empty.first.reason, empty.second.reason, empty.difference.reason} == {"no pairs"}


def test_what_an_interrupted_run_did_not_ask_is_not_asked() -> None:
    first = pl.concat([rows(runs(1, 1)), rows(runs(1, 1), temperature=1.0)])
    second = pl.concat([rows(runs(1, 1)), rows(runs(1), temperature=1.0)])
    assert compare(first, second).unpaired == (Unpaired(why="not asked", side="second", n=1, n_questions=1),)


def test_without_evidence_is_compared_with_undisturbed_evidence() -> None:
    closed = rows(runs(*BEFORE), perturbation=None, retriever=None, **FIRST)
    comparison = compare(closed, two_conditions(AFTER, AFTER, **SECOND))
    assert (comparison.n_pairs, comparison.overall.difference.value) == (10, pytest.approx(0.5))
    assert [(own.why, own.side, own.n) for own in comparison.unpaired] == [("condition", "second", 10)]


def test_equal_systems_differ_by_exactly_nothing_and_nothing_is_claimed() -> None:
    table = pl.concat([rows(runs(*AFTER)), rows(runs((1, 0, 1), *BEFORE[1:]), temperature=1.0)])
    comparison = compare(table, table)
    assert [change.difference.value for change in (comparison.overall, *comparison.conditions)] == [0, 0, 0]
    assert {change.p for change in comparison.spoken_of} == {1}
    assert judge_comparisons([comparison]).shown == ()


def test_nothing_in_common_is_a_result_without_a_number() -> None:
    comparison = compare(rows({"q1": (1,)}), rows({"q2": (1,)}))
    assert (comparison.n_pairs, comparison.overall.difference.value, comparison.overall.p) == (0, None, None)
    assert judge_comparisons([comparison]).shown == ()


def test_many_gains_are_claimed_and_a_single_question_decides_nothing() -> None:
    comparison = compare(rows(runs(*[0] * 30)), rows(runs(*[1] * 12, *[0] * 18)))
    (claim,) = judge_comparisons([comparison]).shown
    assert (claim.subject, claim.says) == (comparison.subject(comparison.overall), "differs")
    assert judge_comparisons([compare(rows(runs(0)), rows(runs(1)))]).shown == ()


def test_many_equal_answers_are_equivalent_within_the_margin() -> None:
    """No loss in n questions bounds their share by 1 − 0.05^(1/n): below 0.05 from 59 questions on; both ways more."""
    many, few = (compare(rows(runs(*[1] * n)), rows(runs(*[1] * n)), margin=0.05) for n in (200, 40))
    assert [claim.says for claim in judge_comparisons([many]).shown] == ["equivalent"]
    assert judge_comparisons([few]).shown == ()


def test_what_failures_could_turn_is_not_claimed() -> None:
    """Of the second's 30 answers 10 failed: all wrong, the gain of 8 questions were a loss."""
    comparison = compare(rows(runs(*[0] * 20, *[1] * 10)), rows(runs(*[1] * 8, *[0] * 12, *[None] * 10)))
    overall = comparison.overall
    assert (overall.difference.n, overall.difference.value) == (20, pytest.approx(0.4))
    assert (overall.worst_low, overall.worst_high) == (pytest.approx(-2 / 30), pytest.approx(8 / 30))
    assert overall.reason == UNSETTLED
    assert judge_comparisons([comparison]).shown == ()


def drawn(rng: np.random.Generator, n: int, shares: np.ndarray, **factors: Any) -> pl.DataFrame:
    """Right answers with chances of each question, under two kinds of evidence at two temperatures, of two runs."""
    return pl.concat(
        rows(
            {f"q{i}": tuple(map(float, rng.random(2) < shares[i])) for i in range(n)},
            perturbation=perturbation,
            temperature=temperature,
            **factors,
        )
        for perturbation in ("unchanged", "sentence_removal")
        for temperature in (0.0, 1.0)
    )


@pytest.mark.slow
def test_of_two_equal_systems_hardly_ever_anything_is_claimed() -> None:
    """At most 5 %, within two errors of 300 draws: 0.05 + 2 √(0.05 · 0.95 / 300) = 0.075."""
    rng, n, n_draws = np.random.default_rng(17), 24, 300
    n_false = 0
    for _ in range(n_draws):
        shares = rng.beta(1, 1, n)
        comparison = compare(drawn(rng, n, shares, **FIRST), drawn(rng, n, shares, **SECOND))
        n_false += any(claim.says == "differs" for claim in judge_comparisons([comparison]).shown)
    assert n_false / n_draws <= 0.075
