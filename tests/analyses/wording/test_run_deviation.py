"""The spread of accuracy from run to run: Tables 13 and 14 of the study of query variation, worked by hand."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from made_wordings import made, only, tables_of, trial

from shaketable.analyses.tables import Tables
from shaketable.analyses.wording.run_deviation import run_deviation


def runs(rights: dict[str, tuple[int, ...]], n: int = 10) -> list[dict[str, Any]]:
    """Of n questions, how many were right in each run, by variation."""
    return [
        trial(f"q{i}", variation, repeat=repeat, correct=float(i < right))
        for variation, counts in rights.items()
        for repeat, right in enumerate(counts)
        for i in range(n)
    ]


def test_the_deviation_is_that_of_the_runs_accuracies() -> None:
    """.6 .7 .8: mean .7, squared deviations .01 0 .01, so sqrt(.02 / 2) = .1. 1 .5 .5: mean 2/3, squared deviations
    1/9 1/36 1/36, so sqrt(1/12)."""
    found = run_deviation(tables_of(runs({"original": (6, 7, 8), "spelling": (10, 5, 5)})))
    original = only(found.deviations, variation="original")
    assert original.value == pytest.approx(0.1)
    assert original.mean == pytest.approx(0.7)
    assert original.by_run == pytest.approx([0.6, 0.7, 0.8])
    assert (original.n, original.n_runs, original.unit, original.metric) == (10, 3, "share", "contains")
    spelled = only(found.deviations, variation="spelling")
    assert (spelled.mean, spelled.value) == (pytest.approx(2 / 3), pytest.approx((1 / 12) ** 0.5))


def test_the_divisor_can_be_the_number_of_runs() -> None:
    """sqrt(.02 / 3)."""
    found = run_deviation(tables_of(runs({"original": (6, 7, 8)})), ddof=0)
    assert only(found.deviations, variation="original").value == pytest.approx((0.02 / 3) ** 0.5)
    with pytest.raises(ValueError, match="ddof is 2; give 1"):
        run_deviation(tables_of(runs({"original": (6, 7, 8)})), ddof=2)


def test_one_run_has_a_mean_and_no_deviation() -> None:
    found = run_deviation(tables_of(runs({"original": (7,)})))
    row = only(found.deviations, variation="original")
    assert (row.value, row.mean, row.n_runs) == (None, pytest.approx(0.7), 1)
    assert row.reason == "there is one run; a deviation needs two, so raise cross.repeats"


def test_a_question_that_failed_in_one_run_is_in_none() -> None:
    """q0 fails in the second run: of q1 to q9, 5 6 and 7 are right. With q0 in the others, .6 .667 .8."""
    trials = runs({"original": (6, 7, 8)})
    trials[10] |= {"answer": None, "correct": None}
    row = only(run_deviation(tables_of(trials)).deviations, variation="original")
    assert row.by_run == pytest.approx([5 / 9, 6 / 9, 7 / 9])
    assert (row.n, row.n_failed) == (9, 1)


def test_two_rewrites_of_a_question_are_averaged_within_a_run() -> None:
    """Run 0: question a is right in one of two wordings, b in both: .75. Run 1: 0 and 1: .5. Deviation .25 / sqrt 2."""
    rights = {("a", "x"): (1, 0), ("a", "y"): (0, 0), ("b", "z"): (1, 1)}
    trials = [
        trial(question, "human", wording=wording, repeat=repeat, correct=float(right))
        for (question, wording), own in rights.items()
        for repeat, right in enumerate(own)
    ]
    row = only(run_deviation(tables_of(trials)).deviations, variation="human")
    assert row.by_run == pytest.approx([0.75, 0.5])
    assert row.value == pytest.approx(0.25 / 2**0.5)


def test_methods_and_datasets_have_rows_of_their_own() -> None:
    trials = runs({"original": (6, 7)}) + [
        trial(f"q{i}", repeat=repeat, correct=float(i < right), method="dragin", dataset=dataset, wording=dataset)
        for dataset, counts in (("squad", (1, 1)), ("nq", (0, 10)))
        for repeat, right in enumerate(counts)
        for i in range(10)
    ]
    found = run_deviation(tables_of(trials))
    assert only(found.deviations, method="search_o1").value == pytest.approx(0.1 / 2**0.5)
    assert only(found.deviations, method="dragin", dataset="squad").value == 0
    assert only(found.deviations, method="dragin", dataset="nq").value == pytest.approx(1 / 2**0.5)
    # Both together: 1 of 20, then 11 of 20.
    assert only(found.deviations, method="dragin", dataset=None).value == pytest.approx(0.5 / 2**0.5)


def test_the_main_metric_is_told_unless_another_is_named() -> None:
    """The first of which more is better: garbled answers come first here, and are not it."""
    right = made(runs({"original": (6, 7)}))[0]
    table = pl.concat([right.with_columns(metric=pl.lit(name)) for name in ("gibberish", "exact_match", "token_f1")])
    assert {deviation.metric for deviation in run_deviation(Tables(scores=table)).deviations} == {"exact_match"}
    (row,) = run_deviation(Tables(scores=table), metric="token_f1").deviations
    assert (row.metric, row.unit) == ("token_f1", "score")


def test_a_dataset_that_was_repeated_more_often_does_not_push_the_other_one_out() -> None:
    """Two datasets, of which one has two runs and one has four: together they have two, of all questions."""
    trials = [
        trial(f"q{i}", repeat=repeat, dataset=dataset, correct=float(i < right))
        for dataset, rights in (("a", (4, 8)), ("b", (2, 2, 9, 9)))
        for repeat, right in enumerate(rights)
        for i in range(10)
    ]
    trials = [row | {"key": f"{row['dataset']}/{row['key']}"} for row in trials]
    pooled = only(run_deviation(tables_of(trials)).deviations, dataset=None)
    assert pooled.by_run == pytest.approx([0.3, 0.5])
    assert (pooled.n, pooled.n_runs) == (20, 2)
