from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_study import DROPS, made_study, pair
from score_rows import score_rows

from shaketable.analyses.evidence.degradation import degradation


def test_the_worked_example_of_the_specification_comes_out() -> None:
    (row,) = degradation(pair(DROPS)).rows
    assert row["value"] == pytest.approx(0.0085)
    assert row["mean"] == pytest.approx(0.0081)
    assert row["statistic"] == 52
    assert row["p"] == row["p_holm"] == pytest.approx(0.0048828, abs=1e-7)
    assert row["low"] < row["value"] < row["high"]
    assert (row["verdict"], row["everywhere"], row["n"], row["n_missing"]) == ("yes", "yes", 10, 0)


def test_p_values_are_adjusted_over_the_temperatures_of_a_line() -> None:
    table = pl.concat([pair(DROPS, temperature=0.0), pair(tuple(-d for d in DROPS), temperature=1.0)])
    cool, hot = degradation(table).rows
    assert cool["p_holm"] == pytest.approx(2 * cool["p"])
    assert (cool["verdict"], hot["verdict"]) == ("yes", "not shown")
    assert cool["everywhere"] == hot["everywhere"] == "not shown"
    assert (cool["n_shown"], cool["n_temperatures"]) == (1, 2)
    (sentence,) = degradation(table).sentences
    assert "at 1 of 2 temperatures; at the others no loss was shown." in sentence


def test_thirds_that_are_equal_are_no_loss() -> None:
    """Means of three runs leave dust in their differences, which is no loss."""
    original = score_rows({f"q{i}": (0.1, 0.2, 0.4) for i in range(12)})
    disturbed = score_rows({f"q{i}": (0.4, 0.1, 0.2) for i in range(12)}, perturbation="noise")
    (row,) = degradation(pl.concat([original, disturbed])).rows
    assert (row["value"], row["p"], row["verdict"]) == (0, 1, "not shown")


def test_an_original_without_a_name_is_an_original() -> None:
    table = pair(DROPS).with_columns(
        perturbation=pl.when(pl.col("perturbation") == "unchanged").then(None).otherwise("perturbation")
    )
    assert [row["value"] for row in degradation(table).rows] == [row["value"] for row in degradation(pair(DROPS)).rows]


def test_questions_without_a_partner_are_left_out_and_records_counted() -> None:
    disturbed = score_rows({"q1": (0.8,), "q2": (None,), "q9": (0.1,)}, perturbation="noise")
    table = pl.concat([score_rows({"q1": (0.9,), "q2": (0.9,), "q3": (0.9,)}), disturbed])
    (row,) = degradation(table).rows
    assert (row["value"], row["n"], row["n_missing"]) == (pytest.approx(0.1), 1, 1)
    assert (row["low"], row["high"]) == (None, None)


def test_a_study_with_known_costs_is_read_rightly() -> None:
    table = made_study(costs={"unchanged": 0.0, "harmless": 0.0, "harmful": 0.05}, temperatures=(0.0, 1.0))
    found = degradation(table)
    verdicts = {(row["perturbation"], row["type"]): row["everywhere"] for row in found.rows}
    assert {verdicts["harmful", type] for type in (None, "bridge", "comparison")} == {"yes"}
    assert verdicts["harmless", None] == "not shown"
    assert any(text.startswith("Harmful lowers the bertscore of smollm2 at every") for text in found.sentences)
    assert any(text.startswith("Harmless: no loss of bertscore was shown") for text in found.sentences)


@settings(max_examples=15)
@given(
    st.lists(st.integers(-20, 20), min_size=2, max_size=12),
    st.sampled_from([0.125, -0.25, 1.0]),
    st.integers(0, 99),
)
def test_order_and_a_constant_on_all_scores_change_nothing(steps: list[int], constant: float, seed: int) -> None:
    table = pair(tuple(step / 128 for step in steps))
    rows = degradation(table, n_resamples=99).rows
    moved = table.with_columns(pl.col("value") + constant).sample(fraction=1, shuffle=True, seed=seed)
    names = ("value", "low", "high", "p", "statistic", "n")
    assert [[row[name] for name in names] for row in degradation(moved, n_resamples=99).rows] == [
        [row[name] for name in names] for row in rows
    ]
