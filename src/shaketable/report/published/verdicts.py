"""How a number of a run is judged beside a published one: only intervals decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from shaketable.types import Estimate

Verdict = Literal["agrees", "differs", "cannot be said", "not comparable"]


class Judgement(NamedTuple):
    verdict: Verdict
    reason: str
    """What decided it, or why it cannot be said."""


def unlike(*requirements: tuple[bool, str]) -> Judgement | None:
    """Return what keeps a run from being compared: the reasons of the requirements that it does not meet; None: it
    meets all."""
    reasons = [reason for is_met, reason in requirements if not is_met]
    return Judgement("not comparable", "; ".join(reasons)) if reasons else None


def exactly(value: float | None) -> Estimate:
    """A number without doubt, such as a published one; None: there is none."""
    return Estimate(value=value, low=value, high=value, level=1.0, n=0, how="")


def mean_estimate(estimates: Sequence[Estimate]) -> Estimate:
    """Over conditions of the same questions. The mean of the ends is no narrower than the interval of the mean."""
    ends = [known for estimate in estimates if (known := _interval(estimate))]
    if not ends:
        return exactly(None)
    value, low, high = (sum(numbers) / len(ends) for numbers in zip(*ends, strict=True))
    n = min(estimate.n for estimate in estimates if _interval(estimate))
    return replace(estimates[0], value=value, low=low, high=high, n=n, reason=None)


def is_known(estimate: Estimate) -> bool:
    """Whether it has a value and an interval."""
    return _interval(estimate) is not None


def _interval(estimate: Estimate) -> tuple[float, float, float] | None:
    """Value, low and high; None unless all are known."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return None
    return estimate.value, estimate.low, estimate.high


def ordered(smaller: Estimate, larger: Estimate, overlapping: str = "the intervals overlap") -> Judgement:
    """Is the first below the second? Only intervals that lie apart decide."""
    first, second = _interval(smaller), _interval(larger)
    if first is None or second is None:
        return Judgement("cannot be said", smaller.reason or larger.reason or "the run has no such numbers")
    if first[2] < second[1]:
        return Judgement("agrees", "the intervals lie apart")
    if first[1] > second[2]:
        return Judgement("differs", "the intervals lie apart, the other way round")
    return Judgement("cannot be said", overlapping)


def signed(estimate: Estimate, sign: Literal[-1, 1]) -> Judgement:
    """Is it above 0 (sign 1), or below (-1)?"""
    smaller, larger = (exactly(0.0), estimate) if sign == 1 else (estimate, exactly(0.0))
    return ordered(smaller, larger, "the interval holds 0")


def least(estimates: Mapping[str, Estimate], name: str, sign: Literal[-1, 1] = 1) -> Judgement:
    """Is the named one the least of all (sign -1: the most)?"""
    others = {other: estimate for other, estimate in estimates.items() if other != name and is_known(estimate)}
    own = estimates.get(name)
    if own is None or not is_known(own) or not others:
        return Judgement("cannot be said", f"the run has no {name} beside others")
    below = {other: ordered(*(own, estimate)[::sign]) for other, estimate in others.items()}
    if all(judgement.verdict == "agrees" for judgement in below.values()):
        return Judgement("agrees", "its interval lies apart from all others")
    beyond = [other for other, judgement in below.items() if judgement.verdict == "differs"]
    if beyond:
        return Judgement("differs", f"{beyond[0]} lies beyond it")
    return Judgement("cannot be said", "the intervals overlap")


def within(estimate: Estimate, published: float) -> Judgement:
    """Does the interval hold the published number?"""
    interval = _interval(estimate)
    if interval is None:
        return Judgement("cannot be said", estimate.reason or "the run has no such number")
    if interval[1] <= published <= interval[2]:
        return Judgement("agrees", "the interval holds the published number")
    return Judgement("differs", "the interval does not hold the published number")


def inside(estimate: Estimate, low: float, high: float, rounding: float = 0.0) -> Judgement:
    """Does it lie in the published range, as far as that was rounded?"""
    interval = _interval(estimate)
    if interval is None:
        return Judgement("cannot be said", estimate.reason or "the run has no such number")
    if low - rounding <= interval[0] <= high + rounding:
        return Judgement("agrees", "the mean lies in the published range")
    if interval[1] > high + rounding or interval[2] < low - rounding:
        return Judgement("differs", "the interval lies outside the published range")
    return Judgement("cannot be said", "the interval reaches into the published range")
