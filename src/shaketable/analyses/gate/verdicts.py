"""Numbers and thresholds → what is shown to hold, what is shown not to, and what is open.

That all thresholds hold is claimed only where each of them is shown to: each may then be tested by itself (an
intersection-union test). That some threshold does not hold is claimed where one of them is shown not to: these are one
family, which shares the error (Bonferroni, weighted; of a family with one claim that fails Holm says the same).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from shaketable.analyses.claims import TOO_FEW
from shaketable.analyses.floors import N_LEAST
from shaketable.analyses.gate.broken_pairs import BrokenPairs
from shaketable.analyses.gate.quantities import OBSERVED, Quantity, Threshold, bound, limits_against_base, limits_of
from shaketable.analyses.pairs import Unpaired
from shaketable.analyses.rows import Measured
from shaketable.factors import System
from shaketable.types import Estimate, Gate

NOTHING_DIFFERS = "no question differs"
Verdict = Literal["holds", "broken", "undecided"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Check(Measured):
    """One threshold in one condition."""

    threshold: Threshold
    limit: float
    is_minimum: bool
    estimate: Estimate
    """Each of its ends is a bound with the gate's confidence by itself: `level` is that of both together."""
    adjusted: Estimate
    """With as wide an interval as the family of all thresholds and conditions needs."""
    verdict: Verdict
    passes: bool
    """Whether it lets the run pass: what is undecided may, or may not."""
    reason: str | None = None
    """Why nothing can be shown, or why it holds whatever the interval; None: the interval says it."""
    expected: float | None = None
    """Of `max_broken`: how many the repeats of the base would lead one to expect, at most; None: not known."""

    @property
    def deciding(self) -> Estimate:
        """The interval that decided: of what is broken, or is not shown to be worse, the one of the whole family."""
        return self.adjusted if self.is_adjusted else self.estimate

    @property
    def is_adjusted(self) -> bool:
        return not self.is_observed and (self.verdict == "broken" or self.threshold == "max_regression")

    @property
    def is_observed(self) -> bool:
        """Whether the limit is on what happened in this run."""
        return self.threshold in OBSERVED

    @property
    def is_counted(self) -> bool:
        """Whether it is a limit on the number of broken answers."""
        return self.threshold == "max_broken"

    @property
    def is_detail(self) -> bool:
        """Of a comparison, one condition beside the mean over all."""
        return self.threshold == "max_regression" and self.cell.temperature is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Worst:
    """The condition of a system that is worst by one threshold."""

    check: Check
    n: int
    """Conditions that were held against it."""
    n_failing: int
    """Of them, those that do not pass."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """What a gate found."""

    checks: tuple[Check, ...]
    confidence: float
    """Of each end of an interval."""
    unpaired: Mapping[System, tuple[Unpaired, ...]]
    """Against a base: questions and conditions of a system that only one of the runs has."""
    broken: tuple[BrokenPairs, ...] = ()
    """Against a base: of each system, answers that were right and are wrong; none where no metric tells."""

    @property
    def passes(self) -> bool:
        return all(check.passes for check in self.checks)

    def worst(self) -> tuple[Worst, ...]:
        """One for each threshold and system."""
        lines: dict[tuple[Threshold, str | None, System | None], list[Check]] = {}
        for check in self.checks:
            lines.setdefault((check.threshold, check.cell.dataset, check.cell.system), []).append(check)
        return tuple(
            Worst(check=min(line, key=_rank), n=len(line), n_failing=sum(not check.passes for check in line))
            for line in lines.values()
        )


def _rank(check: Check) -> tuple[bool, int, bool, float]:
    """The worst is smallest: what fails, what is shown to, and what lies farthest on the bad side."""
    value = check.limit if check.estimate.value is None else check.estimate.value
    beyond = check.limit - value if check.is_minimum else value - check.limit
    return check.passes, ("broken", "undecided", "holds").index(check.verdict), check.is_detail, -beyond


def judge(
    quantities: Sequence[Quantity],
    gate: Gate,
    *,
    n_resamples: int = 2000,
    unpaired: Mapping[System, tuple[Unpaired, ...]] | None = None,
    broken: Sequence[BrokenPairs] = (),
) -> Checked:
    """Each threshold has the same share of the error; so have its systems, and their conditions as weighted."""
    inferred = [own.threshold for own in quantities if own.threshold not in OBSERVED]
    tail = 1 - gate.confidence
    checks = []
    for quantity in quantities:
        share = tail / max(len(set(inferred)), 1) / max(inferred.count(quantity.threshold), 1)
        near = bound(quantity, [tail] * len(quantity.cells), n_resamples)
        far = bound(quantity, [share * own for own in quantity.shares()], n_resamples)
        checks += [_check(quantity, i, near[i], far[i], gate) for i in range(len(quantity.cells))]
    return Checked(checks=tuple(checks), confidence=gate.confidence, unpaired=unpaired or {}, broken=tuple(broken))


def _check(quantity: Quantity, i: int, near: Estimate, far: Estimate, gate: Gate) -> Check:
    limit = (limits_of(gate) | limits_against_base(gate))[quantity.threshold]
    missing = quantity.missing[i] if quantity.missing else None
    reason = missing or near.reason or (TOO_FEW if near.n < N_LEAST and quantity.threshold not in OBSERVED else None)
    verdict: Verdict
    if quantity.threshold in OBSERVED and near.value is not None:
        verdict = "holds" if near.value <= limit else "broken"
    elif quantity.same and quantity.same[i]:
        verdict, reason = "holds", NOTHING_DIFFERS
    else:
        verdict = "undecided" if reason else _verdict(quantity.is_minimum, limit, near, far)
    if verdict == "holds" and quantity.reason:
        verdict, reason = "undecided", quantity.reason
    undecided = gate.undecided or ("pass" if quantity.threshold == "max_regression" else "fail")
    return Check(
        cell=quantity.cells[i],
        metric=quantity.metric,
        threshold=quantity.threshold,
        limit=limit,
        is_minimum=quantity.is_minimum,
        estimate=near,
        adjusted=far,
        verdict=verdict,
        passes=verdict == "holds" or (verdict == "undecided" and undecided == "pass"),
        reason=reason,
        expected=quantity.expected,
    )


def _verdict(is_minimum: bool, limit: float, near: Estimate, far: Estimate) -> Verdict:
    """A bound on the limit itself is on its good side: exactly as much is allowed."""
    if near.low is None or near.high is None or far.low is None or far.high is None:
        return "undecided"
    if is_minimum:
        return "holds" if near.low >= limit else "broken" if far.high < limit else "undecided"
    return "holds" if near.high <= limit else "broken" if far.low > limit else "undecided"
