from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from few_resamples import few_tables
from hypothesis import given, settings
from hypothesis import strategies as st
from made_study import DROPS, made_study, pair
from score_rows import score_rows

from shaketable.analyses.claims import claims_of
from shaketable.analyses.evidence.degradation import Loss, degradation
from shaketable.analyses.tables import Tables
from shaketable.types import Finding, Findings


def asked(table: pl.DataFrame) -> tuple[Loss, ...]:
    return degradation(Tables(scores=table)).losses


def test_the_worked_example_of_the_specification_comes_out() -> None:
    (loss,) = asked(pair(DROPS))
    assert loss.shift.value == pytest.approx(0.0085)
    assert loss.drop.value == pytest.approx(0.0081)
    assert loss.statistic == 52
    assert loss.p_ranks == pytest.approx(0.0048828, abs=1e-7)
    assert loss.shift.low is not None and loss.shift.high is not None
    assert loss.shift.low < 0.0085 < loss.shift.high
    assert (loss.drop.n, loss.shift.n, loss.n_missing) == (10, 10, 0)


def test_the_mean_is_tested_by_all_flips_of_its_signs() -> None:
    """Worked by enumeration: of 1,024 flips of the example so many have as large a sum, on either side."""
    signs = np.array(list(product((1, -1), repeat=len(DROPS))))
    reached = np.abs(signs @ np.array(DROPS)) >= abs(sum(DROPS)) - 1e-12
    (loss,) = asked(pair(DROPS))
    assert loss.p == pytest.approx(reached.mean())


def test_the_temperatures_after_the_first_weigh_as_one_claim() -> None:
    lines = [pair(DROPS, temperature=temperature) for temperature in (0.0, 0.5, 1.0)]
    claims = list(degradation(Tables(scores=pl.concat(lines))).claims())
    assert [(claim.subject.cell.temperature, claim.weight) for claim in claims] == [(0, 1), (0.5, 0.5), (1, 0.5)]


def test_thirds_that_are_equal_are_no_loss() -> None:
    """Means of three runs leave dust in their differences, which is no loss."""
    original = score_rows({f"q{i}": (0.1, 0.2, 0.4) for i in range(12)})
    disturbed = score_rows({f"q{i}": (0.4, 0.1, 0.2) for i in range(12)}, perturbation="noise")
    (loss,) = asked(pl.concat([original, disturbed]))
    assert (loss.drop.value, loss.shift.value, loss.p) == (0, 0, 1)


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
    assert (loss.shift.value, loss.drop.value, loss.p, loss.p_ranks) == (None, None, None, None)


def test_a_study_with_known_costs_is_read_rightly() -> None:
    tables = Tables(
        scores=made_study(costs={"unchanged": 0.0, "harmless": 0.0, "harmful": 0.05}, temperatures=(0.0, 1.0))
    )
    findings = Findings(findings=(Finding(analysis="", result=degradation(tables)),))
    shown = [(claim.subject.cell.perturbation, claim.subject.cell.temperature) for claim in claims_of(findings).shown]
    assert shown == [("harmful", 0.0), ("harmful", 1.0)]


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
