"""Numbers of wordings beside what runs of the same wording give: raw, noise and excess together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from shaketable.analyses.wording.measurements import ONE_RUN
from shaketable.analyses.wording.numbers import WordingNumber
from shaketable.factors import Cell
from shaketable.report.words import count_questions, format_difference, format_level, format_value, holds_zero
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

    @property
    def value(self) -> float:
        """What sentences rank by: the excess where it is known."""
        return (self.excess or self.raw).estimate.value or 0.0

    @property
    def is_shown(self) -> bool:
        """Whether rewording does something beyond chance."""
        return self.excess is not None and not holds_zero(self.excess.estimate)


def pair_with_noise(numbers: Iterable[WordingNumber], *metrics: str) -> list[BesideNoise]:
    """The numbers of these metrics that have a value, in their order."""
    known = {_key(number, number.metric): number for number in numbers if number.estimate.value is not None}
    return [
        BesideNoise(
            raw=number,
            noise=known.get(_key(number, f"noise_{number.metric}")),
            excess=known.get(_key(number, f"excess_{number.metric}")),
        )
        for number in known.values()
        if number.metric in metrics and number.hop is None
    ]


def choose_most(pairs: Iterable[BesideNoise], sign: Sign) -> list[BesideNoise]:
    """Of each system and dataset the rewording that does most beyond chance, where sign is the way it moves a number;
    systems where most is done come first."""
    groups: dict[Cell, list[BesideNoise]] = {}
    for pair in pairs:
        groups.setdefault(replace(pair.raw.cell, variation=None), []).append(pair)
    most = (max(group, key=lambda pair: (pair.excess is not None, sign * pair.value)) for group in groups.values())
    return sorted(most, key=lambda pair: -sign * pair.value)


def join_details(parts: Iterable[str], pair: BesideNoise) -> str:
    """One sentence after another, and how many questions stand behind them."""
    return f"{'. '.join(parts) or 'Paired by question'} ({count_questions(pair.raw.estimate.n)})."


def format_beside(pair: BesideNoise, unit: Unit = "score") -> str:
    """`0.61, 0.78 between two runs …: a difference of −0.17 [−0.25, −0.09]`; without noise its level."""
    raw = replace(pair.raw.estimate, unit=unit)
    if pair.noise is None or pair.excess is None:
        return format_level(raw)
    noise, excess = (replace(number.estimate, unit=unit) for number in (pair.noise, pair.excess))
    return (
        f"{format_value(raw)}, {format_value(noise)} between two runs of the same wording: a difference of "
        f"{format_difference(excess)}"
    )


def _key(number: WordingNumber, metric: str) -> tuple[object, ...]:
    return number.cell, metric, number.answered_only, number.with_people, number.hop
