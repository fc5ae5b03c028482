from __future__ import annotations

import random
import time

import polars as pl
import pytest
from scipy import stats
from score_rows import TWO_QUESTIONS, score_rows, ten

from shaketable.analyses.evidence.correctness import Correctness, correctness
from shaketable.analyses.tables import Tables


def asked(*tables: pl.DataFrame, ddof: int = 1) -> Correctness:
    return correctness(Tables(scores=pl.concat(tables)), ddof=ddof)


def test_the_worked_example_of_the_specification_comes_out() -> None:
    (level,) = asked(score_rows(TWO_QUESTIONS)).levels
    assert level.mean.value == pytest.approx(0.88)
    assert level.sd_runs == pytest.approx(0.055)
    assert level.sd_questions == pytest.approx(0.1131371, abs=1e-7)
    assert (level.mean.n, level.n_missing) == (2, 0)


def test_the_band_with_ddof_zero_comes_out() -> None:
    (level,) = asked(score_rows(TWO_QUESTIONS), ddof=0).levels
    assert level.sd_runs == pytest.approx(0.0449073, abs=1e-7)


def test_a_missing_value_is_left_out_and_counted_never_a_zero() -> None:
    (level,) = asked(score_rows({"q1": (1.0, None), "q2": (0.5, 0.5), "q3": (None, None)})).levels
    assert level.mean.value == pytest.approx(0.75)
    assert (level.mean.n, level.n_missing) == (2, 3)


def test_the_interval_is_that_of_scipy_on_the_question_means() -> None:
    means = [1 + i / 19 for i in range(20)]  # beyond the scale from 0 to 1, whose far end would count
    table = score_rows({f"q{i:02}": (mean,) for i, mean in enumerate(means)})
    (level,) = asked(table).levels
    expected = stats.ttest_1samp(means, 0).confidence_interval()
    assert (level.mean.low, level.mean.high) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("n_right", [0, 10])
def test_questions_that_agree_are_not_certain(n_right: int) -> None:
    # The resamples of ten questions that agree agree too; the exact binomial interval does not pretend to know others.
    (level,) = asked(score_rows(ten(n_right), metric="contains")).levels
    exact = stats.binomtest(n_right, 10).proportion_ci(0.95, method="exact")
    assert (level.mean.value, level.mean.low, level.mean.high) == pytest.approx((n_right / 10, exact.low, exact.high))


def test_one_of_many_leaves_no_less_open_than_none() -> None:
    none, single, nine, every = (asked(score_rows(ten(n), metric="contains")).levels[0].mean for n in (0, 1, 9, 10))
    assert single.high >= none.high
    assert nine.low <= every.low


def test_a_difference_on_which_all_questions_agree_is_as_wide_as_others_may_differ() -> None:
    tables = (score_rows(ten(5), metric="contains", perturbation=name) for name in ("unchanged", "removal"))
    (lost,) = asked(*tables).evidence_drops
    never = stats.binomtest(0, 10).proportion_ci(0.95, method="exact").high
    assert (lost.drop.low, lost.drop.high) == pytest.approx((-never, never))


def test_a_single_question_has_no_interval() -> None:
    (level,) = asked(score_rows({"q1": (0.5, 0.7)})).levels
    assert (level.mean.value, level.mean.low, level.mean.high) == (pytest.approx(0.6), None, None)


def test_types_are_pooled_and_shown_apart() -> None:
    bridge = score_rows({"q1": (0.2,), "q2": (0.4,)}, type="bridge")
    comparison = score_rows({"q3": (0.9,)}, type="comparison")
    values = {level.cell.group: level.mean.value for level in asked(bridge, comparison).levels}
    assert values == pytest.approx({None: 0.5, "bridge": 0.3, "comparison": 0.9})


def test_drops_are_paired_by_question() -> None:
    clean = score_rows({"q1": (1.0,), "q2": (0.5,), "q3": (0.0,)})
    disturbed = score_rows({"q1": (0.5,), "q2": (0.25,), "q4": (0.0,)}, perturbation="sentence_removal")
    (drop,) = asked(clean, disturbed).evidence_drops
    assert drop.cell.perturbation == "sentence_removal"
    assert (drop.drop.value, drop.drop.n) == (pytest.approx(0.375), 2)


def test_heat_is_the_coolest_minus_the_hottest_paired_by_question() -> None:
    cool = score_rows({"q1": (1.0,), "q2": (0.5,), "q3": (0.0,)})
    warm, hot = (score_rows({"q1": (0.5,), "q2": (0.25,)}, temperature=t) for t in (1.0, 2.0))
    (heat,) = asked(cool, warm, hot).heat_drops
    assert (heat.coolest, heat.cell.temperature) == (0.0, 2.0)
    assert (heat.drop.value, heat.drop.n) == (pytest.approx(0.375), 2)


def test_what_was_done_as_asked_is_told_beside_what_was_done() -> None:
    clean = score_rows({"q1": (1.0,), "q2": (1.0,), "q3": (1.0,)}).with_columns(flags=pl.lit(None, dtype=pl.String))
    disturbed = score_rows({"q1": (0.5,), "q2": (0.25,), "q3": (1.0,)}, perturbation="masking").with_columns(
        flags=pl.when(pl.col("question_id") == "q3").then(pl.lit("fallback"))
    )
    plain, as_asked = asked(clean, disturbed).evidence_drops
    assert (plain.is_as_asked, plain.drop.value, plain.drop.n) == (False, pytest.approx(1.25 / 3), 3)
    assert (as_asked.is_as_asked, as_asked.drop.value, as_asked.drop.n) == (True, pytest.approx(0.625), 2)
    assert as_asked.cell == plain.cell


def test_order_and_company_change_nothing() -> None:
    table = pl.concat(
        [
            score_rows(
                {f"q{i}": (i / 10, i / 20) for i in range(10)}, perturbation=perturbation, temperature=temperature
            )
            for perturbation in ("unchanged", "entity_masking")
            for temperature in (0.0, 1.0)
        ]
    )
    whole = asked(table)
    assert asked(table.sample(fraction=1.0, shuffle=True, seed=1)) == whole
    (alone,) = asked(table.filter(perturbation="unchanged", temperature=0.0)).levels
    (same,) = (level for level in whole.levels if level.cell == alone.cell)
    assert same.mean == alone.mean


def test_an_empty_table_gives_an_empty_result() -> None:
    result = asked(score_rows({"q1": (1.0,)}).clear())
    assert result == Correctness(metric=None, levels=(), evidence_drops=(), heat_drops=())


def test_a_table_without_any_value_claims_nothing() -> None:
    (level,) = asked(score_rows({"q1": (None,), "q2": (None,)})).levels
    assert (level.mean.value, level.mean.n, level.n_missing) == (None, 0, 2)
    assert level.mean.reason


def test_440_conditions_of_100_questions_take_a_few_seconds() -> None:
    rng = random.Random(0)
    questions = {f"q{i}": tuple(rng.random() for _ in range(3)) for i in range(100)}
    table = pl.concat(
        [
            score_rows(questions, model=f"m{model}", perturbation=perturbation, temperature=step / 5)
            for model in range(10)
            for perturbation in ("unchanged", "a", "b", "c")
            for step in range(11)
        ]
    )
    started = time.monotonic()
    assert len(asked(table).levels) == 440
    assert time.monotonic() - started < 10
