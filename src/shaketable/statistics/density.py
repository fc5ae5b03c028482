"""How values are spread: kernel densities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def kernel_density(values: Sequence[float], at: Sequence[float]) -> list[float] | None:
    """A Gaussian kernel density with Scott's bandwidth at each place; None: too few different values to smooth."""
    if len(set(values)) < 3:
        return None
    from scipy import stats

    return [float(height) for height in stats.gaussian_kde(np.array(values))(np.array(at))]
