"""How far two judges agree, against hand-worked tables and an independent implementation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa

from shaketable.statistics.agreement import Agreement, agreement_of


def agreement(
    both: int, first: int, second: int, neither: int, per_question: int = 1, n_resamples: int = 2000
) -> Agreement:
    """Of so many things to which both say yes, the first alone, the second alone, neither."""
    pairs = [(True, True)] * both + [(True, False)] * first + [(False, True)] * second + [(False, False)] * neither
    questions = [f"q{i // per_question}" for i in range(len(pairs))]
    return agreement_of(questions, *zip(*pairs, strict=True), confidence=0.95, n_resamples=n_resamples)


def test_agreement_and_kappa_by_hand():
    # The usual textbook table: 20 and 15 of 50 alike, marginals 25/25 and 30/20: (0.7 - 0.5) / (1 - 0.5) = 0.4.
    found = agreement(20, 5, 10, 15)
    assert (found.share.value, found.share.n) == (0.7, 50)
    assert found.kappa.value == pytest.approx(0.4)
    assert found.kappa_reason is None
    # Standard error of kappa there is 0.13 (Fleiss, Cohen and Everitt 1969, as statsmodels has it).
    theirs = cohens_kappa(np.array([[20, 5], [10, 15]]))
    assert found.kappa.low == pytest.approx(theirs.kappa_low, abs=0.04)
    assert found.kappa.high == pytest.approx(theirs.kappa_upp, abs=0.04)


@given(st.tuples(*[st.integers(0, 12)] * 4).filter(lambda t: sum(t) > 1 and max(t[0], t[3]) < sum(t)))
def test_kappa_is_that_of_statsmodels(table):
    found = agreement(*table, n_resamples=20)
    theirs = cohens_kappa(np.array(table).reshape(2, 2), return_results=False)
    assert found.kappa.value == pytest.approx(theirs, abs=1e-9)
    if found.kappa.low is not None:
        assert found.kappa.low <= found.kappa.high


def test_things_of_one_question_count_as_one_draw():
    alone = agreement(20, 5, 10, 15).share
    together = agreement(20, 5, 10, 15, per_question=5).share
    assert together.value == alone.value
    assert together.high - together.low > 1.5 * (alone.high - alone.low)
    assert together.how == "bootstrap over 10 questions (2000)"


def test_full_agreement_is_not_certainty():
    found = agreement(8, 0, 0, 2)
    # Clopper and Pearson for 10 of 10: 0.025 ** (1 / 10) = 0.6915.
    assert (found.share.value, found.share.high) == (1.0, 1.0)
    assert found.share.low == pytest.approx(0.6915, abs=1e-4)
    assert (found.kappa.value, found.kappa.low) == (1.0, None)
    assert "agree on everything" in found.kappa_reason


def test_kappa_of_one_and_the_same_verdict_is_not_defined():
    found = agreement(10, 0, 0, 0)
    assert found.kappa.value is None
    assert "one and the same verdict" in found.kappa_reason


def test_too_few_rejections_leave_kappa_without_interval():
    found = agreement(9, 1, 0, 0)
    assert (found.kappa.value, found.kappa.low) == (0.0, None)
    assert "resamples" in found.kappa_reason
