"""Distinct texts → unit vectors, each computed once, and how near two of them are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from shaketable.errors import PackageError, WeightsError
from shaketable.statistics.intervals import Numbers
from shaketable.statistics.stability import diversity
from shaketable.text.encoder import encoder

ENCODER = "all-MiniLM-L6-v2"
"""Embedded. The study uses all-mpnet-base-v2, which can be named instead."""


@dataclass(frozen=True, kw_only=True)
class Vectors:
    of: Mapping[str, Numbers]
    """By text, white space at its ends taken off; all empty texts have one vector, so their similarity is 1."""
    reason: str | None = None
    """Why there are none: the encoder is not at hand. Then nothing is similar or diverse, and nothing fails."""

    def similarity(self, first: str, second: str) -> float | None:
        """The cosine, where rounding may leave 1.0000001; None: not measured."""
        if self.reason:
            return None
        return float(np.clip(self.of[first.strip()] @ self.of[second.strip()], -1.0, 1.0))

    def diversity(self, texts: Iterable[str]) -> float | None:
        return None if self.reason else diversity(np.stack([self.of[text.strip()] for text in texts]))


def vectors_of(texts: Iterable[str], name: str) -> Vectors:
    distinct = sorted({text.strip() for text in texts})
    try:
        embedded = encoder(name).embed(distinct) if distinct else np.empty((0, 0))
    except (PackageError, WeightsError) as error:
        return Vectors(of={}, reason=f"not measured: {error}")
    return Vectors(of=dict(zip(distinct, embedded.astype(np.float64), strict=True)))
