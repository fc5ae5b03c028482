"""Numbers as people read them, for the sentences of findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shaketable.factors import word_for

Row = Mapping[str, Any]


def named(part: str) -> str:
    """`sentence_removal` → `sentence removal`; settings stay as they are written."""
    name, bracket, settings = part.partition("(")
    return name.replace("_", " ") + bracket + settings


def sentence_case(text: str) -> str:
    return text[:1].upper() + text[1:]


def number(value: float, unit: str) -> str:
    """A share as whole percent, or two digits where it is small; anything else with three digits."""
    if unit == "share":
        percent = 100 * value
        text = f"{percent:.0f}" if abs(percent) >= 9.5 else f"{percent:.2g}"
    else:
        text = f"{value:#.3g}".removesuffix(".") if 0 < abs(value) < 1000 else f"{value:,.0f}"
    return text.replace("-", "−")


def bounds(row: Row) -> str:
    """` [41, 63]`, or nothing where one question allows no interval."""
    if row["low"] is None:
        return ""
    return f" [{number(row['low'], row['unit'])}, {number(row['high'], row['unit'])}]"


def level(row: Row) -> str:
    """`52 % [41, 63]` or `0.912 [0.9, 0.92]`."""
    return number(row["value"], row["unit"]) + (" %" if row["unit"] == "share" else "") + bounds(row)


def difference(row: Row) -> str:
    """`19 points [8, 30]`: between two shares lie points, not percent."""
    return number(row["value"], row["unit"]) + (" points" if row["unit"] == "share" else "") + bounds(row)


def measured(metric: str) -> str:
    """What a metric measures, where people have a word for it."""
    return word_for(metric)


def cost(row: Row) -> str:
    """`19 points [8, 30] of correctness` or `0.0300 [0.0200, 0.0400] bertscore`."""
    return f"{difference(row)} {'of ' if row['unit'] == 'share' else ''}{measured(row['metric'])}"


def holds_zero(row: Row) -> bool:
    """Whether the interval allows no difference; without an interval nothing is claimed."""
    return row["low"] is None or row["low"] <= 0 <= row["high"]


def questions(n: int) -> str:
    return f"n = {n:,} question{'' if n == 1 else 's'}"


def at_temperatures(some: Sequence[float], tried: Sequence[float]) -> str:
    """`at every temperature tried`, or `at temperature 0 to 0.6, 2`, where neighbours are drawn together."""
    if len(some) == len(tried) > 1:
        return "at every temperature tried"
    order = sorted(tried)
    runs: list[list[float]] = []
    for temperature in sorted(some):
        if runs and order.index(temperature) == order.index(runs[-1][-1]) + 1:
            runs[-1].append(temperature)
        else:
            runs.append([temperature])
    told = [
        f"{run[0]:g} to {run[-1]:g}" if len(run) > 2 else ", ".join(f"{temperature:g}" for temperature in run)
        for run in runs
    ]
    return "at temperature " + ", ".join(told)


def said(row: Row) -> str:
    """A row's sentence with what stands behind it."""
    return f"{row['sentence']} {row['detail']}" if row["detail"] else str(row["sentence"])
