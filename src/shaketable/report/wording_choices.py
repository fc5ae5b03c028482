"""Which rewording a headline names, and what the study lets it say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from shaketable.analyses.claims import Claim
from shaketable.analyses.wording.numbers import WordingNumber
from shaketable.report.claim_words import describe_unshown
from shaketable.report.grouping import group_by_system
from shaketable.report.section import Page
from shaketable.report.words import count_questions, format_difference, negate
from shaketable.statistics.intervals import Sign
from shaketable.types import Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """The rewording of a system that does most among those that are shown to do anything; else among all."""

    number: WordingNumber
    """What it does, as a difference."""
    claim: Claim | None
    claims: tuple[Claim, ...]
    """Of all rewordings of the system."""
    n_rewordings: int

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

    def count_shown(self, sign: Sign) -> int:
        """How many rewordings are shown to do something in this direction."""
        return sum(claim.is_shown and sign * (claim.estimate.value or 0.0) > 0 for claim in self.claims)

    def describe_unshown(self) -> str:
        """`3 points [−5, 11] (n = 24 questions); an effect of … would likely have been seen`; the size alone."""
        sample = count_questions(self.number.estimate.n)
        return f"{format_difference(self.size)} ({sample}); {describe_unshown(self.claim)}"


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
        n_rewordings=len(group),
    )
