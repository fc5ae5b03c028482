"""What pictures of rewording share: a line per way of asking, a panel per dataset and temperature, a row per system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from shaketable.report.charts.fact_panels import LOOKS, panel_width
from shaketable.report.charts.looks import names_legend, themed
from shaketable.report.charts.panels import Row, panel_header
from shaketable.types import OldFinding

ALL = "all wordings"
PEOPLE = ("rewrites", "human")


def wording_rows(finding: OldFinding, series: Mapping[str, str]) -> list[Row]:
    """Rows of these metrics that have a value and are no difference, with the words of their series and panel."""
    known = [{**row} for row in finding.rows if row["value"] is not None and row["contrast"] is None]
    chosen: list[Row] = [row for row in known if row["metric"] in series]
    several = len({row["temperature"] for row in chosen}) > 1
    return [
        {
            **row,
            "asked": asked(row["variation"]),
            "series": series[row["metric"]],
            "panel": f"{row['dataset']} · temperature {row['temperature']:g}" if several else row["dataset"],
        }
        for row in chosen
    ]


def asked(variation: str | None) -> str:
    """How a picture names a way of asking; the file of people's rewrites is no part of it."""
    if variation is None:
        return ALL
    name = variation.partition("(")[0]
    return "people" if name in PEOPLE else variation.replace("_", " ")


def in_order(rows: Sequence[Row], column: str) -> list[str]:
    """Ways of asking with the original first, people next and all wordings last; anything else as it comes."""
    names = list(dict.fromkeys(row[column] for row in rows))
    places = {"original": 0, "people": 1, ALL: 3}
    return sorted(names, key=lambda name: (places.get(name, 2), name)) if column == "asked" else names


def series_channels(rows: Sequence[Row], series: str, title: str) -> dict[str, Any]:
    """Colour, dash and shape together, so that no series is told by its colour alone."""
    names = in_order(rows, series)
    shown = [LOOKS[i % len(LOOKS)] for i in range(len(names))]
    shared = {"title": title, "sort": None, "legend": names_legend(names)}

    def scale(part: str) -> alt.Scale:
        return alt.Scale(domain=names, range=[getattr(look, part) for look in shown])

    return {
        "color": alt.Color(f"{series}:N", scale=scale("color"), **shared),
        "strokeDash": alt.StrokeDash(f"{series}:N", scale=scale("dash"), **shared),
        "shape": alt.Shape(f"{series}:N", scale=scale("shape"), **shared),
    }


def forest(
    rows: Sequence[Row],
    title: str,
    series_title: str,
    *,
    series: str = "series",
    y: str = "asked",
    number_format: str = "~g",
    scale: alt.Scale | None = None,
) -> alt.LayerChart:
    """A point with its interval for each series, side by side on the line of each way of asking."""
    channels = series_channels(rows, series, series_title)
    x = {"title": title, "axis": alt.Axis(format=number_format, tickCount=6), "scale": scale or alt.Scale()}
    base = alt.Chart().encode(
        y=alt.Y(f"{y}:N", title=None, sort=in_order(rows, y), axis=alt.Axis(ticks=False, grid=True, labelLimit=260)),
        yOffset=alt.YOffset(f"{series}:N", sort=in_order(rows, series)),
        color=channels["color"],
    )
    return alt.layer(
        base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", **x), x2="high:Q"),
        base.mark_point(filled=True, size=60, opacity=1).encode(x=alt.X("value:Q", **x), shape=channels["shape"]),
    )


def hop_lines(rows: Sequence[Row], y: alt.Y) -> alt.LayerChart:
    """A line per way of asking over the hops, in a band from low to high."""
    channels = series_channels(rows, "asked", "Asked")
    hops = sorted({row["hop"] for row in rows})
    x = alt.X("hop:O", title="Search", axis=alt.Axis(values=hops, labelAngle=0))
    base = alt.Chart().encode(x=x, y=y, color=channels["color"])
    return alt.layer(
        base.mark_area(opacity=0.08).encode(y="low:Q", y2="high:Q"),
        base.mark_line(strokeWidth=2).encode(strokeDash=channels["strokeDash"]),
        base.mark_point(filled=True, size=45, opacity=1).encode(shape=channels["shape"]),
    )


def wording_grid(
    layers: alt.LayerChart | alt.Chart,
    rows: Sequence[Row],
    *,
    column: str = "panel",
    row: str | None = "system",
    height: Any = None,
    label_width: int = 60,
) -> alt.TopLevelMixin:
    """Columns are datasets; rows, where there are several, are systems."""
    columns = sorted({one[column] for one in rows}) if column == "panel" else in_order(rows, column)
    facets: dict[str, Any] = {"column": alt.Column(f"{column}:N", sort=columns, header=panel_header(len(columns)))}
    width = panel_width(len(columns)) - label_width // len(columns)
    if row is not None and len({one[row] for one in rows}) > 1:
        header = alt.Header(title=None, labelOrient="top", labelAnchor="start", labelLimit=width)
        facets["row"] = alt.Row(f"{row}:N", header=header)
    sized = layers.properties(width=width, height=alt.Step(13) if height is None else height)
    return themed(sized.facet(data=alt.InlineData(list(rows)), spacing=24, **facets))
