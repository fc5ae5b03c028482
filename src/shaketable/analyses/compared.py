"""Systems laid beside one another in full: quality, effort, the questions that moved, and what would decide it."""

from __future__ import annotations

from dataclasses import dataclass

from shaketable.analyses.changes import Change
from shaketable.analyses.claims import Claim, Claims
from shaketable.analyses.comparing import Comparison
from shaketable.analyses.efforts import Effort
from shaketable.analyses.moves import Moves
from shaketable.factors import System


@dataclass(frozen=True, kw_only=True, slots=True)
class Contender:
    """A system of a run."""

    name: str
    """By what tells it from the other: its parts that differ, or its run."""
    run: str
    """The folder."""
    study: str
    system: System
    label: str
    """How its run names it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Power:
    """How many questions would decide what is not shown."""

    sd: float
    """Of the differences between questions."""
    effect: float
    """What should be seen: the margin of the study."""
    alpha: float
    """Of the test, as one of its family."""
    n: int
    n_needed: int
    """To see it 4 times in 5."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Compared:
    """Two systems."""

    first: Contender
    second: Contender
    comparison: Comparison
    efforts: tuple[Effort, ...]
    moves: Moves
    power: Power | None
    """None: fewer than two questions, or no margin is known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparisons:
    """Told together, so that their claims are one family."""

    compared: tuple[Compared, ...]
    claims: Claims
    confidence: float

    def claim(self, compared: Compared, change: Change) -> Claim | None:
        """That a change is not 0; None: it is in a table alone."""
        return self.claims.of(compared.comparison.subject(change))

    def is_shown(self, compared: Compared, change: Change) -> bool:
        claim = self.claim(compared, change)
        return claim is not None and claim.is_shown

    def is_equivalent(self, compared: Compared) -> bool:
        """Whether the difference overall is shown to lie within the margin."""
        claim = self.claims.of(compared.comparison.subject(compared.comparison.overall), "equivalent")
        return claim is not None and claim.is_shown
