"""At which temperatures is disturbed evidence as good as the original?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from shaketable.analyses.evidence.margins import margins_of
from shaketable.analyses.grids import Grid, Row, even, systems
from shaketable.report.margins import describe_margin
from shaketable.report.old_words import (
    at_temperatures,
    difference,
    measured,
    named,
    questions,
    said,
    sentence_case,
)
from shaketable.statistics.intervals import known, mean_estimates
from shaketable.statistics.significance import add_holm, difference_test, equivalence_test
from shaketable.types import OldFinding

NAME = "equivalence"
TOO_FEW = "fewer than two questions"


def equivalence(
    table: pl.DataFrame,
    *,
    metric: str | None = None,
    margin: float | str | None = None,
    alpha: float = 0.05,
    confidence: float = 0.95,
    n_resamples: int = 2000,
) -> OldFinding:
    """Paired TOST of original minus disturbed against a margin, at each temperature.

    `equivalent`: the mean difference lies inside ±delta (`p_holm` of TOST below alpha). `different`: it is not shown
    to, and it is not 0 (`p_difference_holm` below alpha). `undecided`: neither. Both are adjusted over the
    temperatures of a line. `margin` is delta in the metric's unit, or in its spread (`'0.2 sd'`); None: 0.05 for a
    share, 0.2 sd for anything else.
    """
    found = list(systems(table, metric))
    margins = margins_of(found, margin)
    rows = [
        row
        for pooled in found
        for grid in (pooled, *pooled.by_type())
        for row in _rows(grid, margins[grid.metric].value, alpha, confidence, n_resamples)
    ]
    _add_sentences(rows)
    return OldFinding(
        analysis=NAME,
        question="At which temperatures are answers from disturbed evidence as good as from the original?",
        rows=even(rows),
        sentences=tuple(said(row) for row in rows if row["sentence"]),
        caveats=(*(describe_margin(one) for one in margins.values()), *_caveats(rows, alpha, confidence, n_resamples)),
        settings={
            "metric": metric,
            "margin": margin,
            "alpha": alpha,
            "confidence": confidence,
            "n_resamples": n_resamples,
        },
    )


def _rows(grid: Grid, delta: float, alpha: float, confidence: float, n_resamples: int) -> list[Row]:
    if not grid.perturbations:
        return []
    drops, n_missing = grid.drops(), grid.n_missing_pairs()
    flat, _ = mean_estimates(
        drops.reshape(-1, drops.shape[2]), grid.question_ids, confidence=confidence, n_resamples=n_resamples
    )
    estimates = flat.reshape(*drops.shape[:2], 3)
    rows = []
    for i, perturbation in enumerate(grid.perturbations):
        line = []
        for j, temperature in enumerate(grid.temperatures):
            paired = drops[i, j][~np.isnan(drops[i, j])]
            enough = len(paired) > 1
            line.append(
                grid.row(
                    NAME,
                    perturbation=perturbation,
                    temperature=temperature,
                    **known(estimates[i, j]),
                    n=len(paired),
                    n_missing=int(n_missing[i, j]),
                    delta=delta,
                    p=equivalence_test(paired, delta) if enough else None,
                    p_difference=difference_test(paired) if enough else None,
                    reason=None if enough else TOO_FEW,
                )
            )
        add_holm(line)
        add_holm(line, "p_difference", "p_difference_holm")
        for row in line:
            row["verdict"] = _verdict(row, alpha)
        rows += line
    return rows


def _verdict(row: Row, alpha: float) -> str | None:
    if row["p"] is None:
        return None
    if row["p_holm"] < alpha:
        return "equivalent"
    return "different" if row["p_difference_holm"] < alpha else "undecided"


def _add_sentences(rows: Sequence[Row]) -> None:
    """One for each system and disturbance, on the row of the coolest temperature."""
    lines: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        row.update(headline=None, sentence=None, detail=None)
        if row["type"] is None and row["verdict"]:
            lines.setdefault((row["metric"], row["dataset"], row["system"], row["perturbation"]), []).append(row)
    for line in lines.values():
        line[0].update(headline=NAME, sentence=_sentence(line), detail=_detail(line[0]))


def _sentence(line: Sequence[Row]) -> str:
    row = line[0]
    cause, system, metric = sentence_case(named(row["perturbation"])), row["system"], measured(row["metric"])
    within = f"{100 * row['delta']:.3g} points of" if row["unit"] == "share" else f"{row['delta']:.3g}"
    found = {
        verdict: [one["temperature"] for one in line if one["verdict"] == verdict]
        for verdict in ("equivalent", "different", "undecided")
    }
    tried = [one["temperature"] for one in line]
    told = []
    if found["equivalent"]:
        told.append(
            f"equivalent to the original within {within} {metric} {at_temperatures(found['equivalent'], tried)}"
        )
    if found["different"]:
        told.append(f"different {at_temperatures(found['different'], tried)}")
    if found["undecided"]:
        told.append(f"undecided {at_temperatures(found['undecided'], tried)}")
    return f"{cause}, {system}: {'; '.join(told)}."


def _detail(row: Row) -> str:
    return f"At {row['temperature']:g} the difference is {difference(row)} ({questions(row['n'])})."


def _caveats(rows: Sequence[Row], alpha: float, confidence: float, n_resamples: int) -> tuple[str, ...]:
    caveats = [
        f"Equivalence is two one-sided paired t tests at {alpha:g}, difference a two-sided one, each adjusted by Holm "
        "over temperatures; equivalent means too near to matter by the margin, not equal. Where heat has ruined the "
        "answers anyway, it means equally bad.",
        f"Intervals hold {100 * confidence:g} % of {n_resamples:,} bootstrap resamples of the questions; the verdict "
        f"is the tests', which correspond to an interval of {100 * (1 - 2 * alpha):g} % before adjustment.",
    ]
    if any(row["n_missing"] for row in rows):
        caveats.append("Records without a score are left out and counted; they are never zeros.")
    return tuple(caveats)
