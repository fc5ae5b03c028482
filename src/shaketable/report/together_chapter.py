"""The chapter on everything shaken at once: what explains the variation, the surface, and reliance on evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import altair as alt

from shaketable.report.charts.correctness_surface import correctness_surface, surface_rows
from shaketable.report.old_figures import Figure, finding_figure, intervals_and_n
from shaketable.report.old_words import level, measured
from shaketable.types import OldFinding

Row = Mapping[str, Any]
CHAPTER = "together"
ESTIMATE = {"value": "Value", "low": "Low", "high": "High", "n": "Questions"}


# --- figures --------------------------------------------------------------------------------------


def together_figures(findings: Sequence[OldFinding]) -> list[Figure]:
    """What can be drawn of the findings at hand, in the order of the chapter."""
    of = {finding.analysis: finding for finding in findings}
    drawn: list[Figure] = []
    if correct := of.get("correctness"):
        drawn += _surface(correct)
    return drawn


def _surface(finding: OldFinding) -> list[Figure]:
    """Of the main metric, where wordings and temperatures are crossed; with one of either, other chapters show all."""
    metric = str(finding.settings.get("main_metric"))
    rows = surface_rows(finding, metric)
    if min(len({row[name] for row in rows}) for name in ("asked", "temperature")) < 2:
        return []
    return _figure(
        "correctness_surface",
        f"The surface: {measured(metric)} by wording, evidence and temperature",
        "Each box is the mean over questions in one setting.",
        rows,
        {"panel": "System", "asked": "Asked", "evidence": "Evidence", "temperature": "Temperature"} | ESTIMATE,
        lambda: correctness_surface(finding, metric),
        finding,
        caption=_extremes(rows),
    )


def _extremes(rows: Sequence[Row]) -> str:
    best, worst = (pick(rows, key=lambda row: row["value"]) for pick in (max, min))

    several = len({row["panel"] for row in rows}) > 1

    def place(row: Row) -> str:
        system = f"{row['panel']}, " if several else ""
        return f"{system}{row['asked']} wording, {row['evidence']}, temperature {row['temperature']:g}"

    return f"It runs from {level(best)} ({place(best)}) down to {level(worst)} ({place(worst)})."


def _figure(
    name: str,
    title: str,
    note: str,
    rows: Sequence[Row],
    columns: Mapping[str, str],
    draw: Callable[[], alt.TopLevelMixin],
    finding: OldFinding,
    *,
    caption: str = "",
) -> list[Figure]:
    """None without rows."""
    if not rows:
        return []
    intervals, n = intervals_and_n(finding, rows)
    return [
        finding_figure(
            finding,
            draw(),
            rows,
            columns,
            chapter=CHAPTER,
            name=name,
            title=title,
            caption=caption,
            note=f"{note} Intervals are {intervals} over questions. {n}.",
        )
    ]
