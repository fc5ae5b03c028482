"""Does temperature change which disturbance hurts most?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shaketable.analyses.grids import Grid, Row, even, grids
from shaketable.identity import seed_from
from shaketable.report.old_words import difference, measured, named, questions, said, sentence_case
from shaketable.statistics.intervals import (
    ROUNDING,
    Numbers,
    Statistic,
    complete,
    estimated,
    known,
    mean_estimates,
    mean_of,
)
from shaketable.statistics.significance import add_holm
from shaketable.types import OldFinding

NAME = "ranking"


def ranking(
    table: pl.DataFrame,
    *,
    metric: str | None = None,
    alpha: float = 0.05,
    n_permutations: int = 1000,
    confidence: float = 0.95,
    n_resamples: int = 2000,
) -> OldFinding:
    """Three kinds of rows.

    `drop`: the mean drop of a perturbation at a temperature and its rank there, 1 for the largest. `contrast`: the
    mean drop of a perturbation minus that of `other`; `p` tests whether that changes with temperature (temperature
    labels permuted within questions, statistic Σ (D(T) − mean D)², Holm over pairs), and the verdict is `reversal`
    where intervals exclude 0 on both sides, `changes` where the test alone shows a change, else `no change shown`.
    `tau`: Kendall's tau of the ranking at two temperatures.
    """
    rows = [row for grid in grids(table, metric) for row in _rows(grid, alpha, n_permutations, confidence, n_resamples)]
    _add_sentences(rows)
    return OldFinding(
        analysis=NAME,
        question="Does temperature change which disturbance of the evidence hurts most?",
        rows=even(rows),
        sentences=tuple(said(row) for row in rows if row["sentence"]),
        caveats=_caveats(rows, alpha, n_permutations, confidence, n_resamples),
        settings={
            "metric": metric,
            "alpha": alpha,
            "n_permutations": n_permutations,
            "confidence": confidence,
            "n_resamples": n_resamples,
        },
    )


def _rows(grid: Grid, alpha: float, n_permutations: int, confidence: float, n_resamples: int) -> list[Row]:
    if not grid.perturbations:
        return []
    bootstrap: dict[str, Any] = {"confidence": confidence, "n_resamples": n_resamples}
    drops = grid.drops()
    rows = _drop_rows(grid, drops, bootstrap)
    if len(grid.perturbations) > 1 and len(grid.temperatures) > 1:
        whole = complete(drops)
        ids = [grid.question_ids[i] for i in whole]
        n_left_out = len(grid.question_ids) - len(ids)
        counts = {"n": len(ids), "n_missing": int(grid.n_missing.sum()), "n_left_out": n_left_out}
        rows += _contrast_rows(grid, drops[..., whole], ids, counts, alpha, n_permutations, bootstrap)
        rows += _tau_rows(grid, drops[..., whole], ids, counts, bootstrap)
    return rows


def _drop_rows(grid: Grid, drops: Numbers, bootstrap: dict[str, Any]) -> list[Row]:
    from scipy import stats

    flat, n = mean_estimates(drops.reshape(-1, drops.shape[2]), grid.question_ids, **bootstrap)
    estimates, n, n_missing = flat.reshape(*drops.shape[:2], 3), n.reshape(drops.shape[:2]), grid.n_missing_pairs()
    ranks = stats.rankdata(-np.round(estimates[..., 0], ROUNDING), method="min", axis=0, nan_policy="omit")
    return [
        grid.row(
            NAME,
            perturbation=perturbation,
            temperature=temperature,
            kind="drop",
            **known(estimates[i, j]),
            n=int(n[i, j]),
            n_missing=int(n_missing[i, j]),
            rank=None if np.isnan(ranks[i, j]) else int(ranks[i, j]),
        )
        for i, perturbation in enumerate(grid.perturbations)
        for j, temperature in enumerate(grid.temperatures)
    ]


def _contrast_rows(
    grid: Grid,
    drops: Numbers,
    ids: Sequence[str],
    counts: dict[str, Any],
    alpha: float,
    n_permutations: int,
    bootstrap: dict[str, Any],
) -> list[Row]:
    pairs = list(combinations(range(len(grid.perturbations)), 2))
    contrasts = np.round(np.stack([drops[a] - drops[b] for a, b in pairs]), ROUNDING)
    p_values = interaction_test(contrasts, ids, n_permutations) if ids else [None] * len(pairs)
    lines = []
    for (a, b), contrast, p in zip(pairs, contrasts, p_values, strict=True):
        estimates, _ = mean_estimates(contrast, ids, **bootstrap)
        lines.append(
            [
                grid.row(
                    NAME,
                    perturbation=grid.perturbations[a],
                    temperature=temperature,
                    kind="contrast",
                    **known(estimate),
                    **counts,
                    other=grid.perturbations[b],
                    p=p,
                )
                for temperature, estimate in zip(grid.temperatures, estimates, strict=True)
            ]
        )
    add_holm([line[0] for line in lines])
    for line in lines:
        verdict = _verdict(line, alpha)
        for row in line:
            row.update(p_holm=line[0]["p_holm"], verdict=verdict)
    return [row for line in lines for row in line]


def interaction_test(contrasts: Numbers, question_ids: Sequence[str], n_permutations: int) -> list[float]:
    """p for each series of contrasts (series × temperatures × questions) that its mean depends on temperature.

    Every permutation shuffles the temperatures of each question; where there are fewer shuffles than asked for, all
    of them are tried.
    """
    from scipy import stats

    found = stats.permutation_test(
        [contrasts[:, i] for i in range(contrasts.shape[1])],
        _spread,
        permutation_type="samples",
        vectorized=True,
        n_resamples=n_permutations,
        batch=100,
        alternative="greater",
        axis=-1,
        rng=np.random.default_rng(seed_from("permutation", *question_ids)),
    )
    return [float(p) for p in found.pvalue]


def _spread(*samples: Numbers, axis: int) -> Numbers:
    """Σ over temperatures of (D(T) − mean D)², of samples that are one temperature each."""
    means = np.stack([sample.mean(axis=axis) for sample in samples])
    spread: Numbers = ((means - means.mean(axis=0)) ** 2).sum(axis=0)
    return spread


def _verdict(line: Sequence[Row], alpha: float) -> str | None:
    if line[0]["p_holm"] is None:
        return None
    bounded = [row for row in line if row["low"] is not None]
    if any(row["low"] > 0 for row in bounded) and any(row["high"] < 0 for row in bounded):
        return "reversal"
    return "changes" if line[0]["p_holm"] < alpha else "no change shown"


def _tau_rows(
    grid: Grid, drops: Numbers, ids: Sequence[str], counts: dict[str, Any], bootstrap: dict[str, Any]
) -> list[Row]:
    pairs = list(combinations(range(len(grid.temperatures)), 2))
    first, second = np.array(pairs).T
    estimates = estimated(rank_agreement(drops, first, second), ids, len(pairs), **bootstrap)
    return [
        grid.row(
            NAME,
            temperature=grid.temperatures[a],
            kind="tau",
            **known(estimate),
            **counts,
            other_temperature=grid.temperatures[b],
            reason="all drops are equal at one of the temperatures" if ids and np.isnan(estimate[0]) else None,
        )
        | {"unit": "ratio"}
        for (a, b), estimate in zip(pairs, estimates, strict=True)
    ]


def rank_agreement(drops: Numbers, first: NDArray[np.int64], second: NDArray[np.int64]) -> Statistic:
    """Kendall's tau-b of the mean drops at two temperatures each, for all resamples at once.

    scipy has it for one ranking at a time; the test compares them.
    """
    a, b = np.triu_indices(len(drops), k=1)
    means = [mean_of(of_one) for of_one in drops]

    def tau(drawn: Numbers) -> Numbers:
        at = np.round(np.stack([mean(drawn) for mean in means]), ROUNDING)
        signs = np.sign(at[a] - at[b])
        agreeing = (signs[:, first] * signs[:, second]).sum(axis=0)
        untied = (signs**2).sum(axis=0)
        possible = np.sqrt(untied[first] * untied[second])
        taus: Numbers = np.divide(agreeing, possible, out=np.full_like(agreeing, np.nan), where=possible > 0)
        return taus

    return tau


def _add_sentences(rows: Sequence[Row]) -> None:
    """One for each reversal, and one for each system that tells who leads where it is coolest and hottest."""
    systems: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        row.update(headline=None, sentence=None, detail=None)
        if row["type"] is None and row["kind"] == "contrast" and row.get("verdict"):
            systems.setdefault((row["metric"], row["system"]), []).append(row)
    for contrasts in systems.values():
        lines: dict[tuple[str, str], list[Row]] = {}
        for row in contrasts:
            lines.setdefault((row["perturbation"], row["other"]), []).append(row)
        reversals = [line for line in lines.values() if line[0]["verdict"] == "reversal"]
        for line in reversals:
            _tell_reversal(line)
        if not reversals:
            changing = [line for line in lines.values() if line[0]["verdict"] == "changes"]
            row = changing[0][0] if changing else contrasts[0]
            row.update(headline=NAME, sentence=_no_reversal(row["system"], changing), detail=_sample(row))


def _tell_reversal(line: Sequence[Row]) -> None:
    bounded = [row for row in line if row["low"] is not None]
    more = max((row for row in bounded if row["low"] > 0), key=lambda row: row["value"])
    less = min((row for row in bounded if row["high"] < 0), key=lambda row: row["value"])
    a, b = named(more["perturbation"]), named(more["other"])
    more.update(
        headline=NAME,
        sentence=f"{sentence_case(a)} hurts {more['system']} more than {b} at temperature {more['temperature']:g}, "
        f"and less at {less['temperature']:g}.",
        detail=f"The difference in lost {measured(more['metric'])} is {difference(more)} and {difference(less)} "
        f"({questions(more['n'])}).",
    )


def _no_reversal(system: str, changing: Sequence[Sequence[Row]]) -> str:
    if changing:
        pairs = ", ".join(f"{named(line[0]['perturbation'])} and {named(line[0]['other'])}" for line in changing)
        return f"How far disturbances of {system} lie apart changes with temperature ({pairs}); no reversal was found."
    return f"No change with temperature was shown in which disturbance hurts {system} more."


def _sample(row: Row) -> str:
    p = f"p = {row['p_holm']:.2g}" if row["p_holm"] >= 0.001 else "p < 0.001"
    pair = f"{named(row['perturbation'])} against {named(row['other'])}"
    return f"Interaction test of {pair}: {p}, adjusted ({questions(row['n'])})."


def _caveats(
    rows: Sequence[Row], alpha: float, n_permutations: int, confidence: float, n_resamples: int
) -> tuple[str, ...]:
    caveats = [
        f"Intervals hold {100 * confidence:g} % of {n_resamples:,} bootstrap resamples of the questions and are not "
        "widened for the many temperatures: with many of them a reversal may be chance, above all where the "
        "interaction test does not speak for it.",
        f"The interaction test takes {n_permutations:,} permutations, is adjusted by Holm over pairs of disturbances, "
        f"and is read at {alpha:g}.",
    ]
    if any(row["kind"] == "tau" for row in rows):
        caveats.append("Kendall's tau of so few disturbances takes few values; one swap moves it far.")
    if any(row.get("n_left_out") for row in rows):
        caveats.append("Contrasts take the questions that have a score in every cell; the others are counted.")
    return tuple(caveats)
