"""What stands under a picture: its intervals, and the questions behind it."""

from __future__ import annotations

from collections.abc import Sequence

from shaketable.report.charts.marks import Mark
from shaketable.report.evidence_marks import count_behind
from shaketable.report.section import Page


def describe_intervals(marks: Sequence[Mark], page: Page) -> str:
    """`Intervals are 95 % confidence intervals over questions. n = 20 to 24 questions.`"""
    level = f"{100 * page.bootstrap.confidence:g} %"
    return f"Intervals are {level} confidence intervals over questions. {count_behind(marks)}."
