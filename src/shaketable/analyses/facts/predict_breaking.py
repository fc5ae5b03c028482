"""Can the temperature at which a fact breaks be foretold from one greedy answer?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from shaketable.analyses.facts.facts import LABELS, Breaking, Fact, Facts, Row, facts_of, ids, numbers, pooled, settled
from shaketable.facts.score import Rule
from shaketable.identity import seed_from
from shaketable.report.old_words import bounds, holds_zero, number, questions, said
from shaketable.statistics.intervals import Numbers, Statistic, estimated
from shaketable.statistics.intervals import known as estimate_columns
from shaketable.types import Curve, OldFinding, Scan

NAME = "predict_breaking"
PREDICTORS = ("entropy", "margin", "length", "type")
"""In the order in which models gain them."""
N_LEAST = 5
"""Facts in each fold, at least."""


def predict_breaking(
    table: pl.DataFrame,
    *,
    curves: Sequence[Curve] = (),
    scan: Scan | None = None,
    known: str | None = None,
    correct: str | None = None,
    n_folds: int = 5,
    rule: Rule = "first",
    threshold: float | None = None,
    inclusive: bool = False,
    confidence: float = 0.95,
    n_resamples: int = 2000,
) -> OldFinding:
    """Cross-validated R² of least squares for log(1 + breaking temperature), with one predictor more each time.

    Predictors are entropy, the margin between the two best first tokens, the answer's length in tokens and the question
    type; one that no fact has is left out. Breaking temperatures are those of curves where a fact has one, else of the
    scan; facts that do not break have none. Kind `r2`: the share of variance foretold in unseen facts. Kind `gain`:
    what a model adds to entropy alone.
    """
    scan = settled(scan, known=known, correct=correct, threshold=threshold)
    how = Breaking(rule=rule, threshold=scan.threshold, inclusive=inclusive)
    bootstrap: dict[str, Any] = {"confidence": confidence, "n_resamples": n_resamples}
    every = pooled(facts_of(table, curves, scan))
    rows = [row for facts in every for row in _rows(facts, how, n_folds, bootstrap)]
    _add_sentences(rows)
    return OldFinding(
        analysis=NAME,
        question="Can the temperature at which a fact breaks be foretold from one greedy answer?",
        rows=tuple(rows),
        sentences=tuple(said(row) for row in rows if row["sentence"]),
        caveats=_caveats(rows, confidence, n_resamples),
        settings={
            "known": scan.known,
            "correct": scan.correct,
            "n_folds": n_folds,
            "rule": rule,
            "threshold": scan.threshold,
            "inclusive": inclusive,
            **bootstrap,
        },
    )


def _rows(facts: Facts, how: Breaking, n_folds: int, bootstrap: dict[str, Any]) -> list[Row]:
    if not facts.known:
        return []
    columns = {name: _column(facts.known, name) for name in PREDICTORS}
    usable = [name for name, column in columns.items() if not np.isnan(column).all()]
    if "entropy" not in usable:
        return []
    target = np.log1p(numbers(_breaking(fact, how) for fact in facts.known))
    whole = ~np.isnan(target) & ~np.isnan(np.column_stack([columns[name] for name in usable])).any(axis=1)
    used = [fact for fact, is_whole in zip(facts.known, whole, strict=True) if is_whole]
    sample = {"n": len(used), "n_left_out": len(facts.known) - len(used)}
    if len(used) < N_LEAST * n_folds:
        too_few = f"{len(used)} facts with a breaking temperature, {N_LEAST * n_folds} are needed"
        missing = {"value": None, "low": None, "high": None, "predictors": "entropy", "reason": too_few}
        return [facts.row(NAME, metric="breaking", unit="ratio", kind="r2", **missing, **sample)]
    y, names = target[whole], ids(used)
    folds = folds_of(names, n_folds)
    errors = np.stack(
        [
            (y - predicted(np.column_stack([columns[name][whole] for name in usable[:n]]), y, folds)) ** 2
            for n in range(1, len(usable) + 1)
        ]
    )
    fits = estimated(r_squared(errors, y), names, len(errors), **bootstrap)
    gains = estimated(_gain(errors, y), names, len(errors), **bootstrap)
    reason = None if y.std() > 0 else "all facts break at the same temperature"
    return [
        facts.row(
            NAME,
            metric="breaking",
            unit="ratio",
            kind=kind,
            **estimate_columns(estimate),
            predictors=" + ".join(usable[: n + 1]),
            reason=reason,
            **sample,
        )
        for kind, estimates in (("r2", fits), ("gain", gains))
        for n, estimate in enumerate(estimates)
        if kind == "r2" or n
    ]


def folds_of(question_ids: Sequence[str], n_folds: int) -> Numbers:
    """The fold of each question: even in size, and the same for the same questions."""
    order = np.random.default_rng(seed_from("folds", *question_ids)).permutation(len(question_ids))
    folds = np.empty(len(question_ids))
    folds[order] = np.arange(len(question_ids)) % n_folds
    return folds


def predicted(predictors: Numbers, target: Numbers, folds: Numbers) -> Numbers:
    """What least squares on the other folds foretells for each."""
    design = np.column_stack([np.ones(len(target)), predictors])
    found = np.empty_like(target)
    for fold in np.unique(folds):
        here = folds == fold
        weights, *_ = np.linalg.lstsq(design[~here], target[~here], rcond=None)
        found[here] = design[here] @ weights
    return found


def r_squared(errors: Numbers, target: Numbers) -> Statistic:
    """1 − squared errors / variance of each row of errors, for all resamples at once."""
    centered = target - target.mean()

    def fit(drawn: Numbers) -> Numbers:
        n = drawn.sum(axis=-1)
        variance = centered**2 @ drawn.T / n - (centered @ drawn.T / n) ** 2
        left = errors @ drawn.T / n
        ratio: Numbers = np.divide(left, variance, out=np.full_like(left, np.nan), where=variance > 1e-15)
        return 1 - ratio

    return fit


def _gain(errors: Numbers, target: Numbers) -> Statistic:
    fit = r_squared(errors, target)

    def gain(drawn: Numbers) -> Numbers:
        fits = fit(drawn)
        return fits - fits[:1]

    return gain


def _breaking(fact: Fact, how: Breaking) -> float | None:
    """A curve that ends before the fact breaks tells only a lower bound, which no regression can use."""
    if fact.curve is not None:
        return None if how.is_censored(fact) else how.uncapped(fact)
    return how.capped(fact)


def _column(facts: Sequence[Fact], name: str) -> Numbers:
    """One column, or for types one of zeros and ones for each type but the first that occurs."""
    if name != "type":
        return numbers(
            {"entropy": fact.entropy, "margin": fact.margin, "length": fact.n_tokens}[name] for fact in facts
        )[:, None]
    labels = [label for label in LABELS if any(fact.type == label for fact in facts)]
    return np.array(
        [
            [np.nan if fact.type is None else float(fact.type == label) for label in labels[1:]] or [np.nan]
            for fact in facts
        ]
    ).reshape(len(facts), -1)


def _add_sentences(rows: Sequence[Row]) -> None:
    """One for each system, with the largest gain over entropy alone."""
    systems: dict[str, list[Row]] = {}
    for row in rows:
        row.update(headline=None, sentence=None, detail=None)
        if row["value"] is not None and row["low"] is not None:
            systems.setdefault(row["system"], []).append(row)
    for system, known in systems.items():
        alone, *_ = known
        gains = [row for row in known if row["kind"] == "gain" and not holds_zero(row) and row["value"] > 0]
        best = max(gains, key=lambda row: row["value"], default=None)
        told = "was not shown to foretell" if holds_zero(alone) or alone["value"] < 0 else "foretells"
        more = "nothing else was shown to add to it"
        if best is not None:
            more = f"{best['predictors'].removeprefix('entropy + ')} add {number(best['value'], 'ratio')}{bounds(best)}"
        alone.update(
            headline="foretold",
            sentence=f"Entropy alone {told} when {system} loses a fact: R² is "
            f"{number(alone['value'], 'ratio')}{bounds(alone)}; {more}.",
            detail=f"R² is the share of variance foretold in unseen facts ({questions(alone['n'])}).",
        )


def _caveats(rows: Sequence[Row], confidence: float, n_resamples: int) -> tuple[str, ...]:
    if not rows:
        return ()
    return (
        f"Intervals hold {100 * confidence:g} % of {n_resamples:,} bootstrap resamples of the out-of-fold errors; the "
        "folds stay as they are.",
        "Facts that do not break within the scan or the curve have no breaking temperature and are left out.",
        "A negative R² means that the mean of all facts would have foretold better.",
    )
