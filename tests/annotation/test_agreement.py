"""How many wordings people accept, and how far two of them agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa

from shaketable.annotation.agreement import measure_agreement


def rows(both: int, first: int, second: int, neither: int, per_question: int = 1) -> list[dict]:
    """Verdicts of Ada and Bo: wordings that both accept, Ada alone, Bo alone, neither."""
    verdicts = [(True, True)] * both + [(True, False)] * first + [(False, True)] * second + [(False, False)] * neither
    return [
        {
            "id": f"w{i}", "question_id": f"q{i // per_question}", "question": "Who?", "wording": f"Yo {i}?",
            "variation": "formality" if i % 2 else "spelling", "annotator": name, "accepted": accepted,
        }
        for i, pair in enumerate(verdicts)
        for name, accepted in zip(("Ada", "Bo"), pair, strict=True)
    ]  # fmt: skip


def test_agreement_and_kappa_by_hand():
    # The usual textbook table: 20 and 15 of 50 alike, marginals 25/25 and 30/20: (0.7 - 0.5) / (1 - 0.5) = 0.4.
    (found,) = measure_agreement(rows(20, 5, 10, 15)).agreements
    assert found.reviewers == ("Ada", "Bo")
    assert (found.share.value, found.share.n) == (0.7, 50)
    assert found.kappa.value == pytest.approx(0.4)
    assert found.kappa_reason is None
    # Standard error of kappa there is 0.13 (Fleiss, Cohen and Everitt 1969, as statsmodels has it).
    theirs = cohens_kappa(np.array([[20, 5], [10, 15]]))
    assert found.kappa.low == pytest.approx(theirs.kappa_low, abs=0.04)
    assert found.kappa.high == pytest.approx(theirs.kappa_upp, abs=0.04)


@given(st.tuples(*[st.integers(0, 12)] * 4).filter(lambda t: sum(t) > 1 and max(t[0], t[3]) < sum(t)))
def test_kappa_is_that_of_statsmodels(table):
    (found,) = measure_agreement(rows(*table), n_resamples=20).agreements
    theirs = cohens_kappa(np.array(table).reshape(2, 2), return_results=False)
    assert found.kappa.value == pytest.approx(theirs, abs=1e-9)
    if found.kappa.low is not None:
        assert found.kappa.low <= found.kappa.high


def test_wordings_of_one_question_count_as_one_draw():
    alone = measure_agreement(rows(20, 5, 10, 15)).agreements[0].share
    together = measure_agreement(rows(20, 5, 10, 15, per_question=5)).agreements[0].share
    assert together.value == alone.value
    assert together.high - together.low > 1.5 * (alone.high - alone.low)
    assert together.how == "bootstrap over 10 questions (2000)"


def test_full_agreement_is_not_certainty():
    (found,) = measure_agreement(rows(8, 0, 0, 2)).agreements
    # Clopper and Pearson for 10 of 10: 0.025 ** (1 / 10) = 0.6915.
    assert (found.share.value, found.share.high) == (1.0, 1.0)
    assert found.share.low == pytest.approx(0.6915, abs=1e-4)
    assert (found.kappa.value, found.kappa.low) == (1.0, None)
    assert "agree on everything" in found.kappa_reason


def test_kappa_of_one_and_the_same_verdict_is_not_defined():
    (found,) = measure_agreement(rows(10, 0, 0, 0)).agreements
    assert found.kappa.value is None
    assert "one and the same verdict" in found.kappa_reason


def test_the_published_check_has_an_interval():
    # 96 and 98 of 100 accepted: some resamples draw no rejection at all, and kappa is undefined there.
    (found,) = measure_agreement(rows(95, 1, 3, 1)).agreements
    assert found.share.value == 0.96
    assert found.kappa.low is not None
    shares = {(one.reviewer, one.variation): one.share for one in measure_agreement(rows(95, 1, 3, 1)).accepted}
    assert (shares["Ada", None].value, shares["Bo", None].value) == (0.96, 0.98)
    assert shares["Ada", "formality"].n == shares["Ada", "spelling"].n == 50


def test_too_few_rejections_leave_kappa_without_interval():
    (found,) = measure_agreement(rows(9, 1, 0, 0)).agreements
    assert (found.kappa.value, found.kappa.low) == (0.0, None)
    assert "resamples" in found.kappa_reason


def test_a_second_verdict_by_the_same_person_is_told_and_left_out():
    given_ = rows(3, 1, 1, 0)
    again = {**given_[0], "annotator": "ADA", "accepted": False}
    found = measure_agreement([*given_, again])
    assert found.left_out == ("A second verdict by ADA on 'Yo 0?'.",)
    assert found.agreements == measure_agreement(given_).agreements


def test_order_changes_nothing():
    given_ = rows(6, 2, 3, 4)
    turned = measure_agreement([row for i in reversed(range(15)) for row in given_[2 * i : 2 * i + 2]])
    assert turned == measure_agreement(given_)


def test_without_verdicts_there_is_nothing_to_tell():
    found = measure_agreement([])
    assert (found.accepted, found.agreements) == ((), ())
