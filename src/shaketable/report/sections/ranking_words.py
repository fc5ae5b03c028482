"""What is said of two disturbances: which hurts more at which temperature, and whether temperature changes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from shaketable.analyses.claims import Claim
from shaketable.analyses.evidence.ranking import Contrast, Interaction, Ranking
from shaketable.factors import word_for
from shaketable.report.claim_words import describe_unshown
from shaketable.report.section import Headline, Page
from shaketable.report.words import (
    count_questions,
    format_difference,
    format_p,
    join_temperatures,
    name_part,
    sentence_case,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """Two disturbances at all temperatures, with the verdicts over the whole study."""

    interaction: Interaction
    contrasts: tuple[Contrast, ...]
    """Those that have a value."""
    changes: Claim | None
    """That their contrast depends on temperature; None: they are explored, and get no verdict."""
    differ: tuple[Claim, ...]
    """Which hurts more, at each temperature."""

    @property
    def more(self) -> list[Claim]:
        """Where the first is shown to hurt more."""
        return [claim for claim in self.differ if claim.is_shown and _value(claim) > 0]

    @property
    def less(self) -> list[Claim]:
        return [claim for claim in self.differ if claim.is_shown and _value(claim) < 0]

    @property
    def is_changing(self) -> bool:
        return self.changes is not None and self.changes.is_shown

    @property
    def names(self) -> tuple[str, str]:
        return name_part(self.interaction.cell.perturbation or ""), name_part(self.interaction.other)


def find_pair(interaction: Interaction, result: Ranking, page: Page) -> Pair:
    contrasts = [
        contrast
        for contrast in result.contrasts
        if (contrast.metric, contrast.other) == (interaction.metric, interaction.other)
        and replace(contrast.cell, temperature=None) == interaction.cell
        and contrast.difference.value is not None
    ]
    differ = [page.claim("contrast", own.cell, own.metric, other=own.other) for own in contrasts]
    return Pair(
        interaction=interaction,
        contrasts=tuple(contrasts),
        changes=page.claim("ranking", interaction.cell, interaction.metric, other=interaction.other),
        differ=tuple(claim for claim in differ if claim is not None),
    )


def group_systems(pairs: Sequence[Pair]) -> list[list[Pair]]:
    """The pairs that may be claimed of each system."""
    systems: dict[object, list[Pair]] = {}
    for pair in pairs:
        if pair.changes is not None and pair.contrasts:
            systems.setdefault(replace(pair.interaction.cell, perturbation=None), []).append(pair)
    return list(systems.values())


def tell_pairs(system: Sequence[Pair], page: Page) -> list[Headline]:
    """One for each pair of which something is shown, reversals first; without any, one that says so."""
    told = [pair for pair in system if pair.is_changing or pair.more or pair.less]
    told.sort(key=lambda pair: not (pair.more and pair.less))
    if told:
        return [_headline(pair, page) for pair in told]
    first = system[0]
    name = page.name(first.interaction.cell)
    sentence = f"No change with temperature is shown in which disturbance hurts {name} more."
    detail = (
        f"{sentence_case(first.names[0])} against {first.names[1]}: {format_p(first.interaction.p)}, not adjusted "
        f"({count_questions(first.interaction.strength.n)}); {describe_unshown(_most(first))}."
    )
    headline = page.headline("ranking", first.interaction.cell, sentence, detail)
    claims = (claim for pair in system for claim in (pair.changes, *pair.differ))
    return [headline.with_amount(_most(first).estimate).with_claims(*claims)]


def _headline(pair: Pair, page: Page) -> Headline:
    cell = pair.interaction.cell
    claims = [*pair.more[:1], *pair.less[:1]] if pair.more and pair.less else [_most(pair)]
    amounts = " and ".join(format_difference(claim.estimate) for claim in claims)
    at = " and ".join(f"{claim.subject.cell.temperature:g}" for claim in claims)
    detail = (
        f"The difference in lost {word_for(pair.interaction.metric)} is {amounts} at temperature {at} "
        f"({count_questions(claims[0].estimate.n)})."
    )
    headline = page.headline("ranking", cell, _sentence(pair, page.name(cell)), detail)
    headline = headline.with_amount(claims[0].estimate, is_clear=page.is_applied(cell))
    return headline.with_claims(pair.changes, *pair.differ)


def _sentence(pair: Pair, system: str) -> str:
    first, second = pair.names
    tried = [contrast.cell.temperature or 0.0 for contrast in pair.contrasts]
    if pair.more and pair.less:
        more, less = (join_temperatures(_temperatures(claims), tried) for claims in (pair.more, pair.less))
        return f"{sentence_case(first)} hurts {system} more than {second} {more}, and less {less}."
    change = f"how far {first} and {second} lie apart for {system} changes with temperature"
    if not (pair.more or pair.less):
        return f"{sentence_case(change)}; neither is shown to hurt more at any."
    stronger, weaker = (first, second) if pair.more else (second, first)
    where = join_temperatures(_temperatures(pair.more or pair.less), tried)
    changes = "how far they lie apart changes with temperature"
    also = f"; {changes}" if pair.is_changing else f"; that {changes} is not shown"
    return f"{sentence_case(stronger)} hurts {system} more than {weaker} {where}{also}."


def _most(pair: Pair) -> Claim:
    """The largest difference, of those that are shown if any is."""
    return max((pair.more + pair.less) or pair.differ, key=lambda claim: abs(_value(claim)))


def _temperatures(claims: Sequence[Claim]) -> list[float]:
    return [claim.subject.cell.temperature or 0.0 for claim in claims]


def _value(claim: Claim) -> float:
    return claim.estimate.value or 0.0
