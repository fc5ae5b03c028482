"""What came of a shaken system: each way to ask beside the clean one, the worst of them, and examples of it."""

from __future__ import annotations

from dataclasses import dataclass

from shaketable.analyses.arms import Arm
from shaketable.analyses.rows import Measured
from shaketable.factors import System
from shaketable.types import Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class Breaking(Measured):
    """What one way to ask costs. Factors of its cell that are None are as in the clean case."""

    loss: Estimate
    """Clean minus disturbed, paired by question; its interval holds whenever the run stopped, for all ways at once."""
    clean: float
    """Mean over the same questions."""
    disturbed: float
    gains: float
    """How much is won by the questions that are answered better so: noise, most of it."""
    is_shown: bool
    """Whether something is lost beyond doubt."""
    e_value: float
    """Against "nothing is lost": what a bettor who began with 1 has won."""
    e_needed: float
    """From which on it is shown: so little error may each way to ask spend."""
    n_failed: int
    """Questions left out because the disturbed answer failed."""
    detectable: float | None
    """The smallest loss that so many questions would have shown in 8 of 10 runs; None: not even the largest."""

    @property
    def arm(self) -> Arm:
        cell = self.cell
        return Arm(variation=cell.variation, perturbation=cell.perturbation, temperature=cell.temperature)


@dataclass(frozen=True, kw_only=True, slots=True)
class BrokenAnswer:
    """A question that is answered right when asked plainly, and not in the worst way to ask."""

    question_id: str
    clean: str
    """Key of the record."""
    broken: str
    """Key of the record."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shaken:
    """Where does the system break, as far as the budget could tell?"""

    system: System | None = None
    """None: there is nothing to tell."""
    metric: str = ""
    level: Estimate | None = None
    """Of clean answers."""
    noise: Estimate | None = None
    """Share of questions whose clean answers are not all alike."""
    arms: tuple[Breaking, ...] = ()
    """The worst first: by what is lost at least."""
    n_ways: int = 0
    """Ways to ask that share the error, asked or not."""
    examples: tuple[BrokenAnswer, ...] = ()
    """Of the worst, if it is shown; those that were changed least first."""

    @property
    def worst(self) -> Breaking | None:
        """None: nothing was shown."""
        return next((arm for arm in self.arms if arm.is_shown), None)
