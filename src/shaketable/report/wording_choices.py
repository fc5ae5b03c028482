"""Which rewording a headline names, and what the study lets it say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from shaketable.analyses.claims import Claim
from shaketable.analyses.wording.numbers import WordingNumber
from shaketable.report.grouping import group_by_system
from shaketable.report.section import Page
from shaketable.report.wording_words import name_rewording
from shaketable.report.words import format_more, is_above_zero, negate
from shaketable.types import Estimate, Unit


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """The rewording of a system that does most among those that are shown to do anything; else among all."""

    number: WordingNumber
    """What it does, as a difference."""
    claim: Claim | None
    claims: tuple[Claim, ...]
    """Of all rewordings of the system."""
    others: tuple[WordingNumber, ...]
    """What others are shown to do."""
    n_rewordings: int
    is_largest: bool
    """Whether no rewording does more, shown or not."""

    @property
    def is_shown(self) -> bool:
        return self.claim is not None and self.claim.is_shown

    @property
    def value(self) -> float:
        return self.number.estimate.value or 0.0

    @property
    def size(self) -> Estimate:
        """Without its sign, which words say."""
        return negate(self.number.estimate) if self.value < 0 else self.number.estimate

    @property
    def most(self) -> Estimate | None:
        """The same as the most of several, with an interval that holds for all; None: it is not known to be."""
        among = self.number.among
        if not self.is_shown or not self.is_largest or among is None:
            return None
        size = negate(among) if self.value < 0 else among
        return size if is_above_zero(size) and size.value is not None and size.value > 0 else None

    def describe_others(self, unit: Unit | None = None) -> list[str]:
        """`Also shown: grammar 12 points less [4, 20]`, as changes by rewording; nothing where there are no others."""
        if not self.others:
            return []
        changes = (
            f"{name_rewording(number.cell.variation)} {format_more(replace(_change(number), unit=unit or own))}"
            for number in self.others
            for own in [number.estimate.unit]
        )
        return [f"Also shown: {', '.join(changes)}"]


def choose_rewordings(differences: Iterable[WordingNumber], kind: str, page: Page) -> list[Chosen]:
    """One of each system, dataset and temperature; what is shown first, and the largest of it."""
    known = [number for number in differences if number.estimate.value is not None]
    chosen = [_choose(group, kind, page) for group in group_by_system(known)]
    return sorted(chosen, key=lambda own: (not own.is_shown, -abs(own.value)))


def _choose(group: list[WordingNumber], kind: str, page: Page) -> Chosen:
    claims = [page.claim(kind, number.cell, number.metric) for number in group]
    shown = [number for number, claim in zip(group, claims, strict=True) if claim is not None and claim.is_shown]
    most = max(shown or group, key=lambda number: abs(number.estimate.value or 0.0))
    return Chosen(
        number=most,
        claim=page.claim(kind, most.cell, most.metric),
        claims=tuple(claim for claim in claims if claim is not None),
        others=tuple(number for number in shown if number is not most),
        n_rewordings=len(group),
        is_largest=all(abs(number.estimate.value or 0.0) <= abs(most.estimate.value or 0.0) for number in group),
    )


def _change(difference: WordingNumber) -> Estimate:
    """What rewording adds; losses are what it takes away."""
    return negate(difference.estimate) if difference.is_loss else difference.estimate
