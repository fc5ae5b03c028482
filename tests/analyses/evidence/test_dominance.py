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
        # F = (SS / df) / (SS error / df error), so SS / (SS + SS error) follows.
        assert estimate.value == pytest.approx(f * df / (f * df + df_error))


def test_steep_heat_dominates_small_costs() -> None:
    weighing = pooled(made_study(steepness=0.5, costs={"unchanged": 0.0, "noise": 0.002}, temperatures=(0.0, 1.0, 2.0)))
    assert weighing.stronger == "temperature"
    temperature, evidence, difference = weighing.temperature, weighing.evidence, weighing.difference
    assert difference.low is not None and difference.low > 0
    assert temperature.value is not None and evidence.value is not None
    assert difference.value == pytest.approx(temperature.value - evidence.value)


def test_large_costs_dominate_a_flat_curve() -> None:
    table = made_study(steepness=0.0, costs={"unchanged": 0.0, "noise": 0.2}, temperatures=(0.0, 1.0, 2.0))
    assert pooled(table).stronger == "evidence"


def test_dice_alone_are_undecided() -> None:
    table = made_study(steepness=0.0, costs={"unchanged": 0.0, "noise": 0.0}, temperatures=(0.0, 1.0))
    assert pooled(table).stronger == "undecided"


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
        assert weighing.stronger is None
        for effect in (weighing.temperature, weighing.evidence, weighing.interaction, weighing.difference):
            assert (effect.value, effect.reason) == (None, "nothing varies")


def test_one_kind_of_evidence_cannot_be_weighed() -> None:
    assert weighings(made_study(costs={"unchanged": 0.0})) == ()


def test_shares_lie_between_zero_and_one() -> None:
    rng = np.random.default_rng(0)
    table = made_study(n_questions=5)
    table = table.with_columns(value=pl.Series(rng.random(len(table))))
    for weighing in weighings(table):
        for effect in (weighing.temperature, weighing.evidence, weighing.interaction):
            assert effect.low is not None and effect.high is not None
            assert 0 <= effect.low <= effect.high <= 1


def test_temperature_and_evidence_are_weighed_by_the_spread_of_runs_too() -> None:
    """By hand. Temperature moves the CVs of q1 by ±0.1 and of q2 by ±0.05: (2 · 0.075²) / ((2 · 0.1² + 2 · 0.05²) / 2)
    = 0.9. Evidence moves them by ±0.02 in opposite ways: 0. What is left is nothing, and explains nothing."""
    assert CVS["q1"]["unchanged"] == (0.10, 0.30)
    weighing = pooled(spread_study(), "cv")
    assert weighing.temperature.value == pytest.approx(0.9)
    assert weighing.evidence.value == pytest.approx(0)
    assert weighing.difference.value == pytest.approx(0.9)
    assert weighing.interaction.value is None


def test_the_spread_is_weighed_only_where_runs_are_repeated() -> None:
    table = made_study(temperatures=(0.0, 1.0, 2.0))
    assert {weighing.outcome for weighing in weighings(table)} == {"mean", "cv"}
    assert {weighing.outcome for weighing in weighings(table.filter(repeat=0))} == {"mean"}


def test_a_metric_with_values_below_zero_is_weighed_by_its_mean_alone() -> None:
    table = made_study(temperatures=(0.0, 1.0), metric="bertscore_rescaled")
    assert {weighing.outcome for weighing in weighings(table)} == {"mean"}
