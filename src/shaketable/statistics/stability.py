"""How far the results for two wordings of a question lie apart: counts, vectors, searches and decisions.

The definitions are those of "How You Ask Matters!" (arXiv 2604.10745), where its tables decide between readings.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Literal

import numpy as np

from shaketable.statistics.intervals import Numbers

Zero = Literal["one", "zero", "drop"]
"""What an original without any call is divided by: 1, nothing (the change counts 0), or it is left out."""
Steadiness = Literal["inverse", "one_minus"]
"""1 / (1 + CV), which the published pairs of RE and CVR fit, or 1 - CV, which they do not."""


def relative_change(original: float, reworded: float, zero: Zero = "one") -> float | None:
    """RE of one question: |reworded - original| / max(original, 1)."""
    if original == 0 and zero != "one":
        return 0.0 if zero == "zero" else None
    return abs(reworded - original) / max(original, 1)


def steadiness(counts: Sequence[float], form: Steadiness = "inverse") -> float:
    """CVR of one question: 1 where all wordings cost the same; the standard deviation is the population's."""
    mean = float(np.mean(counts))
    variation = float(np.std(counts)) / mean if mean else 0.0
    return 1 / (1 + variation) if form == "inverse" else 1 - variation


def pair_steadiness(counts: Sequence[float], form: Steadiness = "inverse") -> float:
    """The mean CVR of all pairs; there are two counts at least.

    That of more than two depends on how many they are, so it cannot be compared with that of fewer.
    """
    first, second = np.triu_indices(len(counts), 1)
    values = np.asarray(counts, dtype=np.float64)
    apart, total = np.abs(values[first] - values[second]), values[first] + values[second]
    variation = np.divide(apart, total, out=np.zeros_like(total), where=total > 0)
    return float(np.mean(1 / (1 + variation) if form == "inverse" else 1 - variation))


def diversity(vectors: Numbers) -> float:
    """One minus the mean cosine of all pairs of unit vectors; there are two at least."""
    n = len(vectors)
    total = vectors.sum(axis=0)
    return float(1 - (total @ total - np.einsum("ij,ij->", vectors, vectors)) / (n * (n - 1)))


def aligned_similarity(similarities: Sequence[float], n_longer: int, *, missing_is_zero: bool = False) -> float | None:
    """MSS: the mean similarity of aligned hops; hops that only the longer one has count 0, or not at all."""
    n = n_longer if missing_is_zero else len(similarities)
    return math.fsum(similarities) / n if n else None


def overlap(first: Collection[str], second: Collection[str]) -> float:
    """Jaccard; two searches that brought nothing brought the same."""
    either = set(first) | set(second)
    return len(set(first) & set(second)) / len(either) if either else 1.0


def noise_flip(acts: Sequence[bool], n_wordings: int = 1) -> float | None:
    """The chance that at least one of n other runs of the same wording decides otherwise than one run of it.

    With one other run it is the unbiased 2p(1 - p). None where there are too few runs to draw from.
    """
    n, n_acts = len(acts), sum(acts)
    if n <= n_wordings:
        return None
    alike = sum(k / n * math.comb(k - 1, n_wordings) for k in (n_acts, n - n_acts) if k)
    return 1 - alike / math.comb(n - 1, n_wordings)
