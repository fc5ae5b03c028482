"""What a drawn picture shows, read from its SVG text and its specification."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import altair as alt

from shaketable.report.charts.drawing import draw_svg

HOSTILE = "<script>alert('1')</script> \"quoted\" [0] · {x} \\ datum.value"
LONG = "search_o1(max_searches=3, max_turns=3, k=2, n_examples=2) with a very long name " * 3


@dataclass(frozen=True)
class Drawn:
    svg: str

    @property
    def texts(self) -> list[str]:
        """Everything that is written in it; what is broken into lines comes in pieces."""
        return [html.unescape(text) for text in re.findall(r">([^<>]+)<", self.svg)]

    @property
    def width(self) -> float:
        return float(self.svg.split('width="')[1].split('"')[0])

    def count(self, kind: str) -> int:
        """How many marks of a kind, such as `symbol`, all panels have together, less those with nothing to draw."""
        groups = re.findall(rf'class="mark-{kind} role-mark[^"]*"[^>]*(?<!/)>(.*?)</g>', self.svg, flags=re.DOTALL)
        return sum(len(re.findall(r"<path[^>]* d=|<line|<text", group)) for group in groups)


def draw(chart: alt.TopLevelMixin, name: str = "figure") -> Drawn:
    return Drawn(draw_svg(chart, name))


def layers(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The layers that draw, however deep they are nested."""
    inner = [one for kind in ("layer", "hconcat", "vconcat") for one in spec.get(kind, ())]
    inner += [spec["spec"]] if "spec" in spec else []
    if not inner:
        yield spec
    for one in inner:
        yield from layers(one)
