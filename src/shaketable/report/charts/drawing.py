"""Pictures as files: SVG for the page and for papers, PNG for slides."""

from __future__ import annotations

import re

import altair as alt
import vl_convert

from shaketable.report.charts.looks import themed
from shaketable.text.unseen import clean_names


def draw_svg(chart: alt.TopLevelMixin, name: str) -> str:
    """The picture as SVG text; ids start with the name, so that many fit into one page."""
    svg = vl_convert.vegalite_to_svg(clean_names(themed(chart).to_dict()))
    return re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)


def draw_png(chart: alt.TopLevelMixin) -> bytes:
    """On white and at twice the size: a file may land on any background."""
    return vl_convert.vegalite_to_png(clean_names(themed(chart, background="white").to_dict()), scale=2)
