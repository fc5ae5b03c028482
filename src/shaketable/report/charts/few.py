"""A few of many temperatures; it draws nothing, so that pages without a chart need no drawing library."""

from __future__ import annotations

from collections.abc import Sequence


def few(temperatures: Sequence[float], most: int = 4) -> list[float]:
    """Evenly picked, the ends among them, where all would not fit."""
    n = min(most, len(temperatures))
    steps = max(n - 1, 1)
    return [temperatures[round(i * (len(temperatures) - 1) / steps)] for i in range(n)]
