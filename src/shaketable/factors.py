"""What the numbers of metrics are, and which of them a study speaks of: one rule, in one place."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence

from shaketable import catalog
from shaketable.errors import PartError, did_you_mean
from shaketable.protocols import DeclaredMetric
from shaketable.types import Measure


def measure_of(name: str) -> Measure:
    """What a metric declares of its number. Scores from elsewhere are taken as better when higher."""
    declared = _declared().get(_stem(name))
    return declared or Measure(name=name, unit=None, higher_is_better=True, minimum=None)


def numbers_of(metrics: Iterable[str]) -> tuple[str, ...]:
    """The names of the numbers that the metrics of a study give, in their order."""
    names: list[str] = []
    for i, text in enumerate(metrics):
        part = catalog.build("metric", text, f"score.metrics[{i}]")
        declared = (part.numbers if isinstance(part, DeclaredMetric) else ()) or (measure_of(catalog.name_of(part)),)
        names += [measure.name.format(**catalog.settings_of(part), part=part) for measure in declared]
    return tuple(dict.fromkeys(names))


def main_metric(names: Sequence[str], chosen: str | None = None) -> str | None:
    """The number that is spoken of: the one chosen, else the first of which more is better, else the first.

    None: there are no numbers.
    """
    if chosen is None:
        return next((name for name in names if measure_of(name).higher_is_better), next(iter(names), None))
    if chosen not in names:
        raise PartError(
            f"metric is '{chosen}', which these scores do not have.{did_you_mean(chosen, names)} "
            f"Scored numbers: {', '.join(names)}."
        )
    return chosen


def judging_metric(names: Sequence[str], chosen: str | None = None) -> str | None:
    """The number that tells right answers from wrong ones: the main one where it does, else the first; None: none."""
    main = main_metric(names, chosen)
    return next(filter(judges, (*filter(None, [main]), *names)), None)


def judges(name: str) -> bool:
    """Whether a number tells right answers from wrong ones: 1 is right, 0 is wrong."""
    measure = measure_of(name)
    return measure.unit == "share" and measure.higher_is_better is True


def word_for(name: str) -> str:
    """What people call a number: `correctness`; its own name where there is no other."""
    return measure_of(name).words or name


def title_of(name: str) -> str:
    """The same above a picture: `Correct answers`."""
    return measure_of(name).title or name


@functools.cache
def _declared() -> Mapping[str, Measure]:
    found: dict[str, Measure] = {}
    for name in catalog.known("metric"):
        metric = catalog.find("metric", name)
        if isinstance(metric, DeclaredMetric):
            for measure in metric.numbers:
                found.setdefault(_stem(measure.name), measure)
    return found


def _stem(name: str) -> str:
    """`recall@5` and `recall@{k}` are one number at two depths."""
    return name.partition("@")[0]
