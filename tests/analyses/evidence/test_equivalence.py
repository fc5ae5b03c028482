from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from made_study import DROPS, pair
from scipy import stats
from score_rows import score_rows

from shaketable.analyses.evidence.degradation import degradation
from shaketable.analyses.evidence.equivalence import EquivalenceTest, equivalence
from shaketable.analyses.tables import Tables


def asked(table: pl.DataFrame, margin: float | str | None = None) -> tuple[EquivalenceTest, ...]:
    return equivalence(Tables(scores=table), margin=margin).tests


@pytest.mark.parametrize(("delta", "is_inside"), [(0.005, False), (0.01, False), (0.02, True)])
def test_the_worked_example_of_the_specification_comes_out(delta: float, is_inside: bool) -> None:
    """By t alone p is 0.90257, 0.20647 and 0.00022327; bounds that are moved by skewness say no more than that."""
    (test,) = asked(pair(DROPS), margin=delta)
    assert test.difference.value == pytest.approx(0.0081)
    assert test.p is not None and test.p >= {0.005: 0.902, 0.01: 0.206, 0.02: 0.0002}[delta]
    assert (test.p < 0.05) == is_inside
    assert test.p_difference == pytest.approx(0.0097656, abs=0.01)


def test_no_significance_is_not_equivalence() -> None:
    (test,) = asked(pair((0.05, -0.05, 0.06, -0.04)), margin=0.01)
    assert test.p is not None and test.p_difference is not None and min(test.p, test.p_difference) > 0.05


def shares(n: int, n_lost: int = 0) -> pl.DataFrame:
    right = {f"q{i:03}": (1.0,) for i in range(n)}
    disturbed = {id: (0.0,) if i < n_lost else value for i, (id, value) in enumerate(right.items())}
    return pl.concat(
        [score_rows(right, metric="contains"), score_rows(disturbed, metric="contains", perturbation="noise")]
    )


@pytest.mark.parametrize(("n", "is_equivalent"), [(3, False), (8, False), (24, False), (100, True)])
def test_questions_that_agree_are_no_endless_evidence(n: int, is_equivalent: bool) -> None:
    """Of 58 questions that agree, fewer than 5 % of all lose with 95 % confidence: 0.95⁵⁸ = 0.051."""
    (test,) = asked(shares(n), margin=0.05)
    assert test.p_difference == 1
    assert test.p is not None and (test.p < 0.05) == is_equivalent


def test_a_loss_at_the_margin_is_equivalent_in_no_more_than_one_of_twenty() -> None:
    """5 % of questions lose, margin 0.05: the share of studies by how many of n lose."""
    for n in (3, 12, 24, 60, 200):
        ps = [test.p for n_lost in range(min(n, 12)) for test in asked(shares(n, n_lost), margin=0.05)]
        chances = stats.binom.pmf(np.arange(len(ps)), n, 0.05)
        assert chances[np.array(ps, dtype=float) < 0.05].sum() <= 0.05


def test_the_margin_of_a_share_is_five_points() -> None:
    assert {test.delta for test in asked(shares(3))} == {0.05}


def test_the_margin_of_the_study_is_taken_for_its_own_number_alone() -> None:
    both = pl.concat([pair(DROPS), pair(DROPS, metric="token_f1")])
    tables = Tables(scores=both, margin=0.02)
    assert {test.delta for test in equivalence(tables).tests} == {0.02}
    assert 0.02 not in {test.delta for test in equivalence(tables, metric="token_f1").tests}


def test_one_question_decides_nothing_and_says_why() -> None:
    (test,) = asked(pair((0.1,)))
    assert (test.p_difference, test.p, test.difference.reason) == (None, None, "fewer than two questions")


def test_equivalence_and_difference_are_claimed_of_the_same_subject_as_a_loss() -> None:
    tables = Tables(scores=pl.concat([pair(DROPS, temperature=t) for t in (0.0, 1.0)]))
    claims = list(equivalence(tables, margin=0.02).claims())
    assert [(claim.says, claim.margin) for claim in claims[:2]] == [("differs", None), ("equivalent", 0.02)]
    losses = {claim.subject: (claim.estimate, claim.p, claim.weight) for claim in degradation(tables).claims()}
    assert {claim.subject: (claim.estimate, claim.p, claim.weight) for claim in claims[::2]} == losses


def test_equivalence_must_stand_had_all_failed_answers_been_wrong() -> None:
    """20 of 220 disturbed answers failed: they may hide a loss of 9 points."""
    right = {f"q{i:03}": (1.0,) for i in range(220)}
    failed = {id: (None,) if i < 20 else value for i, (id, value) in enumerate(right.items())}
    whole, holed = (
        asked(
            pl.concat([score_rows(right, metric="contains"), score_rows(own, metric="contains", perturbation="noise")]),
            margin=0.05,
        )[0]
        for own in (right, failed)
    )
    assert whole.p is not None and holed.p is not None
    assert whole.p < 0.001 and holed.p > 0.5
