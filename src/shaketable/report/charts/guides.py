"""Straight lines through the panels of a chart that tell a reader where to look: ceilings, baselines, breaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import altair as alt

from shaketable.report.charts.looks import INK
from shaketable.report.charts.marks import Mark
from shaketable.types import Json

Kind = Literal["ceiling", "break", "baseline", "level", "half"]
BREAK_COLOR = "#D55E00"


@dataclass(frozen=True, kw_only=True, slots=True)
class Guide:
    """One line, in one panel or in all."""

    kind: Kind
    """`ceiling` stands at a place along x and is shaded beyond, `break` stands there in colour. The others lie at a
    value: `baseline` is dotted with its words in the corner, `level` has its words on the line, `half` is quiet."""
    at: float
    words: str = ""
    panel: str | None = None
    """None: in every panel."""
    row: str | None = None
    """None: in every row of panels."""


def guide_data(guides: Sequence[Guide], marks: Sequence[Mark]) -> list[dict[str, Json]]:
    """A row for each guide in each panel that it stands in, and that marks are drawn in."""
    panels = dict.fromkeys((mark.panel, mark.row) for mark in marks)
    far = 0.6 * max((mark.x for mark in marks if isinstance(mark.x, int | float)), default=0.0)
    return [
        {
            "guide": guide.kind,
            "at": guide.at,
            "panel": panel,
            "row": row,
            "words": guide.words,
            "is_far": guide.at > far,
        }
        for guide in guides
        for panel, row in panels
        if guide.panel in (None, panel) and guide.row in (None, row)
    ]


def behind(guides: Sequence[Guide], x_title: str) -> list[alt.Chart]:
    """What is drawn first: the shade beyond a ceiling."""
    shade = (
        _of("ceiling")
        .mark_rect(opacity=0.07, color=INK)
        .encode(
            x=_x(x_title),
            x2=alt.value("width"),
            tooltip=alt.value(None),  # it stands for no number
        )
    )
    return [shade] if any(guide.kind == "ceiling" for guide in guides) else []


def before(guides: Sequence[Guide], x_title: str) -> list[alt.Chart]:
    """What is drawn over the marks: lines and words."""
    layers: dict[Kind, list[alt.Chart]] = {
        "ceiling": [
            _of("ceiling").mark_rule(strokeWidth=1.5, strokeDash=[6, 3]).encode(x=_x(x_title)),
            # To the right of the line or, where there is no room, to its left.
            _ceiling_words("!datum.is_far", "left", 5, x_title),
            _ceiling_words("datum.is_far", "right", -5, x_title),
        ],
        "break": [_of("break").mark_rule(strokeWidth=1.5, strokeDash=[6, 3], color=BREAK_COLOR).encode(x=_x(x_title))],
        "baseline": [
            _of("baseline").mark_rule(strokeDash=[1, 4], strokeWidth=2, strokeCap="round").encode(y="at:Q"),
            _of("baseline")
            .mark_text(align="left", baseline="top", fontSize=12, opacity=0.8)
            .encode(x=alt.value(6), y=alt.value(2), text="words:N"),
        ],
        "level": [
            _of("level").mark_rule(strokeDash=[2, 3], opacity=0.6).encode(y="at:Q"),
            _of("level")
            .mark_text(align="right", baseline="bottom", dy=-3, fontSize=11)
            .encode(x=alt.value("width"), y="at:Q", text="words:N"),
        ],
        "half": [_of("half").mark_rule(strokeDash=[4, 3], opacity=0.8).encode(y="at:Q")],
    }
    kinds = {guide.kind for guide in guides}
    return [layer for kind, drawn in layers.items() if kind in kinds for layer in drawn]


def _of(kind: Kind) -> alt.Chart:
    return alt.Chart().transform_filter(f"datum.guide === '{kind}'")


def _x(title: str) -> alt.X:
    return alt.X("at:Q", title=title)


def _ceiling_words(where: str, align: Literal["left", "right"], dx: int, x_title: str) -> alt.Chart:
    return (
        _of("ceiling")
        .transform_filter(where)
        .mark_text(align=align, baseline="top", dx=dx, dy=3, fontSize=12)
        .encode(x=_x(x_title), y=alt.value(0), text="words:N")
    )
