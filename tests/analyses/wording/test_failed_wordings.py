"""Trials of a rewording that failed may be the wrong ones: what it costs or adds must stand whatever they were."""

from __future__ import annotations

from typing import Any

import pytest
from made_wordings import only, tables_of, trial

from shaketable.analyses.claims import claims_of
from shaketable.analyses.rows import UNSETTLED
from shaketable.analyses.wording.wording_accuracy import WordingAccuracy, wording_accuracy
from shaketable.types import Finding, Findings


def runs(variation: str, *correct: float | None, n: int = 20) -> list[dict[str, Any]]:
    """The same runs of n questions; None failed."""
    return [
        trial(f"q{i:02}", variation, repeat=repeat, correct=value, answer=None if value is None else "Rome")
        for i in range(n)
        for repeat, value in enumerate(correct)
    ]


def n_shown(result: WordingAccuracy) -> int:
    return len(claims_of(Findings(findings=(Finding(analysis="wording_accuracy", result=result),))).shown)


def test_failures_that_take_the_wrong_answers_show_no_gain():
    # Either is right in one of two runs; the wrong answer to the rewording failed, where the original was right.
    result = wording_accuracy(tables_of([*runs("original", 1.0, 0.0), *runs("spelling", None, 1.0)]))
    loss = only(result.losses, variation="spelling")
    assert loss.estimate.value == -1.0
    assert (loss.worst_low, loss.worst_high) == (-0.5, 0.0)
    assert (loss.p, loss.reason) == (1.0, UNSETTLED)
    assert n_shown(result) == 0


def test_a_loss_that_stands_whatever_failed_is_shown():
    result = wording_accuracy(tables_of([*runs("original", 1.0, 1.0), *runs("spelling", None, 0.0)]))
    loss = only(result.losses, variation="spelling")
    assert (loss.estimate.value, loss.worst_low, loss.worst_high) == (1.0, 0.5, 1.0)
    assert loss.p == pytest.approx(2 * 0.5**20)
    assert n_shown(result) == 1


def test_a_question_that_has_no_score_anywhere_did_not_fail():
    unscorable = [trial(f"no gold {i}", name, correct=None) for i in range(9) for name in ("original", "spelling")]
    result = wording_accuracy(tables_of([*runs("original", 1.0), *runs("spelling", 0.0), *unscorable]))
    loss = only(result.losses, variation="spelling")
    assert (loss.n_failed, loss.worst_low) == (9, None)


def test_another_rewording_that_failed_leaves_this_one_as_it_is():
    trials = [*runs("original", 1.0), *runs("spelling", 0.0), *runs("grammar", 0.0, n=10), *runs("formality", 1.0)]
    failing = [trial(f"q{i:02}", "grammar", correct=None, answer=None) for i in range(10, 20)]
    losses = wording_accuracy(tables_of([*trials, *failing])).losses
    assert {loss.cell.variation: (loss.worst_low, loss.worst_high) for loss in losses} == {
        "spelling": (None, None),
        "grammar": (0.5, 1.0),
        "formality": (None, None),
    }
