"""Many claims at once: adjusted so that all together are rarely wrong, and what could have been seen."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from statistics import NormalDist

POWER = 0.8
"""How often an effect that could have been seen is seen."""


def weighted_holm(p_values: Sequence[float], weights: Sequence[float], subjects: Sequence[Hashable]) -> list[float]:
    """Holm's adjusted p values where hypotheses have weights, in the same order.

    At most one hypothesis of a subject can be true, such as that two means are equal and that they lie a margin apart:
    such hypotheses share the weight of the heaviest (Shaffer's restriction).
    """
    weights_of: dict[Hashable, list[float]] = {}
    for subject, weight in zip(subjects, weights, strict=True):
        weights_of.setdefault(subject, []).append(weight)
    adjusted, least = [1.0] * len(p_values), 0.0
    for i in sorted(range(len(p_values)), key=lambda i: (p_values[i] / weights[i], i)):
        may_be_true = math.fsum(max(own) for own in weights_of.values() if own)
        least = max(least, min(1.0, p_values[i] * may_be_true / weights[i]))
        adjusted[i] = least
        weights_of[subjects[i]].remove(weights[i])
    return adjusted


def standard_error(low: float, high: float, level: float) -> float:
    """That of a number with this interval, as if it were normal."""
    return (high - low) / (2 * NormalDist().inv_cdf((1 + level) / 2))


def detectable_effect(error: float, alpha: float) -> float:
    """The smallest effect that a two-sided test at alpha sees with a power of 0.8."""
    normal = NormalDist()
    return error * (normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(POWER))


def n_to_show(alpha: float) -> int:
    """The fewest questions with which a test by flipped signs can be below alpha: all differences on one side."""
    return 2 + math.floor(math.log2(1 / alpha))


def n_to_settle(n: int, effect: float, detectable: float) -> int | None:
    """How many questions would see this effect, where n see the detectable one; None: it is 0."""
    return None if effect == 0 else max(n + 1, math.ceil(n * (detectable / effect) ** 2))


def n_to_see(sd: float, effect: float, alpha: float) -> int:
    """How many questions see a mean difference this large with a power of 0.8, by a two-sided test at alpha.

    `sd` is that of the differences between questions: n = ((z₁₋α⸝₂ + z₀.₈) sd / effect)².
    """
    return math.ceil((detectable_effect(sd, alpha) / effect) ** 2)
