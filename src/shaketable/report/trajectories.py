"""Blocks of the chapter on wording that are no table of metrics: runs beside each other, and two trajectories."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from shaketable.report.charts.wording_panels import asked
from shaketable.report.content import NOT_APPLIED, rows_of
from shaketable.report.old_blocks import Block, Table
from shaketable.report.old_words import number
from shaketable.types import OldFinding

Row = Mapping[str, Any]
CHAPTER = "wording"
HITS = {True: "found", False: "not found", None: "–"}
VERDICTS = {1.0: "right", 0.0: "wrong"}


def deviation_block(finding: OldFinding) -> Block:
    """A line per system and dataset, a column per way of asking: mean ± standard deviation over runs."""
    lines: dict[tuple[Any, ...], dict[str, Any]] = {}
    ways: dict[str, str] = {}
    for row in rows_of(finding):
        place = tuple(row[name] for name in ("system", "dataset", "perturbation", "temperature"))
        at = f" · {row['temperature']:g}" if row["temperature"] else ""
        line = lines.setdefault(
            place, {"system": f"{row['system']}{at}", "dataset": row["dataset"], "n_runs": row["n_runs"]}
        )
        ways[str(row["variation"])] = asked(row["variation"])
        line[str(row["variation"])] = _told(row)
    columns = {"system": "System", "dataset": "Dataset", **ways, "n_runs": "Runs"}
    table = Table(title="", columns=columns, rows=[dict.fromkeys(columns) | line for line in lines.values()])
    return _block(finding, "Do runs agree?", [table] if lines else [])


def _told(row: Row) -> str:
    """`63.4 ± 1.2 %`, with one digit as in published tables; the mean alone where one run has no deviation."""
    if row["mean"] is None:
        return str(row["reason"])
    if row["unit"] == "share":
        spread = "" if row["value"] is None else f" ± {100 * row['value']:.1f}"
        return f"{100 * row['mean']:.1f}{spread} %"
    spread = "" if row["value"] is None else f" ± {number(row['value'], row['unit'])}"
    return f"{number(row['mean'], row['unit'])}{spread}"


def trajectory_block(finding: OldFinding) -> Block:
    """A table per case: the searches of both wordings hop by hop, and what was answered."""
    rows = [row for row in rows_of(finding) if row["metric"] is not None]
    cases = itertools.groupby(rows, key=lambda row: (row["key_original"], row["key_reworded"]))
    tables = [_case(list(own), is_folded=place > 0) for place, (_, own) in enumerate(cases)]
    return _block(finding, "Two trajectories side by side", tables)


def _case(rows: Sequence[Row], *, is_folded: bool) -> Table:
    first, way = rows[0], asked(rows[0]["variation"])
    columns = {"hop": "Search", "query_original": "Original", "query_reworded": way.capitalize()}
    columns |= {"value": "Similarity", "hit_original": "Gold, original", "hit_reworded": f"Gold, {way}"}
    lines: list[Row] = [
        {"hop": "asked", "query_original": first["wording_original"], "query_reworded": first["wording_reworded"]},
        *(
            {
                "hop": row["hop"],
                "query_original": row["query_original"],
                "query_reworded": row["query_reworded"],
                "value": None if row["value"] is None else f"{row['value']:.2f}",
                "hit_original": HITS[row["hit_original"]],
                "hit_reworded": HITS[row["hit_reworded"]],
            }
            for row in rows
        ),
        {
            "hop": "answer",
            "query_original": _answer(first, "original"),
            "query_reworded": _answer(first, "reworded"),
            "value": None if first["mss"] is None else f"mean {first['mss']:.2f}",
        },
    ]
    at = f" · {first['temperature']:g}" if first["temperature"] else ""
    title = f"{first['system']}{at} on {first['dataset']}: question {first['question_id']}"
    filled = [dict.fromkeys(columns) | dict(line) for line in lines]
    return Table(title=title, columns=columns, rows=filled, is_folded=is_folded)


def _answer(row: Row, side: str) -> str:
    verdict = VERDICTS.get(row[f"correct_{side}"])
    return f"{row[f'answer_{side}'] or 'nothing'}{f' ({verdict})' if verdict else ''}"


def _block(finding: OldFinding, title: str, tables: Sequence[Table]) -> Block:
    return Block(
        chapter=CHAPTER,
        name=finding.analysis,
        title=title,
        sentences=finding.sentences,
        notes=[caveat for caveat in finding.caveats if not caveat.startswith(NOT_APPLIED)],
        tables=tables,
    )
