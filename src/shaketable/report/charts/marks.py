"""What every chart form draws: values with their intervals, and where they stand."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from shaketable.types import Estimate, Json, Unit


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """One thing that is drawn."""

    x: float | str | None = None
    """A number along the axis, or a name on it."""
    y: float | str | None = None
    """On the second axis of a surface."""
    value: float | None
    """None: not drawn, but in the table."""
    low: float | None = None
    high: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    """Certified bounds, around the interval."""
    unit: Unit = "score"
    series: str = ""
    """What colour, dash and shape tell apart."""
    panel: str = ""
    """Panels side by side."""
    row: str = ""
    """Panels one above the other."""
    temperature: float | None = None
    """Where panels or a slider, and not the x axis, tell temperatures."""
    label: str = ""
    """What a single point is, such as a question."""
    n: int | None = None
    """Questions behind it."""
    n_missing: int | None = None

    @classmethod
    def of(
        cls,
        estimate: Estimate,
        *,
        x: float | str | None,
        series: str = "",
        panel: str = "",
        row: str = "",
        temperature: float | None = None,
        label: str = "",
    ) -> Mark:
        """An estimate with its interval, unit and n."""
        mark = cls(x=x, value=estimate.value, low=estimate.low, high=estimate.high, unit=estimate.unit, n=estimate.n)
        return dataclasses.replace(mark, series=series, panel=panel, row=row, temperature=temperature, label=label)


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """Of a small line on a card."""

    temperature: float
    value: float
    low: float | None
    high: float | None
    unit: Unit = "score"
    is_difference: bool = False
    """Of a share: told in points, and not from 0 to 100 %."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Titles:
    """What the fields of marks are called on axes, in legends, under the pointer, in tables and in CSV files.

    A field without a title is in none of them.
    """

    panel: str = "System"
    row: str = ""
    series: str = ""
    temperature: str = ""
    x: str = "Temperature"
    y: str = ""
    label: str = ""
    at_least: str = ""
    at_most: str = ""
    value: str = "Value"
    low: str = "Low"
    high: str = "High"
    n: str = "Questions"
    n_missing: str = ""

    def columns(self) -> dict[str, str]:
        """Field → title, of those that have one."""
        return {name: title for name, title in dataclasses.asdict(self).items() if title}


def drawable(marks: Iterable[Mark]) -> list[Mark]:
    """Those that have a value, or certified bounds around one that nobody knows."""
    return [mark for mark in marks if mark.value is not None or mark.at_least is not None]


def names_in(names: Iterable[str]) -> list[str]:
    """Each once, in the order in which they come first: that of panels, rows, series and names on an axis."""
    return list(dict.fromkeys(names))


def as_data(marks: Sequence[Mark]) -> list[dict[str, Json]]:
    """The marks as the drawing library takes them."""
    return [dataclasses.asdict(mark) for mark in marks]
