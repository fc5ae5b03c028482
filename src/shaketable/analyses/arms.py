"""The ways to ask that a shaken system is tried in, and how much error the claim of each may spend."""

from __future__ import annotations

from dataclasses import dataclass

SINGLE_SHARE = 0.5
"""Of the error: for what one factor does alone, where two can also be changed at once. There are fewer of those, and
they are what is found most."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Arm:
    """A way to ask. What is None is as in the clean case, or the system does not have it."""

    variation: str | None = None
    perturbation: str | None = None
    temperature: float | None = None

    @property
    def parts(self) -> tuple[Arm, ...]:
        """The arms that change one of its factors alone; none where it is one of them."""
        alone = (
            *((Arm(variation=self.variation),) if self.variation is not None else ()),
            *((Arm(perturbation=self.perturbation),) if self.perturbation is not None else ()),
            *((Arm(temperature=self.temperature),) if self.temperature is not None else ()),
        )
        return alone if len(alone) > 1 else ()


CLEAN = Arm()


@dataclass(frozen=True, kw_only=True, slots=True)
class Levels:
    """What each factor can be beside its clean level."""

    variations: tuple[str, ...] = ()
    perturbations: tuple[str, ...] = ()
    temperatures: tuple[float, ...] = ()

    @property
    def single(self) -> tuple[Arm, ...]:
        """One factor at a time."""
        return (
            *(Arm(variation=variation) for variation in self.variations),
            *(Arm(perturbation=perturbation) for perturbation in self.perturbations),
            *(Arm(temperature=temperature) for temperature in self.temperatures),
        )

    @property
    def heated(self) -> tuple[Arm, ...]:
        """A wording or a kind of evidence, and a temperature."""
        return (
            *(Arm(variation=v, temperature=t) for v in self.variations for t in self.temperatures),
            *(Arm(perturbation=p, temperature=t) for p in self.perturbations for t in self.temperatures),
        )

    @property
    def reworded(self) -> tuple[Arm, ...]:
        """A wording and a kind of evidence."""
        return tuple(Arm(variation=v, perturbation=p) for v in self.variations for p in self.perturbations)

    @property
    def paired(self) -> tuple[Arm, ...]:
        """Two factors at once."""
        return (*self.heated, *self.reworded)

    def error_of(self, arm: Arm, error: float) -> float:
        """What a claim of this arm may spend, so that all claims together are wrong with at most this chance.

        It goes by the levels there are, never by which of them were asked how often.
        """
        if not self.paired:
            return error / len(self.single)
        share, among = (1 - SINGLE_SHARE, self.paired) if arm.parts else (SINGLE_SHARE, self.single)
        return error * share / len(among)
