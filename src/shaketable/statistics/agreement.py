"""How far two judges agree on yes or no: the share of equal verdicts and Cohen's kappa, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shaketable.identity import seed_from
from shaketable.types import Estimate

Numbers = NDArray[np.float64]
MAX_UNDEFINED = 0.05
"""Of the resamples; with more than this there is no interval."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Agreement:
    share: Estimate
    """Of what both judged, that with the same verdict."""
    kappa: Estimate
    """Cohen's: agreement beyond what two judges with these habits would reach by chance; 1 is full, 0 is chance."""
    kappa_reason: str | None
    """Why kappa or its interval is None."""


def agreement_of(
    question_ids: Sequence[str], first: ArrayLike, second: ArrayLike, *, confidence: float, n_resamples: int
) -> Agreement:
    """How far two verdicts on each of some things agree. Things of one question are alike, so questions are drawn."""
    a, b = np.asarray(first, bool), np.asarray(second, bool)
    cells = np.stack([a & b, a & ~b, b & ~a, ~a & ~b], axis=1)
    kappa, n_undefined = _estimate(question_ids, cells, _kappa, confidence, n_resamples)
    return Agreement(
        share=share_of(question_ids, a == b, confidence=confidence, n_resamples=n_resamples),
        kappa=kappa,
        kappa_reason=_reason(kappa, n_undefined, n_resamples),
    )


def share_of(question_ids: Sequence[str], verdicts: ArrayLike, *, confidence: float, n_resamples: int) -> Estimate:
    """The share of verdicts that are yes."""
    yes = np.asarray(verdicts, bool)
    share, _ = _estimate(question_ids, np.stack([yes, ~yes], axis=1), _first_share, confidence, n_resamples)
    return share


def _first_share(totals: Numbers) -> Numbers:
    shares: Numbers = totals[:, 0] / totals.sum(axis=1)
    return shares


def _kappa(totals: Numbers) -> Numbers:
    """Of (both say yes, first alone, second alone, both no); NaN where each gave one verdict alone, the same."""
    both, first, second, neither = totals.T
    n = totals.sum(axis=1)
    observed = (both + neither) / n
    by_chance = ((both + first) * (both + second) + (second + neither) * (first + neither)) / n**2
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(by_chance == 1, np.nan, (observed - by_chance) / (1 - by_chance))


def _estimate(
    question_ids: Sequence[str],
    counts: NDArray[np.bool_],
    statistic: Callable[[Numbers], Numbers],
    confidence: float,
    n_resamples: int,
) -> tuple[Estimate, int]:
    """The estimate of a statistic of counts (things × cells), and how many resamples leave it undefined."""
    questions = sorted(set(question_ids))
    index = {question: i for i, question in enumerate(questions)}
    cells = np.zeros((len(questions), counts.shape[1]))
    np.add.at(cells, [index[question] for question in question_ids], counts)
    value = float(statistic(cells.sum(axis=0, keepdims=True))[0])
    n, tail = len(questions), (1 - confidence) / 2
    low: float | None = None
    high: float | None = None
    how, n_undefined = f"bootstrap over {n} questions ({n_resamples})", 0
    if statistic is _first_share and value in (0.0, 1.0):
        # Resampling equal values would claim certainty. Clopper and Pearson's bound, one verdict per question.
        how, edge = f"exact binomial over {n} questions", tail ** (1 / n)
        low, high = (edge, 1.0) if value else (0.0, 1 - edge)
    elif n > 1 and value < 1:
        rng = np.random.default_rng(seed_from("bootstrap", *questions))
        drawn = statistic(rng.multinomial(n, np.full(n, 1 / n), n_resamples) @ cells)
        n_undefined = int(np.isnan(drawn).sum())
        if n_undefined <= MAX_UNDEFINED * n_resamples:
            low, high = (float(bound) for bound in np.nanquantile(drawn, (tail, 1 - tail)))
    known = None if np.isnan(value) else value
    return Estimate(value=known, low=low, high=high, level=confidence, n=len(counts), how=how), n_undefined


def _reason(kappa: Estimate, n_undefined: int, n_resamples: int) -> str | None:
    if kappa.value is None:
        return "both gave one and the same verdict throughout, so that chance alone would agree as well"
    if kappa.low is not None:
        return None
    if kappa.value == 1:
        return "they agree on everything, and resampling cannot say how far below 1 kappa may lie"
    if n_undefined:
        return f"kappa is undefined in {n_undefined} of {n_resamples} resamples: too few verdicts differ"
    return "an interval needs verdicts on two questions"
