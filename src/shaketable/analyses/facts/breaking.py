"""At which temperature do facts break, and does entropy foretell it?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from shaketable.analyses.facts.facts import (
    Breaking,
    Fact,
    Facts,
    Row,
    each_and_pooled,
    facts_of,
    ids,
    numbers,
    pooled_rows,
    settled,
)
from shaketable.facts.score import Rule, chances_of_breaking, is_broken
from shaketable.report.old_words import bounds, holds_zero, level, number, questions, said
from shaketable.statistics.intervals import Numbers, Statistic, agreed, estimated, mean_estimates
from shaketable.statistics.intervals import known as estimate_columns
from shaketable.types import Curve, OldFinding, Scan

NAME = "breaking"


def breaking(
    table: pl.DataFrame,
    *,
    curves: Sequence[Curve] = (),
    scan: Scan | None = None,
    known: str | None = None,
    correct: str | None = None,
    rule: Rule = "first",
    threshold: float | None = None,
    inclusive: bool = False,
    unbroken: float | None = None,
    repeats: int = 10,
    confidence: float = 0.95,
    n_resamples: int = 2000,
) -> OldFinding:
    """Entropy against breaking temperature, over known facts.

    Kind `pearson`: correlation of entropy and breaking temperature over broken facts; `unbroken`, such as 2.2, puts
    the others there instead of leaving them out. Kind `entropy`: mean entropy of the facts that break at a temperature.
    Kind `broken`: the share of facts that break there; with temperature None, anywhere. With curves, kind
    `too_early` is the share of facts whose sampled scan broke below the grid temperature at which the curve does, and
    `too_early_expected` what `repeats` answers at each temperature would give by chance (not for the strategy
    `sequential`, which takes as many as it needs).
    """
    scan = settled(scan, known=known, correct=correct, threshold=threshold)
    how = Breaking(rule=rule, threshold=scan.threshold, inclusive=inclusive)
    bootstrap: dict[str, Any] = {"confidence": confidence, "n_resamples": n_resamples}
    rows = [
        row
        for facts in each_and_pooled(facts_of(table, curves, scan))
        for row in (
            _pearson(facts, how, unbroken, bootstrap),
            *_by_temperature(facts, how, unbroken, bootstrap),
            *_too_early(facts, how, repeats, bootstrap),
        )
        if row["kind"] != "too_early_expected" or scan.strategy != "sequential"
    ]
    _add_sentences(rows)
    return OldFinding(
        analysis=NAME,
        question="At which temperature do facts break, and does entropy foretell it?",
        rows=tuple(rows),
        sentences=tuple(said(row) for row in rows if row["sentence"]),
        caveats=_caveats(rows, unbroken, confidence, n_resamples),
        settings={
            "known": scan.known,
            "correct": scan.correct,
            "rule": rule,
            "threshold": scan.threshold,
            "inclusive": inclusive,
            "unbroken": unbroken,
            "repeats": repeats,
            **bootstrap,
        },
    )


def pearson(first: Numbers, second: Numbers) -> Statistic:
    """Their correlation for all resamples at once; NaN where one of them does not vary."""
    a, b = first - first.mean(), second - second.mean()
    powers = np.stack([a, b, a * a, b * b, a * b])

    def r(drawn: Numbers) -> Numbers:
        mean_a, mean_b, aa, bb, ab = powers @ drawn.T / drawn.sum(axis=-1)
        spread = (aa - mean_a**2) * (bb - mean_b**2)
        usable = spread > 1e-15
        found: Numbers = np.where(usable, (ab - mean_a * mean_b) / np.sqrt(np.where(usable, spread, 1)), np.nan)
        return found[None]

    return r


def _broken_at(fact: Fact, how: Breaking, unbroken: float | None) -> float | None:
    found = how.capped(fact)
    return unbroken if found is None else found


def _pearson(facts: Facts, how: Breaking, unbroken: float | None, bootstrap: dict[str, Any]) -> Row:
    pairs = [
        (fact, _broken_at(fact, how, unbroken))
        for fact in facts.known
        if fact.entropy is not None and how.is_decided(fact)
    ]
    used = [fact for fact, at in pairs if at is not None]
    estimate = np.full(3, np.nan)
    if len(used) > 2:
        at = numbers(found for _, found in pairs if found is not None)
        statistic = pearson(numbers(fact.entropy for fact in used), at)
        estimate = estimated(statistic, ids(used), 1, **bootstrap)[0]
    reason = "fewer than three broken facts" if len(used) < 3 else "entropy or breaking temperature does not vary"
    return facts.row(
        NAME,
        metric="entropy",
        unit="ratio",
        kind="pearson",
        **estimate_columns(estimate),
        n=len(used),
        n_unbroken=sum(found is None for _, found in pairs),
        n_missing=len(facts.known) - len(pairs),
        reason=reason if np.isnan(estimate[0]) else None,
    )


def _by_temperature(facts: Facts, how: Breaking, unbroken: float | None, bootstrap: dict[str, Any]) -> list[Row]:
    known = [fact for fact in facts.known if how.is_decided(fact)]
    if not known:
        return []
    at = [_grid(how.capped(fact)) for fact in known]
    temperatures = sorted({t for fact in known for t in fact.accuracies} | {t for t in at if t is not None})
    rows = []
    shares = [[float(found == t) for found in at] for t in temperatures]
    estimates, counts = mean_estimates(
        numbers(value for line in [[float(found is not None) for found in at], *shares] for value in line).reshape(
            len(temperatures) + 1, len(known)
        ),
        ids(known),
        **bootstrap,
        is_share=True,
    )
    for t, estimate, n in zip([None, *temperatures], estimates, counts, strict=True):
        columns = estimate_columns(estimate)
        rows.append(facts.row(NAME, metric="breaking", unit="share", kind="broken", temperature=t, **columns, n=int(n)))
    groups = {t: [fact for fact, found in zip(known, at, strict=True) if found == t] for t in temperatures}
    if unbroken is not None:
        groups[unbroken] = [fact for fact, found in zip(known, at, strict=True) if found is None]
    for t, group in groups.items():
        with_entropy = [fact for fact in group if fact.entropy is not None]
        if with_entropy:
            (estimate,), (n,) = mean_estimates(
                numbers(fact.entropy for fact in with_entropy)[None],
                ids(with_entropy),
                **bootstrap,
            )
            columns = estimate_columns(estimate)
            rows.append(
                facts.row(NAME, metric="entropy", unit="score", kind="entropy", temperature=t, **columns, n=int(n))
            )
    return rows


def _grid(temperature: float | None) -> float | None:
    """To the tenth: breaking temperatures of curves are continuous, and groups need neighbours."""
    return None if temperature is None else round(temperature, 1)


def _too_early(facts: Facts, how: Breaking, repeats: int, bootstrap: dict[str, Any]) -> list[Row]:
    """For facts that have a scan, and a curve that is known at every temperature of the study up to its break."""
    grid = sorted({t for fact in facts.known for t in fact.accuracies})
    found = []
    for fact in facts.known:
        holds = _holds_at(fact, grid, how)
        if holds is not None and fact.accuracies and how.is_decided(fact):
            at = how.capped(fact)
            early = at is not None and grid.index(at) < len(holds)
            chances = chances_of_breaking(holds, n=repeats, threshold=how.threshold, inclusive=how.inclusive)
            found.append((fact, float(early), sum(chances[:-1])))
    if not found:
        return []
    used = [fact for fact, *_ in found]
    estimates, counts = mean_estimates(
        np.array([[early for _, early, _ in found], [chance for *_, chance in found]]),
        ids(used),
        **bootstrap,
        is_share=True,
    )
    return [
        facts.row(NAME, metric="breaking", unit="share", kind=kind, **estimate_columns(estimate), n=int(n))
        for kind, estimate, n in zip(("too_early", "too_early_expected"), estimates, counts, strict=True)
    ]


def _holds_at(fact: Fact, grid: Sequence[float], how: Breaking) -> list[float] | None:
    """What the curve says at the temperatures below its own break; None where it cannot say."""
    if fact.curve is None:
        return None
    at = {round(t, 6): value for t, value in zip(fact.curve.temperatures, fact.curve.value, strict=True)}
    holds = []
    for t in grid:
        value = at.get(round(t, 6))
        if value is None:
            return None
        if is_broken(value, threshold=how.threshold, inclusive=how.inclusive):
            break
        holds.append(value)
    return holds


def _add_sentences(rows: Sequence[Row]) -> None:
    for row in rows:
        row.update(headline=None, sentence=None, detail=None)
    main = [row for row in pooled_rows(rows) if row["value"] is not None]
    expected = {row["system"]: row for row in main if row["kind"] == "too_early_expected"}
    for row in main:
        if row["kind"] == "pearson":
            r = f"r = {number(row['value'], 'ratio')}{bounds(row)}"
            told = "was not shown to foretell" if holds_zero(row) else "foretells"
            direction = "" if holds_zero(row) else (": undecided facts break earlier" if row["value"] < 0 else "")
            row.update(
                headline="breaking",
                sentence=f"The entropy of an answer {told} the temperature at which {row['system']} loses it"
                f"{direction} ({r}).",
                detail=f"Over broken facts ({questions(row['n'])}).",
            )
        elif row["kind"] == "too_early":
            row.update(
                headline="breaking",
                sentence=f"A sampled scan declares {level(row)} of the facts of {row['system']} broken too early.",
                detail="Compared with the curve of the model's own probabilities"
                + (f"; chance alone explains {level(chance)}" if (chance := expected.get(row["system"])) else "")
                + f" ({questions(row['n'])}).",
            )


def _caveats(rows: Sequence[Row], unbroken: float | None, confidence: float, n_resamples: int) -> tuple[str, ...]:
    if not rows:
        return ()
    others = "left out of the correlation" if unbroken is None else f"counted as breaking at {unbroken:g}"
    n_missing = sum(row["n_missing"] for row in pooled_rows(rows) if row["kind"] == "pearson")
    left_out = f"{n_missing:,} known facts have no entropy, or it is not known where they break; they are left out."
    return (
        f"Intervals hold {100 * confidence:g} % of {n_resamples:,} bootstrap resamples of the questions.",
        *agreed(rows),
        f"Facts that do not break are {others}.",
        *([left_out] if n_missing else []),
        "A scan of few answers at each temperature is a noisy test: by chance alone it finds breaks too early.",
    )
