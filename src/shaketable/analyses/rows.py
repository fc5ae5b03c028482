"""What rows of results have in common: where they belong, and what was measured there."""

from __future__ import annotations

from dataclasses import dataclass

from shaketable.factors import Cell

UNSETTLED = "so many answers failed that what they would have been decides whether there is a difference"


@dataclass(frozen=True, kw_only=True, slots=True)
class Located:
    """A row that belongs somewhere."""

    cell: Cell


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured(Located):
    """And is of a metric."""

    metric: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Bounded(Measured):
    """And may depend on what failed."""

    worst_low: float | None = None
    """The least that the difference were, had all that failed on one side been wrong, and right on the other; None: few
    failed."""
    worst_high: float | None = None
    """The greatest, with the sides exchanged."""

    @property
    def reason(self) -> str | None:
        """Why a difference may not be claimed, whatever its p."""
        if self.worst_low is None or self.worst_high is None or self.worst_low > 0 or self.worst_high < 0:
            return None
        return UNSETTLED


@dataclass(frozen=True, kw_only=True, slots=True)
class Scored(Bounded):
    """And is made from records that have a score."""

    n_missing: int
    """Records without one, among all that the row would be made from."""
