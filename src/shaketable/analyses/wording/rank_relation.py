"""How two numbers of wordings go together over questions, by their ranks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from shaketable.statistics.intervals import Bootstrap
from shaketable.statistics.rank_correlation import spearman_of, spearman_test
from shaketable.types import Estimate

TOO_FEW = "fewer than three wordings, or one side does not vary"


def correlate_ranks(
    points: Sequence[tuple[str, float, float]], bootstrap: Bootstrap, reason: str = TOO_FEW
) -> tuple[Estimate, float | None]:
    """Rho of points of questions, and its p; without a value the reason is this one."""
    questions = sorted({question for question, _, _ in points})
    if len(points) < 3:
        nothing = math.nan, math.nan, math.nan
        return bootstrap.estimate(*nothing, n=len(questions), reason=reason), None
    x, y = (np.array([point[side] for point in points], dtype=np.float64) for side in (1, 2))
    owners = [questions.index(question) for question, _, _ in points]
    (rho,) = bootstrap.statistics(spearman_of(x, y, owners), questions, 1)
    if rho.value is None:
        return replace(rho, reason=reason), None
    return rho, spearman_test(x, y, owners, questions)
