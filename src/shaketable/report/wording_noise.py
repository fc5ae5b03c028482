"""Numbers of wordings beside what runs of the same wording give: raw, noise and excess together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from shaketable.analyses.wording.candidates import spoken_of
from shaketable.analyses.wording.measurements import ONE_RUN
from shaketable.analyses.wording.numbers import WordingNumber
from shaketable.report.grouping import group_by_system
from shaketable.report.section import Page
from shaketable.report.wording_choices import Chosen, choose_rewordings
from shaketable.report.words import format_level, format_more, format_value
from shaketable.statistics.intervals import Sign
from shaketable.types import Unit

CHANCE_IS_NOT_KNOWN = f"How much of it is chance is not known: there are {ONE_RUN}"
BESIDE_NOISE = (
    "Two runs of the same wording differ too: what rewording does is told by the excess over the same number between "
    "runs of the original wording, by question."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class BesideNoise:
    raw: WordingNumber
    noise: WordingNumber | None
    """None: the original wording was not run twice."""
    excess: WordingNumber | None


def pair_with_noise(numbers: Iterable[WordingNumber], *metrics: str) -> list[BesideNoise]:
    """The numbers of these metrics that have a value, in their order."""
    known = {_key(number, number.metric): number for number in numbers if number.estimate.value is not None}
    return [
        BesideNoise(
            raw=number,
            noise=known.get(_key(number, f"noise_{number.metric.removeprefix('flip_')}")),
            excess=known.get(_key(number, f"excess_{number.metric.removeprefix('flip_')}")),
        )
        for number in known.values()
        if number.metric in metrics and number.hop is None
    ]


def choose_beside_noise(
    numbers: Iterable[WordingNumber], metric: str, kind: str, sign: Sign, page: Page
) -> list[tuple[BesideNoise, Chosen | None]]:
    """Of each system the rewording that does most beyond chance.

    Where chance is not known nothing is chosen, and the pair is the one that moves the number furthest, which sign has
    the direction of.
    """
    pairs = [pair for pair in pair_with_noise(spoken_of(numbers), metric) if not pair.raw.answered_only]
    by_cell = {pair.raw.cell: pair for pair in pairs}
    chosen = choose_rewordings((pair.excess for pair in pairs if pair.excess is not None), kind, page)
    told = {replace(own.number.cell, variation=None) for own in chosen}
    rest = group_by_system(pair.raw for pair in pairs if replace(pair.raw.cell, variation=None) not in told)
    most = (max(group, key=lambda number: sign * (number.estimate.value or 0.0)) for group in rest)
    return [
        *((by_cell[own.number.cell], own) for own in chosen),
        *((by_cell[number.cell], None) for number in most),
    ]


def format_beside(pair: BesideNoise, unit: Unit = "score") -> str:
    """`0.61, 0.78 between two runs …: 0.17 less [0.09, 0.25]`; without noise its level."""
    raw = replace(pair.raw.estimate, unit=unit)
    if pair.noise is None or pair.excess is None:
        return format_level(raw)
    noise, excess = (replace(number.estimate, unit=unit) for number in (pair.noise, pair.excess))
    return f"{format_value(raw)}, {format_value(noise)} between two runs of the same wording: {format_more(excess)}"


def _key(number: WordingNumber, metric: str) -> tuple[object, ...]:
    return number.cell, metric, number.answered_only, number.with_people, number.hop
