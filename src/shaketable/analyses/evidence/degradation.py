"""Does disturbed evidence make answers worse at all temperatures?"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from shaketable.analyses.grids import Grid, Row, even, grids
from shaketable.report.words import difference, measured, named, questions, said, sentence_case
from shaketable.statistics.hodges_lehmann import shift_estimates
from shaketable.statistics.intervals import known
from shaketable.statistics.significance import add_holm, signed_rank
from shaketable.types import Finding

NAME = "degradation"


def degradation(
    table: pl.DataFrame,
    *,
    metric: str | None = None,
    alpha: float = 0.05,
    confidence: float = 0.95,
    n_resamples: int = 2000,
) -> Finding:
    """One-sided Wilcoxon signed-rank tests of original minus disturbed, paired by question, one per temperature.

    `value` is the Hodges–Lehmann shift, `mean` the mean difference; positive means worse when disturbed. `p_holm` is
    adjusted over the temperatures of a line. `verdict` is `yes` where it is below alpha, and `everywhere` is `yes`
    where it is so at all temperatures; otherwise both are `not shown`, which is not the same as no.
    """
    rows = [row for grid in grids(table, metric) for row in _rows(grid, alpha, confidence, n_resamples)]
    _add_sentences(rows)
    return Finding(
        analysis=NAME,
        question="Does disturbed evidence make answers worse at all temperatures?",
        rows=even(rows),
        sentences=tuple(said(row) for row in rows if row["sentence"]),
        caveats=_caveats(rows, alpha, confidence, n_resamples),
        settings={"metric": metric, "alpha": alpha, "confidence": confidence, "n_resamples": n_resamples},
    )


def _rows(grid: Grid, alpha: float, confidence: float, n_resamples: int) -> list[Row]:
    if not grid.perturbations:
        return []
    drops, n_missing = grid.drops(), grid.n_missing_pairs()
    shape = drops.shape[:2]
    flat, n = shift_estimates(
        drops.reshape(-1, drops.shape[2]), grid.question_ids, confidence=confidence, n_resamples=n_resamples
    )
    estimates, n = flat.reshape(*shape, 3), n.reshape(shape)
    rows = []
    for i, perturbation in enumerate(grid.perturbations):
        line = []
        for j, temperature in enumerate(grid.temperatures):
            paired = drops[i, j][drops[i, j] == drops[i, j]]
            statistic, p = signed_rank(paired) if len(paired) else (None, None)
            line.append(
                grid.row(
                    NAME,
                    perturbation=perturbation,
                    temperature=temperature,
                    **known(estimates[i, j]),
                    n=int(n[i, j]),
                    n_missing=int(n_missing[i, j]),
                    mean=float(paired.mean()) if len(paired) else None,
                    statistic=statistic,
                    p=p,
                )
            )
        add_holm(line)
        for row in line:
            row["verdict"] = None if row["p"] is None else _shown(row["p_holm"] < alpha)
        tested = [row for row in line if row["verdict"]]
        n_shown = sum(row["verdict"] == "yes" for row in tested)
        for row in line:
            everywhere = _shown(n_shown == len(tested)) if tested else None
            row.update(everywhere=everywhere, n_temperatures=len(tested), n_shown=n_shown)
        rows += line
    return rows


def _shown(is_shown: bool) -> str:
    return "yes" if is_shown else "not shown"


def _add_sentences(rows: Sequence[Row]) -> None:
    """One for each system and disturbance, on the row of the largest shift."""
    lines: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        row.update(headline=None, sentence=None, detail=None)
        if row["type"] is None and row["value"] is not None:
            lines.setdefault((row["metric"], row["dataset"], row["system"], row["perturbation"]), []).append(row)
    for line in lines.values():
        row = max(line, key=lambda one: one["value"])
        row.update(headline=NAME, sentence=_sentence(row), detail=_detail(row, len(line)))


def _sentence(row: Row) -> str:
    cause, system, metric = sentence_case(named(row["perturbation"])), row["system"], measured(row["metric"])
    n, of = row["n_shown"], row["n_temperatures"]
    if n == of == 1:
        return f"{cause} lowers the {metric} of {system} at temperature {row['temperature']:g}."
    if n == of:
        return f"{cause} lowers the {metric} of {system} at every temperature tried ({of})."
    if n:
        return f"{cause} lowers the {metric} of {system} at {n} of {of} temperatures; at the others no loss was shown."
    where = f"at temperature {row['temperature']:g}" if of == 1 else "at any temperature"
    return f"{cause}: no loss of {metric} was shown for {system} {where}."


def _detail(row: Row, n_temperatures: int) -> str:
    where = f"at temperature {row['temperature']:g}"
    largest = f"The largest shift is {difference(row)}, {where}" if n_temperatures > 1 else f"Shift {difference(row)}"
    return f"{largest} ({questions(row['n'])})."


def _caveats(rows: Sequence[Row], alpha: float, confidence: float, n_resamples: int) -> tuple[str, ...]:
    caveats = [
        f"Tests are one-sided Wilcoxon signed-rank tests, adjusted by Holm over temperatures, at {alpha:g}; lines of "
        "different models, types and disturbances are not adjusted for one another.",
        f"Shifts are Hodges–Lehmann estimates; intervals hold {100 * confidence:g} % of {n_resamples:,} bootstrap "
        "resamples of the questions.",
        "A loss that was not shown may still be there: see the equivalence tests.",
    ]
    if any(row["n_missing"] for row in rows):
        caveats.append("Records without a score are left out and counted; they are never zeros.")
    return tuple(caveats)
