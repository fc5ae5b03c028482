"""How far rows have come before and after → what a step of the batch takes, by its number of rows.

A step takes a time of its own and some for each row, so that the last few rows of a run are as slow as many.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

USUAL_RATIO = 16.0
"""Rows that take as long as the step itself, before it was seen: of small models on processors 5 to 40."""
RATIO_ERROR = 0.7
USUAL_STEPS = 4.0
"""Steps that say as much as the usual ratio."""

Row = tuple[float, float, float]


class Stepping:
    def __init__(self) -> None:
        self.busy = 0.0
        """Seconds in which the model worked, prompts read among them; searches come between."""
        self.most_rows = 0
        """That were under way at once."""
        self.products = [[0.0] * 3 for _ in range(3)]
        self.by_seconds = [0.0] * 3
        """Sums over what was seen: products of steps, rows in all steps and prompts read, and these by seconds."""

    def note(self, before: Mapping[int, int], after: Mapping[int, int], seconds: float) -> None:
        """`before` and `after` some steps: row → tokens so far."""
        n_read = sum(row not in before or n < before[row] for row, n in after.items())
        n_rows = len(before.keys() | after.keys())
        self.most_rows = max(self.most_rows, n_rows)
        steps = max((n - before[row] if n >= before.get(row, n + 1) else n for row, n in after.items()), default=0)
        # Where most rows are new, they may share their prompts.
        if steps < 1 or n_read > len(before):
            return
        features = (steps, steps * n_rows, n_read)
        for i in range(3):
            self.by_seconds[i] += features[i] * seconds / steps
            for j in range(3):
                self.products[i][j] += features[i] * features[j] / steps

    @property
    def is_seen(self) -> bool:
        return self.products[0][0] > 0

    @property
    def mean_rows(self) -> float:
        """In a step."""
        return self.products[0][1] / self.products[0][0]

    def costs(self, shift: float = 0.0) -> Row:
        """Seconds of a step itself, of each row in it, and of reading a prompt: by least squares over what was seen,
        and the usual ratio. `shift`: standard errors by which that is off."""
        ratio = USUAL_RATIO * math.exp(RATIO_ERROR * shift)
        usual = (1.0, -ratio, 0.0)
        products = [[self.products[i][j] + USUAL_STEPS * usual[i] * usual[j] for j in range(3)] for i in range(3)]
        products[2][2] += 1e-9
        a_step, a_row, a_prompt = _solved(products, self.by_seconds)
        if min(a_step, a_row, a_prompt) >= 0:
            return a_step, a_row, a_prompt
        # More was read than steps explain, or less: the usual ratio, and what is left for reading.
        a_prompt = max(a_prompt, 0.0)
        step = (self.by_seconds[0] - a_prompt * self.products[0][2]) / self.products[0][0]
        return step * ratio / (ratio + self.mean_rows), step / (ratio + self.mean_rows), a_prompt


def _solved(products: Sequence[Sequence[float]], sums: Sequence[float]) -> Row:
    """Three equations, by Cramer's rule."""

    def determinant(m: Sequence[Sequence[float]]) -> float:
        return sum(
            m[0][i] * (m[1][(i + 1) % 3] * m[2][(i + 2) % 3] - m[1][(i + 2) % 3] * m[2][(i + 1) % 3]) for i in range(3)
        )

    whole = determinant(products)
    x, y, z = (
        determinant([[sums[row] if column == i else products[row][column] for column in range(3)] for row in range(3)])
        / whole
        for i in range(3)
    )
    return x, y, z
