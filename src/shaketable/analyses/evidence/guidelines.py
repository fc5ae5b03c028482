"""How hot may each model run, which disturbance hurts where, and which model to choose?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import polars as pl

from shaketable.analyses.evidence import guidelines_words as words
from shaketable.analyses.evidence.figure_table import figure_table
from shaketable.analyses.evidence.margins import margins_of
from shaketable.analyses.grids import Grid, Row, even, systems
from shaketable.report.old_words import said
from shaketable.statistics.ceilings import ceiling_index, onto_grid, resampled_ceilings, resampled_hinge
from shaketable.statistics.intervals import Numbers, complete, estimated, known, mean_estimates
from shaketable.types import OldFinding

NAME = "guidelines"
NOT_APPLIED = "temperature not applied"
Bound = Literal["interval", "point"]


def guidelines(
    table: pl.DataFrame,
    *,
    metric: str | None = None,
    margin: float | str | None = None,
    bound: Bound = "interval",
    not_applied: tuple[tuple[str, str], ...] = (),
    confidence: float = 0.95,
    n_resamples: int = 2000,
) -> OldFinding:
    """Five kinds of rows.

    `ceiling`: the hottest temperature of those tried up to which the loss since the coolest, by the upper end of its
    interval (`bound='point'`: by its value), never exceeds delta. A row that `decides` is a system's, from its worst
    pair of evidence and type; the others are of single pairs. `heat`: these losses. `onset`: where a line begins to
    fall, by the best hinge y = a + b max(0, T − T0), with `slope` b. `noise`: what each disturbance costs at each
    temperature. `choice`: the best system against the next, where it is coolest and hottest. `margin` is delta in the
    metric's unit, or in its spread (`'0.2 sd'`); None: 0.05 for a share, 0.2 sd for anything else. Systems
    (model, method) in `not_applied` ignore the temperature: they have no ceiling and no onset. Where several wordings
    were asked, a system also has a ceiling over its worst pair of evidence and wording (`worst_variation`).
    """
    rows: list[Row] = []
    found = list(systems(table, metric))
    margins = margins_of(found, margin)
    figures = {name: figure_table(table, name, pooled=True) for name in sorted({grid.metric for grid in found})}
    bootstrap: dict[str, Any] = {"confidence": confidence, "n_resamples": n_resamples}
    for grid in found:
        heat, ceilings = _heat_and_ceilings(grid, margins[grid.metric].value, bound, bootstrap)
        onsets = [row for one in (grid, *grid.by_type()) for row in _onsets(one, bound, bootstrap)]
        if (grid.place["model"], grid.place["method"]) in not_applied:
            for row in (*ceilings, *onsets):
                row.update(value=None, low=None, high=None, point=None, slope=None, reason=NOT_APPLIED)
        ceilings[-1].update(_levels(grid, figures[grid.metric], bootstrap))
        rows += [*ceilings, *heat, *onsets]
        rows += [row for one in (grid, *grid.by_type()) for row in _noise(one, bootstrap)]
    for wordings in _by_wordings(found):
        delta = margins[wordings[0].metric].value
        rows.append(_ceiling_over_wordings(wordings, delta, bound, bootstrap, not_applied))
        for row in rows:
            row["is_part"] = row.get("is_part") or row["system"] in {grid.system for grid in wordings}
    rows += _choices(found, bootstrap)
    words.add_sentences(rows, NOT_APPLIED)
    return OldFinding(
        analysis=NAME,
        question="How hot may each model run, which disturbance hurts where, and which model to choose?",
        rows=even(rows),
        sentences=tuple(said(row) for row in words.by_importance(rows)),
        caveats=(
            *(one.caveat(name) for name, one in margins.items()),
            *words.caveats(rows, bound, confidence, n_resamples, NOT_APPLIED),
        ),
        settings={
            "metric": metric,
            "margin": margin,
            "bound": bound,
            "not_applied": [" · ".join(system) for system in not_applied],
            "confidence": confidence,
            "n_resamples": n_resamples,
        },
    )


# --- how hot --------------------------------------------------------------------------------------


def _heat_and_ceilings(
    grid: Grid, delta: float, bound: Bound, bootstrap: dict[str, Any]
) -> tuple[list[Row], list[Row]]:
    """The losses by heat, and the ceilings that follow: of each pair, and last of the system."""
    heat: list[Row] = []
    pairs: list[tuple[Grid, str | None, Numbers]] = []
    for one in grid.by_type() or [grid]:
        drops = one.heat_drops()
        flat, n = mean_estimates(drops.reshape(-1, drops.shape[2]), one.question_ids, **bootstrap)
        estimates, n = flat.reshape(*drops.shape[:2], 3), n.reshape(drops.shape[:2])
        for i, evidence in enumerate(one.evidence):
            pairs.append((one, evidence, estimates[i]))
            heat += [
                one.row(
                    NAME,
                    perturbation=evidence,
                    temperature=temperature,
                    kind="heat",
                    **known(estimates[i, j]),
                    n=int(n[i, j]),
                    n_missing=int((one.n_missing[i, 0] + one.n_missing[i, j]).sum()),
                    delta=delta,
                )
                for j, temperature in enumerate(one.temperatures)
            ]
    return heat, _ceilings(grid, pairs, delta, bound, bootstrap)


def _ceilings(
    grid: Grid,
    pairs: Sequence[tuple[Grid, str | None, Numbers]],
    delta: float,
    bound: Bound,
    bootstrap: dict[str, Any],
) -> list[Row]:
    column = 2 if bound == "interval" else 0
    losses = np.stack([estimates[:, column] for _, _, estimates in pairs], axis=1)
    means = np.stack([estimates[:, 0] for _, _, estimates in pairs], axis=1)
    last, point = ceiling_index(losses, delta), ceiling_index(means, delta)
    intervals = _ceiling_intervals(grid, [(one.type, evidence) for one, evidence, _ in pairs], delta, bootstrap)
    rows = [
        one.row(
            NAME,
            perturbation=evidence,
            kind="ceiling",
            **_ceiling(grid, int(last[i]), int(point[i]), means[:, i], intervals[i]),
            n=len(one.question_ids),
            n_missing=int(one.n_missing[one.evidence.index(evidence)].sum()),
            delta=delta,
        )
        | {"unit": "temperature"}
        for i, (one, evidence, _) in enumerate(pairs)
    ]
    # The worst pair decides; of several the one that loses most at the first temperature above the ceiling.
    above = min(int(last.min()) + 1, len(grid.temperatures) - 1)
    worst = min(range(len(pairs)), key=lambda i: (last[i], -np.nan_to_num(losses[above, i], nan=np.inf)))
    one, evidence, estimates = pairs[worst]
    is_beyond = above > last[worst]
    system = grid.row(
        NAME,
        kind="ceiling",
        **_ceiling(grid, int(last[worst]), int(point.min()), means.min(axis=1), intervals[-1]),
        n=len(grid.question_ids),
        n_missing=int(grid.n_missing.sum()),
        delta=delta,
        decides=True,
        worst_perturbation=evidence,
        worst_type=one.type,
        score_unit=grid.unit,
        coolest=grid.temperatures[0],
        hottest=grid.temperatures[-1],
        next_temperature=grid.temperatures[above] if is_beyond else None,
        **_prefixed("next_loss", estimates[above] if is_beyond else np.full(3, np.nan)),
    )
    return [*rows, system | {"unit": "temperature"}]


def _ceiling(grid: Grid, last: int, point: int, means: Numbers, interval: Numbers) -> dict[str, Any]:
    if last < 0:
        reason = "no scores" if np.isnan(means).all() else "too few questions for an interval"
        return {"value": None, "low": None, "high": None, "point": None, "reason": reason}
    low, high = (None, None) if np.isnan(interval[1]) else onto_grid(interval[1], interval[2], grid.temperatures)
    return {
        "value": grid.temperatures[last],
        "low": low,
        "high": high,
        "point": grid.temperatures[point] if point >= 0 else None,
        "reason": None,
    }


def _ceiling_intervals(
    grid: Grid, pairs: Sequence[tuple[str | None, str | None]], delta: float, bootstrap: dict[str, Any]
) -> Numbers:
    """Of the ceilings by mean losses, for each pair of type and evidence and last for the worst of each resample."""
    drops = grid.heat_drops()
    stacked = np.stack([drops[grid.evidence.index(evidence)] for _, evidence in pairs])
    for of_one, (type, _) in zip(stacked, pairs, strict=True):
        of_one[:, [type is not None and other != type for other in grid.types]] = np.nan
    some = ~np.isnan(stacked).all(axis=(0, 1))
    ids = [grid.question_ids[i] for i in np.flatnonzero(some)]
    statistic = resampled_ceilings(stacked[..., some], grid.temperatures, delta)
    return estimated(statistic, ids, len(pairs) + 1, **bootstrap)


def _by_wordings(found: Sequence[Grid]) -> list[list[Grid]]:
    """The grids of each system that was asked in several wordings at the same temperatures, one for each."""
    systems: dict[tuple[Any, ...], list[Grid]] = {}
    for grid in found:
        place = (grid.metric, grid.temperatures, *(value for name, value in grid.place.items() if name != "variation"))
        systems.setdefault(place, []).append(grid)
    return [wordings for wordings in systems.values() if len(wordings) > 1]


def _ceiling_over_wordings(
    wordings: Sequence[Grid],
    delta: float,
    bound: Bound,
    bootstrap: dict[str, Any],
    not_applied: tuple[tuple[str, str], ...],
) -> Row:
    """That of the worst evidence in the worst wording: each pair of them stands for a kind of evidence."""
    ids = sorted(set().union(*(grid.question_ids for grid in wordings)))
    pairs = [(grid, i) for grid in wordings for i in range(len(grid.evidence))]
    means = np.full((len(pairs), len(wordings[0].temperatures), len(ids)), np.nan)
    n_missing = np.zeros(means.shape, dtype=np.int64)
    for pair, (grid, i) in enumerate(pairs):
        columns = np.searchsorted(ids, grid.question_ids)
        means[pair][:, columns] = grid.means[i]
        n_missing[pair][:, columns] = grid.n_missing[i]
    types = {id: type for grid in wordings for id, type in zip(grid.question_ids, grid.types, strict=True)}
    first = wordings[0]
    names = tuple(str(pair) for pair in range(len(pairs)))
    system = replace(
        first,
        system=first.system.removesuffix(f" · {first.place['variation']}"),
        place={**first.place, "variation": None},
        evidence=names,
        question_ids=tuple(ids),
        types=tuple(types[id] for id in ids),
        means=means,
        n_missing=n_missing,
    )
    row = _heat_and_ceilings(system, delta, bound, bootstrap)[1][-1]
    grid, i = pairs[names.index(row["worst_perturbation"])]
    row |= {"worst_perturbation": grid.evidence[i], "worst_variation": grid.place["variation"]}
    if (first.place["model"], first.place["method"]) in not_applied:
        row |= {"value": None, "low": None, "high": None, "point": None, "reason": NOT_APPLIED}
    return row


def _onsets(grid: Grid, bound: Bound, bootstrap: dict[str, Any]) -> list[Row]:
    rows = []
    for i, evidence in enumerate(grid.evidence):
        whole = complete(grid.means[i])
        ids = [grid.question_ids[j] for j in whole]
        estimates, reason = np.full((2, 3), np.nan), None
        if len(grid.temperatures) < 4:
            reason = "fewer than four temperatures"
        elif not ids:
            reason = "no question has a score at every temperature"
        else:
            estimates = estimated(resampled_hinge(grid.means[i][:, whole], grid.temperatures), ids, 2, **bootstrap)
            # A slope that may be 0 has no onset; by point values it is enough that the line falls.
            highest = estimates[1, 2] if bound == "interval" else estimates[1, 0]
            if not highest < -1e-12:
                reason = "no decline was found"
        slope = known(estimates[1])
        shown = known(estimates[0] if reason is None else np.full(3, np.nan))
        if shown["low"] is not None and shown["high"] is not None:
            shown["low"], shown["high"] = onto_grid(shown["low"], shown["high"], grid.temperatures)
        rows.append(
            grid.row(
                NAME,
                perturbation=evidence,
                kind="onset",
                is_first=reason is None and bool(estimates[0, 0] == grid.temperatures[1]),
                **shown,
                n=len(ids),
                n_missing=int(grid.n_missing[i].sum()),
                n_left_out=len(grid.question_ids) - len(ids),
                score_unit=grid.unit,
                slope=slope["value"],
                slope_low=slope["low"],
                slope_high=slope["high"],
                reason=reason,
            )
            | {"unit": "temperature"}
        )
    return rows


def _levels(grid: Grid, figures: pl.DataFrame, bootstrap: dict[str, Any]) -> Row:
    """Mean scores with original evidence at the coolest and hottest temperature, and the stability baseline."""
    if not grid.has_original:
        return {}
    (cool, hot), _ = mean_estimates(grid.means[0, [0, -1]], grid.question_ids, **bootstrap)
    pooled = figures.filter(pl.col("model") == grid.system, pl.col("qtype").is_null())
    return _prefixed("cool", cool) | _prefixed("hot", hot) | {"baseline_cv": pooled["baseline_cv"].first()}


def _prefixed(name: str, estimate: Numbers) -> dict[str, Any]:
    """`cool`, `cool_low`, `cool_high`: a second estimate in the same row."""
    found = known(estimate)
    return {name: found["value"], f"{name}_low": found["low"], f"{name}_high": found["high"]}


# --- which disturbance, which model ---------------------------------------------------------------


def _noise(grid: Grid, bootstrap: dict[str, Any]) -> list[Row]:
    if not grid.perturbations:
        return []
    drops, n_missing = grid.drops(), grid.n_missing_pairs()
    flat, n = mean_estimates(drops.reshape(-1, drops.shape[2]), grid.question_ids, **bootstrap)
    estimates, n = flat.reshape(*drops.shape[:2], 3), n.reshape(drops.shape[:2])
    return [
        grid.row(
            NAME,
            perturbation=perturbation,
            temperature=temperature,
            kind="noise",
            **known(estimates[i, j]),
            n=int(n[i, j]),
            n_missing=int(n_missing[i, j]),
            verdict=_hurts(estimates[i, j]),
        )
        for i, perturbation in enumerate(grid.perturbations)
        for j, temperature in enumerate(grid.temperatures)
    ]


def _hurts(estimate: Numbers) -> str | None:
    value, low, high = estimate
    if np.isnan(value):
        return None
    if low > 0:
        return "hurts"
    return "helps" if high < 0 else "no difference found"


def _choices(found: Sequence[Grid], bootstrap: dict[str, Any]) -> list[Row]:
    """The best against the next, among systems that answered the same questions with original evidence."""
    rows = []
    for metric, dataset in sorted({(grid.metric, str(grid.place["dataset"])) for grid in found}):
        rivals = [
            grid
            for grid in found
            if (grid.metric, str(grid.place["dataset"])) == (metric, dataset) and grid.has_original
        ]
        if len(rivals) < 2:
            continue
        shared = sorted(set.intersection(*(set(grid.temperatures) for grid in rivals)))
        for temperature in sorted({shared[0], shared[-1]}) if shared else ():
            rows += _choice(rivals, temperature, bootstrap)
    return rows


def _choice(rivals: Sequence[Grid], temperature: float, bootstrap: dict[str, Any]) -> list[Row]:
    scores = [
        {
            id: mean
            for id, mean in zip(grid.question_ids, grid.means[0, grid.temperatures.index(temperature)], strict=True)
            if not np.isnan(mean)
        }
        for grid in rivals
    ]
    ids = sorted(set.intersection(*(set(of_one) for of_one in scores)))
    if not ids:
        return []
    values = np.array([[of_one[id] for id in ids] for of_one in scores])
    best, second = np.argsort(-np.round(values.mean(axis=1), 12), kind="stable")[:2]
    (estimate,), _ = mean_estimates((values[best] - values[second])[None], ids, **bootstrap)
    return [
        rivals[best].row(
            NAME,
            perturbation=rivals[best].evidence[0],
            temperature=temperature,
            kind="choice",
            **known(estimate),
            n=len(ids),
            n_missing=int(sum(grid.n_missing[0, grid.temperatures.index(temperature)].sum() for grid in rivals)),
            n_left_out=len(set().union(*(grid.question_ids for grid in rivals))) - len(ids),
            other=rivals[second].system,
            n_systems=len(rivals),
            mean=float(values[best].mean()),
            verdict="best" if estimate[1] > 0 else "no clear winner",
        )
    ]
