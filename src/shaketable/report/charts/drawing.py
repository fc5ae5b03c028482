"""Pictures as files: SVG for the page and for papers, PNG for slides."""

from __future__ import annotations

import re
from typing import Any

import altair as alt
import vl_convert

from shaketable.report.charts.looks import themed
from shaketable.text.unseen import clean_names


def draw_svg(chart: alt.TopLevelMixin, name: str) -> str:
    """The picture as SVG text; ids start with the name, so that many fit into one page."""
    svg = vl_convert.vegalite_to_svg(_specification(themed(chart)))
    return re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)


def draw_png(chart: alt.TopLevelMixin) -> bytes:
    """On white and at twice the size: a file may land on any background."""
    return vl_convert.vegalite_to_png(_specification(themed(chart, background="white")), scale=2)


def _specification(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """Return what the library draws, without characters that end the process in it."""
    specification = clean_names(chart.to_dict())
    assert isinstance(specification, dict)
    return specification
