from __future__ import annotations

import polars as pl
import pytest
from made_study import DROPS, pair
from score_rows import score_rows

from shaketable.analyses.evidence.equivalence import equivalence


@pytest.mark.parametrize(
    ("delta", "p", "verdict"),
    [(0.005, 0.90257, "different"), (0.01, 0.20647, "different"), (0.02, 0.00022327, "equivalent")],
)
def test_the_worked_example_of_the_specification_comes_out(delta: float, p: float, verdict: str) -> None:
    (row,) = equivalence(pair(DROPS), margin=delta).rows
    assert row["value"] == pytest.approx(0.0081)
    assert row["p"] == pytest.approx(p, rel=1e-4)
    assert row["verdict"] == verdict
    assert row["low"] < 0.0081 < row["high"]


def test_no_significance_is_not_equivalence() -> None:
    (row,) = equivalence(pair((0.05, -0.05, 0.06, -0.04)), margin=0.01).rows
    assert row["verdict"] == "undecided"


def test_no_difference_at_all_is_equivalent() -> None:
    (row,) = equivalence(pair((0.0,) * 5), margin=0.01).rows
    assert (row["value"], row["p"], row["p_difference"], row["verdict"]) == (0, 0, 1, "equivalent")


def test_the_margin_of_a_share_is_five_points() -> None:
    shares = pl.concat([score_rows({"q1": (1.0,), "q2": (0.0,)}, metric="contains", perturbation=p) for p in "ab"])
    original = score_rows({"q1": (1.0,), "q2": (0.0,)}, metric="contains")
    assert {row["delta"] for row in equivalence(pl.concat([original, shares])).rows} == {0.05}


def test_one_question_decides_nothing_and_says_why() -> None:
    (row,) = equivalence(pair((0.1,))).rows
    assert (row["verdict"], row["p"], row["reason"]) == (None, None, "fewer than two questions")
    assert equivalence(pair((0.1,))).sentences == ()


def test_tests_are_adjusted_over_temperatures() -> None:
    table = pl.concat([pair(DROPS, temperature=t) for t in (0.0, 0.2, 0.4, 0.6)])
    rows = equivalence(table, margin=0.02).rows
    assert [row["p_holm"] for row in rows] == pytest.approx([4 * 0.00022327] * 4, rel=1e-4)
    (sentence,) = equivalence(table, margin=0.02).sentences
    assert sentence.startswith(
        "Sentence removal, smollm2: equivalent to the original within 0.02 bertscore at every temperature tried."
    )
