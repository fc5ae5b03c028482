"""What came of repeats that end when a mean is known well enough, as the run's folder keeps it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from shaketable.identity import canonical
from shaketable.store.cells import FactorValues

META = "adaptive_repeats"


@dataclass(frozen=True, kw_only=True, slots=True)
class RepeatedCell(FactorValues):
    """One condition, with how far its repeats have come."""

    n_repeats: int
    """Whole repeats of all questions at its last look."""
    low: float | None
    """Of the interval over repeats of these questions; None: there was nothing to score."""
    high: float | None
    is_narrow: bool
    """Whether that was narrow enough."""
    is_over: bool
    """Whether it is asked no further: it is narrow enough, has all its repeats, or nothing of it can be scored."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AdaptiveRepeats:
    """What the last go at answering came to."""

    until: float
    """Half the width that was wanted."""
    confidence: float
    metric: str
    n_asked: int
    """Trials that have ended, failed ones too."""
    n_most: int
    """Trials there would be if every condition had all its repeats."""
    cells: tuple[RepeatedCell, ...]

    @property
    def n_narrow(self) -> int:
        return sum(cell.is_narrow for cell in self.cells)

    @property
    def is_over(self) -> bool:
        """Whether all conditions have ended; False: the run stopped at a limit."""
        return all(cell.is_over for cell in self.cells)

    @property
    def saved(self) -> float:
        """The share of trials that were not asked."""
        return 1 - self.n_asked / self.n_most if self.n_most else 0.0


def note_repeats(repeats: AdaptiveRepeats) -> dict[str, str]:
    """What it is noted as."""
    return {META: canonical(asdict(repeats))}


def read_repeats(meta: Mapping[str, str]) -> AdaptiveRepeats | None:
    """None: every condition was asked all repeats, or the run has not come to an end or limit yet."""
    if not meta.get(META):
        return None
    values = json.loads(meta[META])
    cells: Sequence[Mapping[str, object]] = values.pop("cells")
    return AdaptiveRepeats(**values, cells=tuple(RepeatedCell(**cell) for cell in cells))  # type: ignore[arg-type]
