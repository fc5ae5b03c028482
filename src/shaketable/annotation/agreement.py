"""Verdicts of people on machine-made wordings → how many each accepts, and how far two of them agree."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shaketable.annotation.tasks import person
from shaketable.identity import seed_from
from shaketable.types import Estimate

Numbers = NDArray[np.float64]
MAX_UNDEFINED = 0.05
"""Of the resamples; with more than this there is no interval."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Acceptance:
    reviewer: str
    variation: str | None
    """None: all variations together."""
    share: Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class Agreement:
    reviewers: tuple[str, str]
    share: Estimate
    """Of the wordings both judged, those with the same verdict."""
    kappa: Estimate
    """Cohen's: agreement beyond what two people with these habits would reach by chance; 1 is full, 0 is chance."""
    kappa_reason: str | None
    """Why kappa or its interval is None."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdicts:
    accepted: tuple[Acceptance, ...]
    agreements: tuple[Agreement, ...]
    """One for each two people who judged a wording both."""
    left_out: tuple[str, ...]
    """Verdicts that do not count, and why."""


def measure_agreement(
    rows: Sequence[Mapping[str, Any]], *, confidence: float = 0.95, n_resamples: int = 2000
) -> Verdicts:
    """Rows as a file of reviews has them. The intervals resample questions, since wordings of one are alike."""
    verdicts: dict[str, dict[str, bool]] = {}
    of_task: dict[str, tuple[str, str]] = {}
    names: dict[str, str] = {}
    left_out = []
    for row in rows:
        who = person(row["annotator"])
        names.setdefault(who, row["annotator"])
        of_task[row["id"]] = (row["question_id"], row["variation"])
        own = verdicts.setdefault(who, {})
        if row["id"] in own:
            left_out.append(f"A second verdict by {row['annotator']} on '{row['wording']}'.")
        own.setdefault(row["id"], row["accepted"])

    def estimate(values: Mapping[str, Sequence[int]], statistic: Callable[[Numbers], Numbers]) -> tuple[Estimate, int]:
        return _estimate(
            {i: (of_task[i][0], counts) for i, counts in values.items()}, statistic, confidence, n_resamples
        )

    accepted = []
    for who, own in verdicts.items():
        kinds = sorted({of_task[i][1] for i in own})
        for kind in (None, *kinds):
            counted = {i: (yes, not yes) for i, yes in own.items() if kind in (None, of_task[i][1])}
            accepted.append(Acceptance(reviewer=names[who], variation=kind, share=estimate(counted, _first_share)[0]))
    agreements = []
    for one, other in itertools.combinations(verdicts, 2):
        both = [i for i in verdicts[one] if i in verdicts[other]]
        if both:
            pairs = {i: (of_task[i][0], verdicts[one][i], verdicts[other][i]) for i in both}
            agreements.append(agreement_of((names[one], names[other]), pairs, confidence, n_resamples))
    return Verdicts(accepted=tuple(accepted), agreements=tuple(agreements), left_out=tuple(left_out))


def agreement_of(
    reviewers: tuple[str, str], pairs: Mapping[str, tuple[str, bool, bool]], confidence: float, n_resamples: int
) -> Agreement:
    """How far two agree on what both judged: id → question, the verdict of the first, that of the second."""
    same = {i: (question, (a == b, a != b)) for i, (question, a, b) in pairs.items()}
    cells = {
        i: (question, (a and b, a and not b, b and not a, not a and not b)) for i, (question, a, b) in pairs.items()
    }
    kappa, n_undefined = _estimate(cells, _kappa, confidence, n_resamples)
    return Agreement(
        reviewers=reviewers,
        share=_estimate(same, _first_share, confidence, n_resamples)[0],
        kappa=kappa,
        kappa_reason=_reason(kappa, n_undefined, n_resamples),
    )


def _first_share(totals: Numbers) -> Numbers:
    shares: Numbers = totals[:, 0] / totals.sum(axis=1)
    return shares


def _kappa(totals: Numbers) -> Numbers:
    """Of (both accept, first alone, second alone, both reject); NaN where each gave one verdict alone, the same."""
    both, first, second, neither = totals.T
    n = totals.sum(axis=1)
    observed = (both + neither) / n
    by_chance = ((both + first) * (both + second) + (second + neither) * (first + neither)) / n**2
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(by_chance == 1, np.nan, (observed - by_chance) / (1 - by_chance))


def _estimate(
    values: Mapping[str, tuple[str, Sequence[int]]],
    statistic: Callable[[Numbers], Numbers],
    confidence: float,
    n_resamples: int,
) -> tuple[Estimate, int]:
    """The estimate, and how many resamples leave it undefined."""
    questions = sorted({question for question, _ in values.values()})
    place = {question: i for i, question in enumerate(questions)}
    cells = np.zeros((len(questions), len(next(iter(values.values()))[1])))
    for question, counts in values.values():
        cells[place[question]] += counts
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
    return Estimate(value=known, low=low, high=high, level=confidence, n=len(values), how=how), n_undefined


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
