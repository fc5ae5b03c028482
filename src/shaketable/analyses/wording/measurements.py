"""Numbers of wordings, measured question by question."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from shaketable.analyses.wording.asked import Asked, Reply
from shaketable.types import Unit

ONE_RUN = "too few runs of the original wording to tell rewording from chance; raise repeats"


@dataclass(frozen=True, kw_only=True, slots=True)
class Measurement:
    """A number by question, before it is averaged; its other fields are those of the number that it becomes."""

    metric: str
    variation: str | None
    values: Mapping[str, float]
    """By question id."""
    unit: Unit = "score"
    reason: str | None = None
    """Why there are no values."""
    is_loss: bool = False
    is_difference: bool = False
    """It may be negative; a loss is one."""
    answered_only: bool = False
    with_people: bool = True
    hop: int | None = None
    n_incomplete: int | None = None
    n_runs: int | None = None


def measure(
    asked: Asked,
    metric: str,
    number: Callable[[Reply], float | None],
    unit: Unit = "score",
    *,
    reason: str | None = None,
) -> list[Measurement]:
    """The mean of a number for each variation."""
    means = asked.means(number)
    return [
        Measurement(metric=metric, variation=variation, values=means.get(variation, {}), unit=unit, reason=reason)
        for variation in asked.variations
    ]


def measure_pairs(
    asked: Asked,
    metric: str,
    number: Callable[[Reply, Reply], float | None],
    unit: Unit = "score",
    *,
    reason: str | None = None,
) -> list[Measurement]:
    """The mean of a number of original and reworded for each variation."""
    means = asked.paired(number)
    return [
        Measurement(metric=metric, variation=variation, values=means.get(variation, {}), unit=unit, reason=reason)
        for variation in asked.reworded
    ]


def measure_losses(
    asked: Asked,
    metric: str,
    number: Callable[[Reply], float | None],
    unit: Unit = "score",
    *,
    reason: str | None = None,
) -> list[Measurement]:
    """The mean of a number for each variation, and what it loses against the original, paired by question."""

    def lose(original: Reply, reworded: Reply) -> float | None:
        before, after = number(original), number(reworded)
        return None if before is None or after is None else before - after

    losses = measure_pairs(asked, metric, lose, unit, reason=reason)
    levels = measure(asked, metric, number, unit, reason=reason)
    return levels + [replace(loss, is_loss=True, is_difference=True) for loss in losses]


def measure_sets(
    asked: Asked, metric: str, number: Callable[[list[Reply]], float | None], *, reason: str | None = None
) -> list[Measurement]:
    """A number of all wordings of a question together, and of those that no person wrote where there are both."""
    measurements = []
    for with_people in asked.choices_of_people if asked.reworded else ():
        sizes = {question: len(run) for question, run in asked.sets(with_people=with_people)}
        measurements.append(
            Measurement(
                metric=metric,
                variation=None,
                values=asked.over_sets(number, with_people=with_people),
                reason=reason,
                with_people=with_people,
                n_incomplete=sum(n < max(sizes.values()) for n in sizes.values()),
            )
        )
    return measurements


def measure_pairs_beside_noise(
    asked: Asked, metric: str, number: Callable[[Reply, Reply], float | None], *, reason: str | None = None
) -> list[Measurement]:
    """The same of original and reworded, each beside what two runs of the original wording give."""
    noise, n_runs = asked.between_originals(number), asked.n_runs
    return [
        measurement
        for raw in measure_pairs(asked, metric, number, reason=reason)
        for measurement in beside_noise(raw, noise, n_runs)
    ]


def measure_sets_beside_noise(
    asked: Asked, metric: str, number: Callable[[list[Reply]], float | None], *, reason: str | None = None
) -> list[Measurement]:
    """The same of all wordings together, beside all runs of the original wording together.

    The number must be a mean over pairs: any other depends on how many there are, and runs may be fewer than wordings.
    """
    noise, n_runs = asked.over_originals(number), asked.n_runs
    return [
        measurement
        for raw in measure_sets(asked, metric, number, reason=reason)
        for measurement in beside_noise(raw, noise, n_runs)
    ]


def beside_noise(
    raw: Measurement, noise: Mapping[str, float], n_runs: int, *, stem: str | None = None
) -> list[Measurement]:
    """A number, the same between runs of the original wording alone (`noise_…`), and by how much it exceeds that.

    Noise and `excess_…` are of the questions that have both.
    """
    stem = stem or raw.metric
    known = {question: noise[question] for question in raw.values if question in noise}
    excess = {question: raw.values[question] - value for question, value in known.items()}
    reason = ONE_RUN if raw.values else raw.reason or ONE_RUN
    floor = replace(raw, metric=f"noise_{stem}", values=known, reason=reason, n_runs=n_runs)
    return [raw, floor, replace(floor, metric=f"excess_{stem}", values=excess, is_difference=True)]
