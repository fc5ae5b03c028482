"""Claims over temperatures, pairs and systems must stand whatever the answers that failed would have been."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl
from score_rows import score_rows

from shaketable.analyses.claims import claims_of
from shaketable.analyses.evidence.amplification import amplification
from shaketable.analyses.evidence.dominance import dominance
from shaketable.analyses.evidence.guidelines import guidelines
from shaketable.analyses.evidence.ranking import ranking
from shaketable.analyses.rows import UNSETTLED
from shaketable.analyses.tables import Tables
from shaketable.types import Finding, Findings

Runs = Sequence[float | None]
RIGHT, HALF = (1.0,) * 4, (1.0, 1.0, 0.0, 0.0)
FAILED = (1.0, 1.0, None, None)
"""Half right, had the others not failed instead of being wrong."""


def study(conditions: Mapping[tuple[str, float], Runs], model: str = "smollm2") -> pl.DataFrame:
    """24 questions that all have these runs by evidence and temperature; every sixth is right throughout."""
    return pl.concat(
        [
            score_rows(
                {f"q{i:02}": runs if i % 6 else RIGHT for i in range(24)},
                metric="correct",
                perturbation=perturbation,
                temperature=temperature,
                model=model,
            )
            for (perturbation, temperature), runs in conditions.items()
        ]
    )


def shown(result: object) -> list[str]:
    findings = Findings(findings=(Finding(analysis="any", result=result),))
    return [claim.subject.kind for claim in claims_of(findings).shown]


def crossed(hot: Runs) -> dict[tuple[str, float], Runs]:
    """Noise costs half of the answers when cool."""
    return {("unchanged", 0.0): RIGHT, ("unchanged", 1.0): RIGHT, ("noise", 0.0): HALF, ("noise", 1.0): hot}


def test_failures_that_take_the_wrong_answers_are_no_falling_cost() -> None:
    fallen, failed = (amplification(Tables(scores=study(crossed(hot)))) for hot in (RIGHT, FAILED))
    assert shown(fallen) == ["amplification"]
    assert failed.slopes[0].slope.value == fallen.slopes[0].slope.value
    assert (failed.slopes[0].reason, shown(failed)) == (UNSETTLED, [])


def test_failures_that_take_the_wrong_answers_do_not_change_which_hurts_more() -> None:
    masking = {("masking", 0.0): HALF, ("masking", 1.0): HALF}
    fallen, failed = (ranking(Tables(scores=study(crossed(hot) | masking))) for hot in (RIGHT, FAILED))
    assert sorted(shown(fallen)) == ["contrast", "ranking"]
    assert [own.difference.value for own in failed.contrasts] == [own.difference.value for own in fallen.contrasts]
    assert (failed.interactions[0].p, shown(failed)) == (1.0, [])


def test_failures_that_take_the_wrong_answers_do_not_make_evidence_matter_more() -> None:
    matters, failed = (
        study(conditions).with_columns(
            # Temperature does something to two questions, in opposite ways.
            value=pl.when(pl.concat_str("question_id", "temperature").is_in(["q010.0", "q021.0"]))
            .then(0.0)
            .otherwise("value")
        )
        for conditions in (
            crossed(HALF),
            crossed(HALF) | {("unchanged", 0.0): FAILED, ("unchanged", 1.0): FAILED},
        )
    )
    assert shown(dominance(Tables(scores=matters))) == ["dominance"]
    assert shown(dominance(Tables(scores=failed))) == []


def test_failures_that_take_the_wrong_answers_make_no_system_the_best() -> None:
    half = study({("unchanged", 0.0): HALF}, model="half")
    better, failing = (
        guidelines(Tables(scores=pl.concat([half, study({("unchanged", 0.0): runs}, model="other")])))
        for runs in (RIGHT, FAILED)
    )
    assert shown(better) == ["choice"]
    assert failing.choices[0].lead.value == better.choices[0].lead.value
    assert (failing.choices[0].reason, shown(failing)) == (UNSETTLED, [])
