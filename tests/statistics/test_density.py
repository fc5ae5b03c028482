from __future__ import annotations

import pytest
from scipy import stats

from shaketable.statistics.density import kernel_density


def test_a_density_is_a_mean_of_normal_curves_around_the_values() -> None:
    # Scott's bandwidth of 0, 1 and 2: their standard deviation, 1, times 3 ** (-1 / 5).
    (height,) = kernel_density([0.0, 1.0, 2.0], [0.5]) or ()
    assert height == pytest.approx(sum(stats.norm.pdf(0.5, mean, 3 ** (-1 / 5)) for mean in (0, 1, 2)) / 3)


def test_two_different_values_are_too_few_to_smooth() -> None:
    assert kernel_density([0.2, 0.2, 0.7], [0.5]) is None
    assert kernel_density([], [0.5]) is None
