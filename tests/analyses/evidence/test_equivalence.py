from __future__ import annotations

import polars as pl
import pytest
from made_study import DROPS, pair
from score_rows import score_rows

from shaketable.analyses.evidence.equivalence import EquivalenceTest, equivalence
from shaketable.analyses.tables import Tables


def asked(table: pl.DataFrame, margin: float | str | None = None) -> tuple[EquivalenceTest, ...]:
    return equivalence(Tables(scores=table), margin=margin).tests


@pytest.mark.parametrize(
    ("delta", "p", "verdict"),
    [(0.005, 0.90257, "different"), (0.01, 0.20647, "different"), (0.02, 0.00022327, "equivalent")],
)
def test_the_worked_example_of_the_specification_comes_out(delta: float, p: float, verdict: str) -> None:
    (test,) = asked(pair(DROPS), margin=delta)
    assert test.difference.value == pytest.approx(0.0081)
    assert test.p == pytest.approx(p, rel=1e-4)
    assert test.verdict == verdict
    assert test.difference.low is not None and test.difference.high is not None
    assert test.difference.low < 0.0081 < test.difference.high


def test_no_significance_is_not_equivalence() -> None:
    (test,) = asked(pair((0.05, -0.05, 0.06, -0.04)), margin=0.01)
    assert test.verdict == "undecided"


def test_no_difference_at_all_is_equivalent() -> None:
    (test,) = asked(pair((0.0,) * 5), margin=0.01)
    assert (test.difference.value, test.p, test.p_difference, test.verdict) == (0, 0, 1, "equivalent")


def test_the_margin_of_a_share_is_five_points() -> None:
    shares = pl.concat([score_rows({"q1": (1.0,), "q2": (0.0,)}, metric="contains", perturbation=p) for p in "ab"])
    original = score_rows({"q1": (1.0,), "q2": (0.0,)}, metric="contains")
    assert {test.delta for test in asked(pl.concat([original, shares]))} == {0.05}


def test_the_margin_of_the_study_is_taken_for_its_own_number_alone() -> None:
    both = pl.concat([pair(DROPS), pair(DROPS, metric="token_f1")])
    tables = Tables(scores=both, margin=0.02)
    assert {test.delta for test in equivalence(tables).tests} == {0.02}
    assert 0.02 not in {test.delta for test in equivalence(tables, metric="token_f1").tests}


def test_one_question_decides_nothing_and_says_why() -> None:
    (test,) = asked(pair((0.1,)))
    assert (test.verdict, test.p, test.difference.reason) == (None, None, "fewer than two questions")


def test_tests_are_adjusted_over_temperatures() -> None:
    table = pl.concat([pair(DROPS, temperature=t) for t in (0.0, 0.2, 0.4, 0.6)])
    assert [test.p_adjusted for test in asked(table, margin=0.02)] == pytest.approx([4 * 0.00022327] * 4, rel=1e-4)
