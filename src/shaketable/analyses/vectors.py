"""Distinct texts → unit vectors, each computed once."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from shaketable.analyses.intervals import Numbers
from shaketable.encoder import encoder

ENCODER = "all-MiniLM-L6-v2"
"""Embedded. The study uses all-mpnet-base-v2, which can be named instead."""


def vectors_of(texts: Iterable[str], name: str) -> dict[str, Numbers]:
    """White space at the ends does not count; all empty texts have one vector, so their similarity is 1."""
    distinct = sorted({text.strip() for text in texts})
    embedded = encoder(name).embed(distinct) if distinct else np.empty((0, 0))
    return dict(zip(distinct, embedded.astype(np.float64), strict=True))


def cosine(first: Numbers, second: Numbers) -> float:
    """Of unit vectors, where rounding may leave 1.0000001."""
    return float(np.clip(first @ second, -1.0, 1.0))
