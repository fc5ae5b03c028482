"""The edge of the drawing library: the specification of a chart, as its single views."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shaketable.types import Json

Spec = dict[str, Any]
"""What the library in the browser reads: nested, and typed by its schema alone."""
Row = Mapping[str, Json]
CONTINUOUS = ("quantitative", "temporal")


@dataclass(frozen=True, slots=True)
class View:
    """One mark with its encodings, and the rows that it draws."""

    spec: Spec
    rows: Sequence[Row]

    @property
    def encoding(self) -> Spec:
        encoding: Spec = self.spec.setdefault("encoding", {})
        return encoding

    @property
    def mark(self) -> Spec:
        if isinstance(self.spec["mark"], str):
            self.spec["mark"] = {"type": self.spec["mark"]}
        mark: Spec = self.spec["mark"]
        return mark

    @property
    def kind(self) -> str:
        return str(self.mark["type"])

    @property
    def has_names(self) -> bool:
        """Whether colours tell names apart."""
        return self._color.get("type") in ("nominal", "ordinal")

    @property
    def has_legend(self) -> bool:
        return self._color.get("legend", True) is not None

    @property
    def color_field(self) -> str:
        return str(self._color.get("field", ""))

    @property
    def continuous_axes(self) -> list[str]:
        return [name for name in ("x", "y") if _is_continuous(self.encoding.get(name, {}))]

    def add_param(self, param: Spec) -> None:
        self.spec.setdefault("params", []).append(param)

    @property
    def _color(self) -> Spec:
        color: Spec = self.encoding.get("color", {})
        return color


def views(spec: Spec) -> Iterator[View]:
    """Every single view, however deep it is nested."""
    return _views(spec, spec.get("datasets", {}), ())


def keep_fields(spec: Spec, names: Collection[str]) -> None:
    """Rows with these fields alone, in place of those that the chart shares with its specification."""
    holders = [
        (spec.get("data", {}), "values"),
        *((spec.get("datasets", {}), name) for name in spec.get("datasets", ())),
    ]
    for holder, name in holders:
        if isinstance(rows := holder.get(name), list):
            holder[name] = [{field: value for field, value in row.items() if field in names} for row in rows]


def _views(spec: Spec, datasets: Spec, outer: Sequence[Row]) -> Iterator[View]:
    data = spec.get("data") or {}
    rows = data.get("values") or datasets.get(data.get("name", "")) or outer
    inner = [view for name in ("layer", "hconcat", "vconcat", "concat") for view in spec.get(name, ())]
    for view in [*inner, *([spec["spec"]] if "spec" in spec else [])]:
        yield from _views(view, datasets, rows)
    if "mark" in spec:
        yield View(spec, rows)


def _is_continuous(channel: Spec) -> bool:
    has_field = "field" in channel and channel.get("type") in CONTINUOUS
    return has_field and not channel.get("bin") and not channel.get("aggregate")
