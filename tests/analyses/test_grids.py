"""Failed answers in grids: what the means would be had all of them been wrong, or all been right."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from score_rows import score_rows

from shaketable.analyses.conditions import scales
from shaketable.analyses.failures import worst_drops
from shaketable.analyses.grids import Grid, systems
from shaketable.statistics.sign_flips import sign_flip


def grid(*tables: pl.DataFrame) -> Grid:
    [made] = systems(pl.concat(tables, how="diagonal"), None)
    return made


def test_failed_runs_are_filled_with_the_ends_of_the_scale():
    # q1 has one right answer, one wrong and two that failed: 1/4 at least, 3/4 at most.
    own = grid(score_rows({"q1": (1.0, 0.0, None, None), "q2": (1.0, 1.0, 1.0, 1.0)}, metric="correct"))
    least, greatest = own.filled()
    assert own.means[0, 0].tolist() == [0.5, 1.0]
    assert least.means[0, 0].tolist() == [0.25, 1.0]
    assert greatest.means[0, 0].tolist() == [0.75, 1.0]
    assert own.is_uncertain().tolist() == [[True]]
    assert (own.n_failed[0, 0].tolist(), own.n_runs[0, 0].tolist()) == ([2, 0], [2, 4])


def test_drops_are_filled_on_both_sides():
    original = score_rows({"q1": (1.0,), "q2": (None,), "q3": (1.0,)}, metric="correct")
    disturbed = score_rows({"q1": (0.0,), "q2": (1.0,), "q3": (None,)}, metric="correct", perturbation="typos")
    own = grid(original, disturbed)
    assert np.array_equal(own.drops()[0, 0], [1.0, np.nan, np.nan], equal_nan=True)
    wrong, right = (filled.drops()[0, 0].tolist() for filled in own.filled())
    assert wrong == [1.0, -1.0, 1.0]
    assert right == [1.0, 0.0, 0.0]


def test_the_ends_of_a_drop_fill_both_sides_the_other_way():
    """Worked by hand: 14 pairs are known, 6 of which lose; 4 answers failed when disturbed and 2 before.

    At least 6 are lost and 2 gained of 20, 4/20; at most 6 and those 4 are lost, 10/20. All wrong (8/20) and all right
    (6/20) are no ends: what was measured, 6/14, lies beyond both.
    """
    before = [1.0] * 18 + [None] * 2
    after = [1.0] * 8 + [0.0] * 6 + [None] * 4 + [1.0] * 2
    own = grid(
        score_rows({f"q{i:02}": (value,) for i, value in enumerate(before)}, metric="correct"),
        score_rows({f"q{i:02}": (value,) for i, value in enumerate(after)}, metric="correct", perturbation="typos"),
    )
    [case] = worst_drops(own, lambda values: sign_flip(values, own.question_ids))
    assert np.nanmean(own.drops()) == pytest.approx(6 / 14)
    assert (case.low, case.high) == (pytest.approx(4 / 20), pytest.approx(10 / 20))


def test_the_ends_of_a_sum_follow_the_sign_of_each_cell():
    own = grid(
        score_rows({"q1": (None, 1.0)}, metric="correct"),
        score_rows({"q1": (None, 1.0)}, metric="correct", temperature=1.0),
    )
    least, greatest = own.at_ends(np.array([[1.0, -1.0]]))
    assert least.means[0, :, 0].tolist() == [0.5, 1.0]
    assert greatest.means[0, :, 0].tolist() == [1.0, 0.5]


def test_a_question_that_the_metric_scores_nowhere_did_not_fail():
    rows = {"q1": (1.0, 1.0), "no gold": (None, None)}
    own = grid(score_rows(rows, metric="correct"), score_rows(rows, metric="correct", temperature=1.0))
    assert not own.is_uncertain().any()
    assert np.isnan(own.filled()[0].means[0, :, 0]).all()


def test_what_the_study_leaves_out_did_not_fail():
    rows = score_rows({"q1": (1.0,), "q2": (1.0,)}, metric="correct").with_columns(is_left_out=pl.lit(False))
    undone = score_rows({"q1": (None,), "q2": (0.0,)}, metric="correct", perturbation="typos")
    own = grid(rows, undone.with_columns(is_left_out=pl.col("value").is_null()))
    assert own.n_missing.sum() == 1 and own.n_failed.sum() == 0
    assert np.isnan(own.filled()[1].means[1, 0, 0])


def test_types_keep_their_own_failures():
    bridge = score_rows({"q1": (1.0,)}, metric="correct", type="bridge")
    comparison = score_rows({"q2": (None,)}, metric="correct", type="comparison")
    known = score_rows({"q2": (1.0,)}, metric="correct", type="comparison", temperature=1.0)
    by_type = grid(bridge, comparison, known).by_type()
    assert [own.is_uncertain()[0, 0] for own in by_type] == [False, True]


@pytest.mark.parametrize(
    ("metric", "values", "ends"),
    [
        ("correct", (1.0, 1.0), (0.0, 1.0)),
        ("token_f1", (0.2, 0.4), (0.0, 1.0)),
        ("bertscore_rescaled", (-0.2, 0.4), (-0.2, 1.0)),
        ("answer_tokens", (3.0, 7.0), (0.0, 7.0)),
        ("of their own", (-3.0, 7.0), (-3.0, 7.0)),
        ("their verdict", (1.0, 1.0), (0.0, 1.0)),
    ],
)
def test_ends_of_a_scale_are_declared_or_else_those_that_were_seen(metric, values, ends):
    [(_, *found)] = scales(score_rows({"q1": values}, metric=metric)).rows()
    assert tuple(found) == ends
