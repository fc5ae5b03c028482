from __future__ import annotations

from itertools import groupby

import polars as pl
import pytest
from few_resamples import few_tables
from hypothesis import given, settings
from hypothesis import strategies as st
from made_study import DROPS, made_study, pair
from score_rows import score_rows

from shaketable.analyses.evidence.degradation import Loss, degradation
from shaketable.analyses.tables import Tables


def asked(table: pl.DataFrame) -> tuple[Loss, ...]:
    return degradation(Tables(scores=table)).losses


def test_the_worked_example_of_the_specification_comes_out() -> None:
    (loss,) = asked(pair(DROPS))
    assert loss.shift.value == pytest.approx(0.0085)
    assert loss.mean == pytest.approx(0.0081)
    assert loss.statistic == 52
    assert loss.p == loss.p_adjusted == pytest.approx(0.0048828, abs=1e-7)
    assert loss.shift.low is not None and loss.shift.high is not None
    assert loss.shift.low < 0.0085 < loss.shift.high
    assert (loss.is_shown, loss.shift.n, loss.n_missing) == (True, 10, 0)


def test_p_values_are_adjusted_over_the_temperatures_of_a_line() -> None:
    cool, hot = asked(pl.concat([pair(DROPS, temperature=0.0), pair(tuple(-d for d in DROPS), temperature=1.0)]))
    assert cool.p is not None
    assert cool.p_adjusted == pytest.approx(2 * cool.p)
    assert (cool.is_shown, hot.is_shown) == (True, False)


def test_thirds_that_are_equal_are_no_loss() -> None:
    """Means of three runs leave dust in their differences, which is no loss."""
    original = score_rows({f"q{i}": (0.1, 0.2, 0.4) for i in range(12)})
    disturbed = score_rows({f"q{i}": (0.4, 0.1, 0.2) for i in range(12)}, perturbation="noise")
    (loss,) = asked(pl.concat([original, disturbed]))
    assert (loss.shift.value, loss.p, loss.is_shown) == (0, 1, False)


def test_an_original_without_a_name_is_an_original() -> None:
    table = pair(DROPS).with_columns(
        perturbation=pl.when(pl.col("perturbation") == "unchanged").then(None).otherwise("perturbation")
    )
    assert [loss.shift for loss in asked(table)] == [loss.shift for loss in asked(pair(DROPS))]


def test_questions_without_a_partner_are_left_out_and_records_counted() -> None:
    disturbed = score_rows({"q1": (0.8,), "q2": (None,), "q9": (0.1,)}, perturbation="noise")
    (loss,) = asked(pl.concat([score_rows({"q1": (0.9,), "q2": (0.9,), "q3": (0.9,)}), disturbed]))
    assert (loss.shift.value, loss.shift.n, loss.n_missing) == (pytest.approx(0.1), 1, 1)
    assert (loss.shift.low, loss.shift.high) == (None, None)


def test_where_nothing_can_be_compared_nothing_was_tested() -> None:
    (loss,) = asked(pl.concat([score_rows({"q1": (0.9,)}), score_rows({"q2": (0.8,)}, perturbation="noise")]))
    assert (loss.shift.value, loss.mean, loss.p, loss.is_shown) == (None, None, None, None)


def test_a_study_with_known_costs_is_read_rightly() -> None:
    losses = asked(made_study(costs={"unchanged": 0.0, "harmless": 0.0, "harmful": 0.05}, temperatures=(0.0, 1.0)))
    is_everywhere = {
        place: all(loss.is_shown for loss in line)
        for place, line in groupby(losses, key=lambda loss: (loss.cell.perturbation, loss.cell.group))
    }
    assert {is_everywhere["harmful", group] for group in (None, "bridge", "comparison")} == {True}
    assert not is_everywhere["harmless", None]


@settings(max_examples=15)
@given(
    st.lists(st.integers(-20, 20), min_size=2, max_size=12),
    st.sampled_from([0.125, -0.25, 1.0]),
    st.integers(0, 99),
)
def test_order_and_a_constant_on_all_scores_change_nothing(steps: list[int], constant: float, seed: int) -> None:
    table = pair(tuple(step / 128 for step in steps))
    moved = table.with_columns(pl.col("value") + constant).sample(fraction=1, shuffle=True, seed=seed)
    assert degradation(few_tables(moved)) == degradation(few_tables(table))
