from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from few_resamples import few_tables
from hypothesis import given, settings
from hypothesis import strategies as st
from score_rows import score_rows

from shaketable.analyses.evidence.degradation import degradation
from shaketable.analyses.together.context_reliance import Reliance, context_reliance

Runs = Sequence[Sequence[float | None]]


def asked(runs: Runs, **factors: Any) -> pl.DataFrame:
    given = {f"q{i}": tuple(values) for i, values in enumerate(runs)}
    return score_rows(given, metric="contains", **factors).with_columns(
        pl.col("retriever", "perturbation").cast(pl.String)
    )


def three(original: Runs, disturbed: Runs, closed: Runs, **factors: Any) -> pl.DataFrame:
    nothing: dict[str, Any] = {"method": "closed_book", "retriever": None, "perturbation": None}
    return pl.concat(
        [
            asked(original, **factors),
            asked(disturbed, **factors | {"perturbation": "sentence_removal"}),
            asked(closed, **factors | nothing),
        ]
    )


def only(table: pl.DataFrame) -> Reliance:
    (own,) = context_reliance(few_tables(table)).reliances
    return own


def test_reliance_worked_by_hand() -> None:
    # Means 1, 1/2 and 1/4: lost 1/2 of the 3/4 that evidence brings.
    own = only(three([[1, 1], [1, 1]], [[1, 0], [0, 1]], [[0, 0], [1, 0]]))
    assert own.reliance.value == pytest.approx(2 / 3)
    assert (own.original, own.disturbed, own.closed_book, own.reliance.n) == (1, 0.5, 0.25, 2)
    # They add 4/9 and 8/9, two more that lose and gain a half 0 and 4/3: 2/3 ± 3.1824 (t, 3) · 0.28689.
    assert own.reliance.low == pytest.approx(2 / 3 - 0.91300, abs=1e-5)
    assert own.reliance.high == pytest.approx(2 / 3 + 0.91300, abs=1e-5)


@pytest.mark.parametrize("n_runs", [1, 3])
def test_the_interval_covers_a_small_loss_of_few_questions(n_runs: int) -> None:
    """Simulated: evidence brings 0.6, of which a disturbance takes 0.02. Drawn again, questions none of which loses
    anything never do; then the interval was [0, 0]."""
    rng, n_covered = np.random.default_rng(n_runs), 0
    for _ in range(100):
        right = [(rng.random((12, n_runs)) < share).astype(float).tolist() for share in (0.9, 0.88, 0.3)]
        own = only(three(*right)).reliance
        n_covered += own.low is not None and own.high is not None and own.low <= 0.02 / 0.6 <= own.high
    assert n_covered >= 90


@pytest.mark.parametrize(
    ("disturbed", "closed", "expected", "is_floored"),
    [
        (1, 0, 0, False),  # ignored
        (0, 0, 1, False),  # falls back
        (0, 0.5, 2, False),  # misled
        (0, 1, 2, True),  # 1 / 0.05, clipped
        (1, 1, 0, True),
    ],
)
def test_the_ends_of_the_scale(disturbed: float, closed: float, expected: float, is_floored: bool) -> None:
    own = only(three([[1]] * 3, [[disturbed]] * 3, [[closed]] * 3))
    assert (own.reliance.value, own.is_floored) == (expected, is_floored)


def test_better_disturbed_than_original_is_clipped_below() -> None:
    assert only(three([[0]] * 2, [[1]] * 2, [[0]] * 2)).reliance.value == -1


def test_a_question_counts_with_the_wordings_asked_in_all_three_ways() -> None:
    both = pl.concat(
        [
            three([[1], [1]], [[0], [0]], [[0], [0]]),
            three([[1], [1]], [[1], [1]], [[0], [0]], variation="spelling").filter(pl.col("method") != "closed_book"),
        ]
    )
    assert only(both).disturbed == 0
    whole = pl.concat(
        [
            three([[1], [1]], [[0], [0]], [[0], [0]]),
            three([[1], [1]], [[1], [1]], [[0], [0]], variation="spelling"),
        ]
    )
    assert (only(whole).disturbed, only(whole).reliance.value) == (0.5, 0.5)


def test_closed_book_is_found_whatever_its_settings_and_as_evidence_of_answers_made_elsewhere() -> None:
    table = three([[1], [1]], [[0], [0]], [[0], [0]])
    is_closed = pl.col("method") == "closed_book"
    set_ = table.with_columns(method=pl.when(is_closed).then(pl.lit("closed_book(n_examples=2)")).otherwise("method"))
    elsewhere = table.with_columns(
        method=pl.lit("mine"), perturbation=pl.when(is_closed).then(pl.lit("closed_book")).otherwise("perturbation")
    )
    assert only(set_).reliance.value == only(elsewhere).reliance.value == 1


def test_without_closed_book_the_reason_says_what_to_add() -> None:
    table = three([[1], [1]], [[0], [0]], [[0], [0]]).filter(pl.col("method") != "closed_book")
    own = only(table)
    assert (own.reliance.value, own.reliance.n, own.original) == (None, 0, None)
    assert own.reliance.reason == "closed_book was not asked with this model at this temperature; add it to the methods"
    assert only(table.with_columns(temperature=pl.lit(1.0))).reliance.value is None


def test_a_failed_answer_is_left_out_and_counted() -> None:
    own = only(three([[1], [1], [1]], [[0], [0], [None]], [[0], [0], [0]]))
    assert (own.reliance.value, own.reliance.n, own.n_missing) == (1, 2, 1)


values = st.lists(st.lists(st.sampled_from((0.0, 1.0)), min_size=2, max_size=2), min_size=3, max_size=3)


@settings(max_examples=30, deadline=None)
@given(original=values, disturbed=values, closed=values, seed=st.integers(0, 99))
def test_reliance_is_bounded_and_no_order_changes_it(original: Runs, disturbed: Runs, closed: Runs, seed: int) -> None:
    table = three(original, disturbed, closed)
    own = only(table)
    value, low, high = own.reliance.value, own.reliance.low, own.reliance.high
    assert value is not None and low is not None and high is not None
    assert -1 <= low <= value <= high <= 2
    assert only(table.sample(fraction=1, shuffle=True, seed=seed)) == own


def test_what_evidence_brings_and_what_is_taken_are_claimed_at_the_coolest_temperature_alone() -> None:
    """By hand: 10 questions that all lose have p = 2 · 2⁻¹⁰; with one wording a loss is that of other analyses."""
    table = pl.concat([three([[1]] * 10, [[0]] * 10, [[0]] * 10, temperature=at) for at in (0.5, 1.0)])
    result = context_reliance(few_tables(table))
    cool, hot = result.reliances
    assert (cool.p_gain, cool.p_loss, cool.p_shortfall) == (2 * 0.5**10, 2 * 0.5**10, 1.0)
    assert hot.gain is None and hot.loss is None
    gain, loss, shortfall = result.claims()
    assert [claim.subject.kind for claim in (gain, loss, shortfall)] == ["evidence_gain", "evidence", "misled"]
    assert loss.subject == next(iter(degradation(few_tables(table)).claims())).subject
    assert gain.subject.cell.perturbation == "unchanged"


def test_what_evidence_brings_must_stand_whatever_failed() -> None:
    half, failing = [[1, 0]] * 20, [[1, None]] * 20
    # Right in one of two runs with or without evidence; with evidence the wrong one failed.
    own = only(three(failing, half, half))
    assert own.gain is not None and own.gain.value == 0.5
    assert (own.p_gain, own.p_loss) == (1.0, 1.0)
    settled = only(three([[1, 1]] * 20, half, half))
    assert settled.p_gain == pytest.approx(2 * 0.5**20)
