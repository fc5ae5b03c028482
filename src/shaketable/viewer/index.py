"""The first page of the viewer: the runs there are, what each says first, and some of them side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shaketable.errors import RunError
from shaketable.store import Run
from shaketable.store.summary import RunSummary
from shaketable.viewer.side_by_side import side_by_side

MOST_SIDE_BY_SIDE = 8
"""Runs that are put side by side: of a whole folder nobody would read the table, and it takes long."""


def index_values(runs: Mapping[str, Run], metric: str | None) -> dict[str, Any]:
    """What the template is filled with."""
    summaries: dict[str, RunSummary] = {}
    headlines: dict[str, str] = {}
    problems: dict[str, str] = {}
    for name, run in runs.items():
        try:
            with run.reading() as fresh:
                summaries[name] = fresh.summary()
                headlines[name] = next(iter(fresh.headlines()), "")
        except RunError as error:
            if len(runs) == 1:
                raise
            summaries.pop(name, None)
            problems[name] = str(error)
    readable = {name: run for name, run in runs.items() if name in summaries}
    is_few = len(readable) <= MOST_SIDE_BY_SIDE
    table = side_by_side(readable, metric) if readable and is_few else None
    # Runs that were not analyzed, and those of a whole folder, are compared as wholes.
    sides = [(name, name) for name in readable] if len(readable) > 1 else []
    if table is not None:
        sides = [(column.address, f"{column.run} · {column.label}") for column in table.every]
    return {
        "summaries": summaries,
        "headlines": headlines,
        "problems": problems,
        "table": table,
        "sides": sides,
        "n_side_by_side": None if is_few else MOST_SIDE_BY_SIDE,
    }
