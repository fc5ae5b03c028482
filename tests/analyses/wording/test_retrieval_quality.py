from __future__ import annotations

import polars as pl
import pytest
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
    rows = retrieval_quality(table()).rows
    assert [(row["perturbation"], row["contrast"], row["n"]) for row in rows] == [
        ("unchanged", None, 3),
        ("sentence_removal", None, 2),
        ("sentence_removal", "unchanged - sentence_removal", 2),
    ]
    # Before: (1 + 0.5 + 1) / 3. After: (0.25 + 0.5) / 2. Paired by question: (0.75 + 0) / 2.
    assert [row["value"] for row in rows] == pytest.approx([2.5 / 3, 0.375, 0.375])
    assert all(row["low"] <= row["value"] <= row["high"] for row in rows)
    assert {row["metric"] for row in rows} == {"recall@5"}


def test_sentences_say_what_was_measured():
    sentences = retrieval_quality(table()).sentences
    assert sentences[0].startswith("bm25, unchanged: recall@5 is 0.83 [")
    assert sentences[2].startswith("bm25: sentence removal costs 0.38 [")
    assert "(n = 2)" in sentences[2]


def test_without_retrieval_scores_it_says_so():
    (row,) = retrieval_quality(table().filter(metric="contains")).rows
    assert row["value"] is None
    assert "add retrieval to score.metrics" in row["reason"]
