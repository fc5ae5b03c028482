"""How everything looks in every picture: one colour, dash and shape per evidence, one theme."""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import altair as alt

INK = "currentColor"
"""The page's text colour where a picture is part of it, so that light and dark need one file; else black."""

WIDTH = 1000
"""Pixels, all panels together."""
LETTER, LABEL_LIMIT, AROUND_LABEL = 6.8, 400, 48
"""Pixels of a letter in a legend, of its longest name, and of what stands around a name."""


class Look(NamedTuple):
    color: str
    dash: tuple[int, ...]
    shape: str


# Okabe and Ito's colour-blind-safe set, less yellow, which white paper swallows.
KNOWN = {
    "unchanged": Look(INK, (1, 0), "circle"),
    "sentence_removal": Look("#D55E00", (7, 2), "square"),
    "sentence_replacement": Look("#0072B2", (3, 2), "triangle-up"),
    "entity_masking": Look("#009E73", (8, 2, 2, 2), "diamond"),
    "no_evidence": Look("#CC79A7", (1, 2), "cross"),
}
SPARE = (
    Look("#E69F00", (5, 3), "triangle-down"),
    Look("#56B4E9", (2, 1), "triangle-right"),
    Look("#CC79A7", (10, 3), "triangle-left"),
    Look("#D55E00", (2, 4), "stroke"),
    Look("#0072B2", (9, 2, 1, 2), "circle"),
    Look("#009E73", (4, 1), "square"),
)


def evidence_looks(evidence: Iterable[str]) -> dict[str, Look]:
    """The same look for a name in every picture of a run: known names have theirs, others get spare ones in order."""
    known = {name.replace("_", " "): look for name, look in KNOWN.items()}
    names = set(evidence)
    strangers = sorted(names - known.keys())
    spare = {name: SPARE[i % len(SPARE)] for i, name in enumerate(strangers)}
    return {name: look for name, look in (known | spare).items() if name in names}


def ordered_looks(names: Sequence[str]) -> dict[str, Look]:
    """For names without a look of their own, such as those of systems: by their order in the picture."""
    every = (*KNOWN.values(), *SPARE)
    return {name: every[i % len(every)] for i, name in enumerate(names)}


def names_legend(names: Collection[str], *, width: int = WIDTH) -> alt.Legend:
    """In as many columns as fit side by side; long names under one another."""
    widest = max((min(len(name) * LETTER, LABEL_LIMIT) for name in names), default=0) + AROUND_LABEL
    columns = max(1, min(len(names), int(width // widest)))
    return alt.Legend(
        symbolSize=90,
        symbolOpacity=1,
        symbolStrokeWidth=0,
        labelLimit=LABEL_LIMIT + 2 * LETTER,
        labelExpr=write_names(names, LABEL_LIMIT),
        columns=columns,
    )


def write_names(names: Collection[str], pixels: int) -> str:
    """Return the expression by which a chart writes these names, none longer than so many pixels."""
    return f"({json.dumps(shorten_names(names, int(pixels / LETTER)))})[datum.label] || datum.label"


def shorten_names(names: Collection[str], letters: int) -> dict[str, str]:
    """Return what is written of each name: all of it, else both its ends, else where it differs from names alike."""
    shown = {name: _cut_middle(name, letters) for name in names}
    for text in set(shown.values()):
        alike = [name for name in shown if shown[name] == text]
        if len(alike) > 1:
            n_shared = sum(
                1 for _ in itertools.takewhile(lambda place: len(set(place)) == 1, zip(*alike, strict=False))
            )
            begin = max(0, n_shared - letters // 4)
            for i, name in enumerate(alike):
                differing = f"…{name[begin:]}"
                written = differing if len(differing) <= letters else f"{differing[: letters - 1]}…"
                taken = {own for other, own in shown.items() if other != name}
                shown[name] = f"{written} ({i + 1})" if written in taken else written
    return shown


def _cut_middle(name: str, letters: int) -> str:
    if len(name) <= letters:
        return name
    half = (letters - 1) // 2
    return f"{name[: letters - 1 - half]}…{name[-half:]}"


def themed(chart: alt.TopLevelMixin, *, background: str = "transparent") -> alt.TopLevelMixin:
    """Quiet, in the page's own ink; applied where a chart is drawn, so that forms can be put together before."""
    text = {"labelColor": INK, "titleColor": INK, "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"}
    return chart.configure(
        background=background,
        aria=False,  # a picture has one text alternative and a table; marks read out one by one help nobody
        font="system-ui, 'DejaVu Sans', sans-serif",
        padding=10,
        view=alt.ViewConfig(stroke=None),
        axis=alt.AxisConfig(
            **text,
            domainColor=INK,
            domainOpacity=0.4,
            tickColor=INK,
            tickOpacity=0.4,
            gridColor=INK,
            gridOpacity=0.12,
            titlePadding=10,
            labelPadding=5,
        ),
        header=alt.HeaderConfig(
            labelColor=INK, titleColor=INK, labelFontSize=13, labelFontWeight=600, title=None, labelPadding=8
        ),
        legend=alt.LegendConfig(**text, orient="top", direction="horizontal", columnPadding=24),
        text=alt.MarkConfig(color=INK),
        rule=alt.MarkConfig(color=INK),
    )
