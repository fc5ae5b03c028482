from __future__ import annotations

import numpy as np
import pandas
import polars as pl
import pytest
from made_study import made_study
from score_rows import CVS, spread_study
from statsmodels.stats.anova import AnovaRM

from shaketable.analyses.evidence.dominance import dominance


def by_effect(table: pl.DataFrame) -> dict[str, dict[str, float]]:
    return {row["effect"]: row for row in dominance(table).rows if row["type"] is None and row["outcome"] == "mean"}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_decomposition_is_that_of_statsmodels(seed: int) -> None:
    table = made_study(temperatures=(0.0, 0.5, 1.0, 2.0), n_questions=9, noise=0.05, growth=0.5, seed=seed)
    cells = table.group_by("question_id", "temperature", "perturbation").agg(pl.col("value").mean()).sort(pl.all())
    data = {name: cells[name].to_list() for name in cells.columns}
    fitted = AnovaRM(pandas.DataFrame(data), "value", "question_id", within=["temperature", "perturbation"]).fit()
    found = by_effect(table)
    for effect, name in (
        ("temperature", "temperature"),
        ("evidence", "perturbation"),
        ("interaction", "temperature:perturbation"),
    ):
        f, df, df_error, _ = fitted.anova_table.loc[name]
        # F = (SS / df) / (SS error / df error), so SS / (SS + SS error) follows.
        assert found[effect]["value"] == pytest.approx(f * df / (f * df + df_error))


def test_steep_heat_dominates_small_costs() -> None:
    found = by_effect(made_study(steepness=0.5, costs={"unchanged": 0.0, "noise": 0.002}, temperatures=(0.0, 1.0, 2.0)))
    assert found["difference"]["verdict"] == "temperature"
    assert found["difference"]["low"] > 0
    assert found["difference"]["value"] == pytest.approx(found["temperature"]["value"] - found["evidence"]["value"])


def test_large_costs_dominate_a_flat_curve() -> None:
    table = made_study(steepness=0.0, costs={"unchanged": 0.0, "noise": 0.2}, temperatures=(0.0, 1.0, 2.0))
    assert by_effect(table)["difference"]["verdict"] == "evidence"
    assert (
        dominance(table).sentences[0].startswith("Evidence moves the bertscore of smollm2 more than temperature does.")
    )


def test_dice_alone_are_undecided() -> None:
    table = made_study(steepness=0.0, costs={"unchanged": 0.0, "noise": 0.0}, temperatures=(0.0, 1.0))
    assert by_effect(table)["difference"]["verdict"] == "undecided"
    assert "is undecided." in dominance(table).sentences[0]


def test_questions_with_a_hole_are_left_out_and_counted() -> None:
    table = made_study(temperatures=(0.0, 1.0))
    hole = (pl.col("question_id") == "q0003") & (pl.col("temperature") == 1.0) & (pl.col("perturbation") == "unchanged")
    holed = table.with_columns(value=pl.when(hole).then(None).otherwise("value"))
    found = by_effect(holed)["temperature"]
    assert (found["n"], found["n_left_out"], found["n_missing"]) == (19, 1, 3)
    assert found["value"] == by_effect(table.filter(pl.col("question_id") != "q0003"))["temperature"]["value"]


def test_where_nothing_varies_nothing_is_explained() -> None:
    table = made_study(temperatures=(0.0, 1.0)).with_columns(value=pl.lit(0.5))
    assert {(row["value"], row["reason"]) for row in dominance(table).rows} == {(None, "nothing varies")}
    assert dominance(table).sentences == ()


def test_one_kind_of_evidence_cannot_be_weighed() -> None:
    assert dominance(made_study(costs={"unchanged": 0.0})).rows == ()


def test_shares_lie_between_zero_and_one() -> None:
    rng = np.random.default_rng(0)
    table = made_study(n_questions=5)
    table = table.with_columns(value=pl.Series(rng.random(len(table))))
    for row in dominance(table).rows:
        if row["effect"] != "difference":
            assert 0 <= row["low"] <= row["high"] <= 1


def test_temperature_and_evidence_are_weighed_by_the_spread_of_runs_too() -> None:
    """By hand. Temperature moves the CVs of q1 by ±0.1 and of q2 by ±0.05: (2 · 0.075²) / ((2 · 0.1² + 2 · 0.05²) / 2)
    = 0.9. Evidence moves them by ±0.02 in opposite ways: 0. What is left is nothing, and explains nothing."""
    assert CVS["q1"]["unchanged"] == (0.10, 0.30)
    found = {
        row["effect"]: row for row in dominance(spread_study()).rows if (row["outcome"], row["type"]) == ("cv", None)
    }
    assert found["temperature"]["value"] == pytest.approx(0.9)
    assert found["evidence"]["value"] == pytest.approx(0)
    assert found["difference"]["value"] == pytest.approx(0.9)
    assert found["interaction"]["value"] is None


def test_the_spread_has_a_sentence_of_its_own_and_needs_repeats() -> None:
    table = made_study(steepness=0.5, costs={"unchanged": 0.0, "noise": 0.002}, temperatures=(0.0, 1.0, 2.0))
    assert any("spread between runs (CV) of the bertscore of smollm2" in text for text in dominance(table).sentences)
    single = dominance(table.filter(repeat=0))
    assert {row["outcome"] for row in single.rows} == {"mean"}


def test_a_metric_with_values_below_zero_is_weighed_by_its_mean_alone() -> None:
    table = made_study(temperatures=(0.0, 1.0), metric="bertscore_rescaled")
    assert {row["outcome"] for row in dominance(table).rows} == {"mean"}
