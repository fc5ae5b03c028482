"""How far rows have come before and after → what a step of the batch takes, by its number of rows.

A step takes a time of its own and some for each row, so that the last few rows of a run are as slow as many.
"""

from __future__ import annotations

from collections.abc import Mapping

USUAL_RATIO = 8.0
"""Rows that take as long as the step itself, before it was seen: of small models on processors."""


class Stepping:
    def __init__(self) -> None:
        self.busy = 0.0
        """Seconds in which the model worked, prompts read among them; searches come between."""
        self.most_rows = 0
        """That were under way at once."""
        self.n_steps = self.rows = self.rows_squared = self.seconds = self.rows_by_seconds = 0.0
        """Sums over the steps that were seen alone, without any prompt read among them."""

    def note(self, before: Mapping[int, int], after: Mapping[int, int], seconds: float) -> None:
        """`before` and `after` some steps: row → tokens so far."""
        self.most_rows = max(self.most_rows, len(before), len(after))
        advances = {n - before.get(row, n) for row, n in after.items()}
        # A row that is new, or begun again, had its prompt read.
        if len(advances) == 1 and (steps := advances.pop()) > 0:
            n_rows, step = len(before), seconds / steps
            self.n_steps += steps
            self.rows += steps * n_rows
            self.rows_squared += steps * n_rows * n_rows
            self.seconds += steps * step
            self.rows_by_seconds += steps * n_rows * step

    @property
    def mean_rows(self) -> float:
        """Of a step, of those that were seen."""
        return self.rows / self.n_steps

    def costs(self) -> tuple[float, float] | None:
        """Seconds of a step itself and of each row in it: a line by least squares through what was seen, and through
        the usual ratio as if a step without rows had been seen. None: no step was seen alone."""
        if not self.n_steps:
            return None
        mean = self.seconds / self.n_steps
        n_rows = self.rows / self.n_steps
        usual = mean * USUAL_RATIO / (USUAL_RATIO + n_rows)
        n, seconds = self.n_steps + 1, self.seconds + usual
        spread = self.rows_squared - self.rows**2 / n
        slope = (self.rows_by_seconds - self.rows * seconds / n) / spread if spread > 0 else 0.0
        a_row = min(max(slope, 0.0), mean / n_rows)
        return max(mean - a_row * n_rows, 0.0), a_row
