"""How the report and the analysis name what context reliance compares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shaketable.report.old_words import number

SIDES = ("original", "disturbed", "closed_book")
WORDS = ("with original evidence", "with disturbed evidence", "closed book")


def told_mean(row: Mapping[str, Any], side: str) -> str:
    return number(row[side], row["score_unit"]) + (" %" if row["score_unit"] == "share" else "")
