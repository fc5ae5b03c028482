"""Can the temperature at which a fact breaks be foretold from one greedy answer?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from shaketable.analyses.claims import Claim, Subject
from shaketable.analyses.facts.breaking_rule import BreakingRule
from shaketable.analyses.facts.facts import LABELS, Fact, Facts, ids, numbers, pool_datasets
from shaketable.analyses.facts.reading import BY_SCAN, Reading
from shaketable.analyses.rows import Located
from shaketable.analyses.tables import Tables
from shaketable.identity import seed_from
from shaketable.statistics.intervals import ROUNDING, Bootstrap, Numbers, Statistic
from shaketable.statistics.sign_flips import sign_flip
from shaketable.types import Estimate

Predictor = Literal["entropy", "margin", "length", "type"]
PREDICTORS: tuple[Predictor, ...] = ("entropy", "margin", "length", "type")
"""In the order in which models gain them."""
N_LEAST = 5
"""Facts in each fold, at least."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fit(Located):
    """Least squares for log(1 + breaking temperature), cross-validated."""

    predictors: tuple[Predictor, ...]
    r_squared: Estimate
    """The share of variance foretold in unseen facts."""
    gain: Estimate | None
    """What it adds to entropy alone; None: this is entropy alone."""
    n_left_out: int
    """Known facts that do not break, or lack a predictor."""
    p: float | None = None
    """That it foretells unseen facts better than entropy alone, or with entropy alone than their mean, by the signs of
    what it saves flipped; 1 where it saves nothing. None: there was nothing to test."""

    @property
    def subject(self) -> Subject:
        return Subject(kind="foretold", cell=self.cell, other=" + ".join(self.predictors))


@dataclass(frozen=True, kw_only=True, slots=True)
class PredictedBreaking:
    """Can the temperature at which a fact breaks be foretold from one greedy answer?"""

    fits: tuple[Fit, ...]
    """Of each system, with one predictor more each time."""
    n_folds: int
    reading: Reading

    def claims(self) -> Iterable[Claim]:
        """That entropy foretells the break, and that more predictors add to it: these weigh as one claim together."""
        for fit in self.fits:
            n_more = sum(other.gain is not None for other in self.fits if other.cell == fit.cell)
            yield Claim(
                subject=fit.subject,
                estimate=fit.r_squared if fit.gain is None else fit.gain,
                p=fit.p,
                weight=1.0 if fit.gain is None else 1 / n_more,
            )


def predict_breaking(tables: Tables, *, n_folds: int = 5, reading: Reading = BY_SCAN) -> PredictedBreaking:
    """Cross-validated R² of least squares for log(1 + breaking temperature), with one predictor more each time.

    Predictors are entropy, the margin between the two best first tokens, the answer's length in tokens and the question
    type; one that no fact has is left out. Breaking temperatures are those of curves where a fact has one, else of the
    scan; facts that do not break have none.
    """
    every, rule = reading.read(tables)
    fits = [fit for facts in pool_datasets(every) for fit in _fits(facts, rule, n_folds, tables.bootstrap)]
    return PredictedBreaking(fits=tuple(fits), n_folds=n_folds, reading=reading.settle(tables.scan))


def _fits(facts: Facts, rule: BreakingRule, n_folds: int, bootstrap: Bootstrap) -> list[Fit]:
    known = facts.known
    columns = {name: _column(known, name) for name in PREDICTORS} if known else {}
    usable = [name for name, column in columns.items() if not np.isnan(column).all()]
    if "entropy" not in usable:
        return []
    target = np.log1p(numbers(_breaking(fact, rule) for fact in known))
    whole = ~np.isnan(target) & ~np.isnan(np.column_stack([columns[name] for name in usable])).any(axis=1)
    used = [fact for fact, is_whole in zip(known, whole, strict=True) if is_whole]
    n_left_out = len(known) - len(used)
    if len(used) < N_LEAST * n_folds:
        too_few = f"{len(used)} facts with a breaking temperature, {N_LEAST * n_folds} are needed"
        nothing = bootstrap.estimate(np.nan, np.nan, np.nan, n=len(used), unit="ratio", reason=too_few)
        return [Fit(cell=facts.cell, predictors=("entropy",), r_squared=nothing, gain=None, n_left_out=n_left_out)]
    y, names = target[whole], ids(used)
    folds = folds_of(names, n_folds)
    designs = [np.column_stack([columns[name][whole] for name in usable[: i + 1]]) for i in range(len(usable))]
    errors = np.stack([(y - predicted(design, y, folds)) ** 2 for design in designs])
    p_values = _p_values(errors, (y - predicted(np.empty((len(y), 0)), y, folds)) ** 2, names)
    reason = None if y.std() > 0 else "all facts break at the same temperature"
    r_squares, gains = (
        [
            replace(estimate, reason=reason)
            for estimate in bootstrap.statistics(statistic, names, len(errors), unit="ratio")
        ]
        for statistic in (r_squared(errors, y), _gain(errors, y))
    )
    return [
        Fit(
            cell=facts.cell,
            predictors=tuple(usable[: i + 1]),
            r_squared=r_squares[i],
            gain=gains[i] if i else None,
            n_left_out=n_left_out,
            p=p_values[i],
        )
        for i in range(len(usable))
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
    values = np.empty_like(target)
    for fold in np.unique(folds):
        here = folds == fold
        weights, *_ = np.linalg.lstsq(design[~here], target[~here], rcond=None)
        values[here] = design[here] @ weights
    return values


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


def _p_values(errors: Numbers, of_mean: Numbers, names: Sequence[str]) -> list[float]:
    """That predictions save squared error: those of entropy alone over the mean, the others over entropy alone."""
    saved = np.round(np.vstack([of_mean, np.repeat(errors[:1], len(errors) - 1, axis=0)]) - errors, ROUNDING)
    return [p if own.mean() > 0 else 1.0 for p, own in zip(sign_flip(saved, names), saved, strict=True)]


def _breaking(fact: Fact, rule: BreakingRule) -> float | None:
    """A curve that ends before the fact breaks tells only a lower bound, which no regression can use."""
    if fact.curve is not None:
        return None if rule.is_censored(fact) else rule.uncapped(fact)
    return rule.capped(fact)


def _column(facts: Sequence[Fact], name: Predictor) -> Numbers:
    """One column, or for types one of zeros and ones for each type but the first that occurs."""
    if name == "entropy":
        return numbers(fact.entropy for fact in facts)[:, None]
    if name == "margin":
        return numbers(fact.margin for fact in facts)[:, None]
    if name == "length":
        return numbers(fact.n_tokens for fact in facts)[:, None]
    labels = [label for label in LABELS if any(fact.type == label for fact in facts)]
    return np.array(
        [
            [np.nan if fact.type is None else float(fact.type == label) for label in labels[1:]] or [np.nan]
            for fact in facts
        ]
    ).reshape(len(facts), -1)
