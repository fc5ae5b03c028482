"""How firmly a model holds a fact: entropy, breaking temperature and the Factual Robustness Score.

After "From Confidence to Collapse in LLM Factual Robustness" (arXiv 2508.16267).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

Rule = Literal["first", "last", "bisect"]
RULES = ("first", "last", "bisect")
GIVEN_ENTROPY = "entropy"
"""The note of a record whose entropy was computed elsewhere."""
D = (1, 2, 5, 10, 50)
"""The exponents of the study: how hard entropy is punished."""
TOLERANCE = 1e-9
"""Shares such as 3/10 + 2/10 miss a threshold by less than this."""


def entropy_of_top(probabilities: Sequence[float], *, base: float = 10.0, renormalize: bool = False) -> float:
    """−Σ p log p of the most likely tokens; a probability of 0 adds nothing.

    With base 10 and ten tokens it lies in [0, 1], renormalized or not. `renormalize` divides by their sum first.
    """
    total = math.fsum(probabilities) if renormalize else 1.0
    shares = [p / total for p in probabilities if p > 0]
    return max(0.0, -math.fsum(p * math.log(p) for p in shares) / math.log(base))


def is_broken(accuracy: float, *, threshold: float = 0.5, inclusive: bool = False) -> bool:
    """Whether the share of correct answers lies below the threshold; `inclusive`: or on it.

    A temperature left early, as soon as its verdict was certain, gets the same verdict from the answers it has.
    """
    return accuracy <= threshold + TOLERANCE if inclusive else accuracy < threshold - TOLERANCE


def breaking_temperature(
    accuracies: Mapping[float, float], *, rule: Rule = "first", threshold: float = 0.5, inclusive: bool = False
) -> float | None:
    """The temperature at which a fact breaks, of those that were tried; None: unbroken.

    `first`: the coolest broken one. `last`: where the final run of broken ones begins. `bisect`: what halving the grid
    finds, which asks few temperatures and is right where accuracy only falls.
    """
    grid = sorted(accuracies)
    broken = [is_broken(accuracies[t], threshold=threshold, inclusive=inclusive) for t in grid]
    if rule == "first":
        index = broken.index(True) if True in broken else len(grid)
    elif rule == "last":
        index = len(grid) - next((i for i, breaks in enumerate(reversed(broken)) if not breaks), len(grid))
    elif rule == "bisect":
        holds, index = -1, len(grid)
        while index - holds > 1:
            middle = (holds + index) // 2
            holds, index = (holds, middle) if broken[middle] else (middle, index)
    else:
        raise ValueError(f"rule is {rule!r}, expected one of {', '.join(RULES)}.")
    return grid[index] if index < len(grid) else None


def f(entropy: float, breaking: float, d: float = 1) -> float:
    """(1 − H)^d (t_b + 1) − H / (t_b + 1), the study's equation 3; at least −1."""
    return float((1 - entropy) ** d * (breaking + 1) - entropy / (breaking + 1))


def frs(entropy: float, breaking: float | None, d: float = 1) -> float:
    """(f + 1) / (f + 2), the study's equation 4; 1 for a fact that does not break."""
    if breaking is None:
        return 1.0
    value = f(entropy, breaking, d)
    return (value + 1) / (value + 2)


def chance_broken(accuracy: float, *, n: int = 10, threshold: float = 0.5, inclusive: bool = False) -> float:
    """How likely n answers, each correct with this probability, declare a temperature broken."""
    return math.fsum(
        math.comb(n, k) * accuracy**k * (1 - accuracy) ** (n - k)
        for k in range(n + 1)
        if is_broken(k / n, threshold=threshold, inclusive=inclusive)
    )


def chances_of_breaking(
    accuracies: Sequence[float], *, n: int = 10, threshold: float = 0.5, inclusive: bool = False
) -> list[float]:
    """How likely a scan by the rule `first` stops at each temperature of a true curve, and last, at none."""
    chances, holds = [], 1.0
    for accuracy in accuracies:
        broken = chance_broken(accuracy, n=n, threshold=threshold, inclusive=inclusive)
        chances.append(holds * broken)
        holds *= 1 - broken
    return [*chances, holds]
