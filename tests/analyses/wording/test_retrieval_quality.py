from __future__ import annotations

import polars as pl
import pytest
from few_resamples import few_tables
from score_rows import score_rows

from shaketable.analyses.wording.retrieval_quality import retrieval_quality


def table():
    before = score_rows({"q1": (1.0, 1.0), "q2": (0.5, 0.5), "q3": (1.0,)}, metric="recall@5", retriever="bm25")
    after = score_rows(
        {"q1": (0.0, 0.5), "q2": (0.5,), "q3": (None,)},
        metric="recall@5",
        retriever="bm25",
        perturbation="sentence_removal",
    )
    other = score_rows({"q1": (1.0,)}, metric="contains", retriever="bm25")
    return pl.concat([before, after, other])


def test_means_before_and_after_and_what_lies_between():
    result = retrieval_quality(few_tables(table()))
    levels = {number.cell.perturbation: number.estimate for number in result.levels}
    losses = {number.cell.perturbation: number.estimate for number in result.losses}
    assert {name: estimate.n for name, estimate in levels.items()} == {"unchanged": 3, "sentence_removal": 2}
    assert {name: estimate.n for name, estimate in losses.items()} == {"sentence_removal": 2}
    # Before: (1 + 0.5 + 1) / 3. After: (0.25 + 0.5) / 2. Paired by question: (0.75 + 0) / 2.
    estimates = [*levels.values(), *losses.values()]
    assert [estimate.value for estimate in estimates] == pytest.approx([2.5 / 3, 0.375, 0.375])
    assert all(estimate.low <= estimate.value <= estimate.high for estimate in estimates)
    numbers = (*result.levels, *result.losses)
    assert {(number.metric, number.retriever) for number in numbers} == {("recall@5", "bm25")}


def test_without_retrieval_scores_it_says_so():
    result = retrieval_quality(few_tables(table().filter(metric="contains")))
    assert result.levels == () and "add retrieval to score.metrics" in result.reason
