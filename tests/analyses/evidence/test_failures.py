"""Answers that failed may be exactly the wrong ones: claims must stand had all of them been wrong, or right."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pytest
from score_rows import score_rows

from shaketable.analyses.claims import claims_of
from shaketable.analyses.evidence.amplification import amplification
from shaketable.analyses.evidence.choices import Choice, choices_of
from shaketable.analyses.evidence.correctness import correctness
from shaketable.analyses.evidence.degradation import Degradation, degradation
from shaketable.analyses.evidence.ranking import ranking
from shaketable.analyses.grids import systems
from shaketable.analyses.rows import UNSETTLED
from shaketable.analyses.tables import Tables
from shaketable.statistics.intervals import Bootstrap
from shaketable.types import Finding, Findings

Runs = Sequence[float | None]


def study(original: Runs, shaken: Runs, n: int = 20, **factors: object) -> Tables:
    """Every question has these runs."""
    tables = [
        score_rows({f"q{i:02}": runs for i in range(n)}, metric="correct", **own)
        for runs, own in ((original, {}), (shaken, factors))
    ]
    return Tables(scores=pl.concat(tables))


def shown(*results: object) -> list[str]:
    findings = Findings(findings=tuple(Finding(analysis="any", result=result) for result in results))
    return [claim.subject.kind for claim in claims_of(findings).shown]


DISTURBED = {"perturbation": "sentence_removal"}
HOT = {"temperature": 2.0}


@pytest.mark.parametrize(
    ("factors", "analysis"), [(DISTURBED, degradation), (DISTURBED, correctness), (HOT, correctness)]
)
def test_failures_that_take_the_wrong_answers_show_no_gain(factors, analysis):
    # Half of the answers are right, shaken or not; shaken, the others failed instead of being wrong.
    tables = study((1.0, 1.0, 0.0, 0.0), (1.0, 1.0, None, None), **factors)
    result = analysis(tables)
    [row] = result.losses if isinstance(result, Degradation) else (*result.evidence_drops, *result.heat_drops)
    assert row.drop.value == -0.5, "Among those that did not fail, answers are better."
    assert (row.worst_low, row.worst_high) == (-0.5, 0.0)
    assert (row.p, row.reason) == (1.0, UNSETTLED)
    assert shown(result) == []


@pytest.mark.parametrize(
    ("factors", "analysis"), [(DISTURBED, degradation), (DISTURBED, correctness), (HOT, correctness)]
)
def test_a_loss_that_stands_whatever_failed_is_shown(factors, analysis):
    result = analysis(study((1.0, 1.0, 1.0, 1.0), (0.0, 0.0, 0.0, None), **factors))
    [row] = result.losses if isinstance(result, Degradation) else (*result.evidence_drops, *result.heat_drops)
    assert (row.drop.value, row.worst_low, row.worst_high) == (1.0, 0.75, 1.0)
    assert row.p == pytest.approx(2 * 0.5**20)
    assert len(shown(result)) == 1


def test_a_p_is_the_largest_of_what_may_have_been():
    # Ten of twelve questions lose; of two the disturbed answer failed: ten or twelve lose, and none gains.
    original = score_rows({f"q{i:02}": (1.0,) for i in range(12)}, metric="correct")
    disturbed = score_rows({f"q{i:02}": (0.0 if i < 10 else None,) for i in range(12)}, metric="correct", **DISTURBED)
    result = degradation(Tables(scores=pl.concat([original, disturbed])))
    [row] = result.losses
    assert (row.drop.value, row.worst_low, row.worst_high) == (1.0, pytest.approx(10 / 12), 1.0)
    assert row.p == pytest.approx(2 * 0.5**10)  # exact McNemar with ten discordant questions


def test_few_failures_leave_tests_as_they_are():
    original = score_rows({f"q{i:02}": (1.0,) for i in range(40)}, metric="correct")
    disturbed = score_rows(
        {f"q{i:02}": (float(i > 8) if i else None,) for i in range(40)}, metric="correct", **DISTURBED
    )
    result = degradation(Tables(scores=pl.concat([original, disturbed])))
    [row] = result.losses
    assert (row.worst_low, row.worst_high, row.reason) == (None, None, None)
    assert row.p == pytest.approx(2 * 0.5**8)


def test_a_level_has_bounds_where_much_failed():
    result = correctness(study((1.0, 0.0, None, None), (1.0, 1.0, 1.0, 1.0), **DISTURBED))
    levels = {level.cell.perturbation: level for level in result.levels}
    bounded = levels["unchanged"]
    assert (bounded.mean.value, bounded.worst_low, bounded.worst_high) == (0.5, 0.25, 0.75)
    assert levels["sentence_removal"].worst_low is None


def test_a_condition_in_which_everything_failed_has_no_number():
    result = correctness(study((1.0, 1.0), (None, None), **DISTURBED))
    [drop] = result.evidence_drops
    assert (drop.drop.value, drop.p, drop.worst_low) == (None, None, None)
    assert shown(result) == []


def crossed(cool: Runs, hot: Runs, others: Runs = (1.0, 1.0)) -> Tables:
    """Disturbed answers when cool and hot; others are those to original evidence, and to another disturbance."""
    return Tables(
        scores=pl.concat(
            score_rows({f"q{i:02}": runs for i in range(20)}, metric="correct", perturbation=name, temperature=heat)
            for name, own in (("unchanged", (others, others)), ("typos", (others, others)), ("worse", (cool, hot)))
            for heat, runs in zip((0.0, 1.0), own, strict=True)
        )
    )


def test_failures_may_turn_what_heat_does_to_a_loss():
    # Right in one of two runs, cool or hot; when hot the wrong one failed, as if heat took the loss away.
    failing = amplification(crossed((1.0, 0.0), (1.0, None)))
    slope = next(own for own in failing.slopes if own.cell.perturbation == "worse")
    assert (slope.slope.value, slope.worst_low, slope.worst_high) == (-0.5, -0.5, 0.0)
    assert slope.reason == UNSETTLED
    assert "amplification" not in shown(failing)
    assert "amplification" in shown(amplification(crossed((1.0, 0.0), (1.0, 1.0))))


def test_failures_may_turn_which_disturbance_hurts_more():
    # The other disturbance costs nothing; of this one all answers that did not fail are wrong.
    failing = ranking(crossed((0.0, None), (0.0, None)))
    settled = [own for own in failing.contrasts if own.worst_low is not None]
    assert [(abs(own.difference.value), own.worst_low, own.worst_high) for own in settled] == [(1.0, -1.0, -0.5)] * 2
    assert "contrast" in shown(failing)
    all_failed = ranking(crossed((0.0, None), (None, None), others=(1.0, 0.0)))
    assert shown(all_failed) == []


def test_failures_may_turn_who_leads():
    def rivals(runs: Runs) -> list[Choice]:
        rows = [
            score_rows({f"q{i:02}": own for i in range(20)}, metric="correct", model=model)
            for model, own in (("plain", (1.0, 0.0)), ("failing", runs))
        ]
        return choices_of(list(systems(pl.concat(rows), None)), Bootstrap())

    (choice,) = rivals((1.0, None))
    assert (choice.cell.system.model, choice.lead.value) == ("failing", 0.5)
    assert (choice.worst_low, choice.worst_high, choice.p, choice.reason) == (0.0, 0.5, 1.0, UNSETTLED)
    (settled,) = rivals((1.0, 1.0))
    assert (settled.lead.value, settled.worst_low, settled.p) == (0.5, None, pytest.approx(2 * 0.5**20))
