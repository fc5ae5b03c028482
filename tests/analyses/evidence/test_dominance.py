from __future__ import annotations

import numpy as np
import pandas
import polars as pl
import pytest
from few_resamples import few_tables
from made_study import made_study
from score_rows import CVS, spread_study
from statsmodels.stats.anova import AnovaRM

from shaketable.analyses.evidence.dominance import Weighing, dominance
from shaketable.statistics.effect_sizes import p_of_difference, partial_epsilon_squared
from shaketable.statistics.intervals import Numbers, sign_shown


def weighings(table: pl.DataFrame) -> tuple[Weighing, ...]:
    return dominance(few_tables(table)).weighings


def pooled(table: pl.DataFrame, outcome: str = "mean") -> Weighing:
    (weighing,) = (one for one in weighings(table) if one.cell.group is None and one.outcome == outcome)
    return weighing


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_decomposition_is_that_of_statsmodels(seed: int) -> None:
    table = made_study(temperatures=(0.0, 0.5, 1.0, 2.0), n_questions=9, noise=0.05, growth=0.5, seed=seed)
    cells = table.group_by("question_id", "temperature", "perturbation").agg(pl.col("value").mean()).sort(pl.all())
    data = {name: cells[name].to_list() for name in cells.columns}
    fitted = AnovaRM(pandas.DataFrame(data), "value", "question_id", within=["temperature", "perturbation"]).fit()
    weighing = pooled(table)
    for estimate, name in (
        (weighing.temperature, "temperature"),
        (weighing.evidence, "perturbation"),
        (weighing.interaction, "temperature:perturbation"),
    ):
        f, df, df_error, _ = fitted.anova_table.loc[name]
        # F = (SS / df) / (SS error / df error), so (SS − df · SS error / df error) / (SS + SS error) follows.
        assert estimate.value == pytest.approx((f - 1) * df / (f * df + df_error))


def test_steep_heat_dominates_small_costs() -> None:
    weighing = pooled(made_study(steepness=0.5, costs={"unchanged": 0.0, "noise": 0.002}, temperatures=(0.0, 1.0, 2.0)))
    assert weighing.p is not None and weighing.p < 0.001
    temperature, evidence, difference = weighing.temperature, weighing.evidence, weighing.difference
    assert difference.low is not None and difference.low > 0
    assert temperature.value is not None and evidence.value is not None
    assert difference.value == pytest.approx(temperature.value - evidence.value)


def test_large_costs_dominate_a_flat_curve() -> None:
    table = made_study(steepness=0.0, costs={"unchanged": 0.0, "noise": 0.2}, temperatures=(0.0, 1.0, 2.0))
    weighing = pooled(table)
    assert weighing.difference.high is not None and weighing.difference.high < 0
    assert weighing.p is not None and weighing.p < 0.001


def test_dice_alone_are_undecided() -> None:
    table = made_study(steepness=0.0, costs={"unchanged": 0.0, "noise": 0.0}, temperatures=(0.0, 1.0))
    weighing = pooled(table)
    assert sign_shown(weighing.difference) == 0
    assert weighing.p is not None and weighing.p > 0.05


def test_questions_with_a_hole_are_left_out_and_counted() -> None:
    table = made_study(temperatures=(0.0, 1.0))
    hole = (pl.col("question_id") == "q0003") & (pl.col("temperature") == 1.0) & (pl.col("perturbation") == "unchanged")
    holed = table.with_columns(value=pl.when(hole).then(None).otherwise("value"))
    weighing = pooled(holed)
    assert (weighing.temperature.n, weighing.n_left_out, weighing.n_missing) == (19, 1, 3)
    assert weighing.temperature == pooled(table.filter(pl.col("question_id") != "q0003")).temperature


def test_where_nothing_varies_nothing_is_explained() -> None:
    table = made_study(temperatures=(0.0, 1.0)).with_columns(value=pl.lit(0.5))
    for weighing in weighings(table):
        assert weighing.p is None
        for effect in (weighing.temperature, weighing.evidence, weighing.interaction, weighing.difference):
            assert (effect.value, effect.reason) == (None, "nothing varies")


def test_one_kind_of_evidence_cannot_be_weighed() -> None:
    assert weighings(made_study(costs={"unchanged": 0.0})) == ()


def test_without_an_effect_it_is_about_zero_and_with_one_it_is_the_same_whatever_the_number_of_questions() -> None:
    """Means of 3,000 studies; effects of ±0.3 on all and deviations of 1 on each question make 0.09 / 1.09."""
    rng = np.random.default_rng(0)
    for n in (4, 12):
        deviations = rng.normal(size=(3000, 1, n)) * np.array([[1.0], [-1.0]])
        shared = np.array([[0.3], [-0.3]])
        without = [epsilon_of(effects) for effects in deviations]
        with_effect = [epsilon_of(effects + shared) for effects in deviations]
        assert np.mean(without) == pytest.approx(0, abs=0.03)
        assert np.mean(with_effect) == pytest.approx(0.09 / 1.09, abs=0.03)


def epsilon_of(effects: Numbers) -> float:
    return float(partial_epsilon_squared([effects])(np.ones((1, effects.shape[1])))[0, 0])


def test_a_draw_counts_pairs_of_different_questions_alone() -> None:
    """By hand: effects ±1, ±2 and ±4, of which the second is drawn twice, so that 10 of the 16 ordered pairs differ."""
    effects = np.array([[1.0, 2.0, 4.0], [-1.0, -2.0, -4.0]])
    drawn = np.array([[1.0, 2.0, 1.0]])
    pairs = 2 * (2 * 1 * (1 * 2) + 1 * (1 * 4) + 2 * (2 * 4))  # Times how often both were drawn, unordered.
    expected = (2 * pairs / 10) / (2 * (1 + 8 + 16) / 4)
    assert partial_epsilon_squared([effects])(drawn)[0] == pytest.approx([expected])


def test_the_test_of_the_difference_keeps_its_level() -> None:
    """Two factors that do the same to all questions; 400 draws: 5 % ± 1.1 %."""
    rng = np.random.default_rng(1)
    shared = np.array([[0.3], [-0.3]])
    ids = [f"q{i}" for i in range(12)]
    ps = [p_of_difference(*(rng.normal(size=(2, 1, 12)) * [[1], [-1]] + shared), ids) for _ in range(400)]
    assert 0.01 <= np.mean(np.array(ps, dtype=float) < 0.05) <= 0.08


def test_temperature_and_evidence_are_weighed_by_the_spread_of_runs_too() -> None:
    """By hand. Temperature moves the CVs of q1 by ±0.1 and of q2 by ±0.05: their product 2 · 0.1 · 0.05 over the mean
    square (2 · 0.1² + 2 · 0.05²) / 2 = 0.8. Evidence moves them by ±0.02 in opposite ways: −1. What is left is nothing,
    and explains nothing."""
    assert CVS["q1"]["unchanged"] == (0.10, 0.30)
    weighing = pooled(spread_study(), "cv")
    assert weighing.temperature.value == pytest.approx(0.8)
    assert weighing.evidence.value == pytest.approx(-1)
    assert weighing.difference.value == pytest.approx(1.8)
    assert weighing.interaction.value is None


def test_the_spread_is_weighed_only_where_runs_are_repeated() -> None:
    table = made_study(temperatures=(0.0, 1.0, 2.0))
    assert {weighing.outcome for weighing in weighings(table)} == {"mean", "cv"}
    assert {weighing.outcome for weighing in weighings(table.filter(repeat=0))} == {"mean"}


def test_a_metric_with_values_below_zero_is_weighed_by_its_mean_alone() -> None:
    table = made_study(temperatures=(0.0, 1.0), metric="bertscore_rescaled")
    assert {weighing.outcome for weighing in weighings(table)} == {"mean"}


def test_what_is_claimed_is_of_all_types_together_mean_and_spread_apart() -> None:
    claims = list(dominance(few_tables(made_study(temperatures=(0.0, 1.0)))).claims())
    assert [(claim.subject.other, claim.subject.cell.group) for claim in claims] == [("mean", None), ("cv", None)]
