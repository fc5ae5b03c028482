"""Which questions lose most when their evidence is disturbed, and how do their answers fail?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from shaketable.analyses.conditions import ORIGINAL, names_in
from shaketable.analyses.grids import PLACE, Grid, Row, even, systems
from shaketable.factors import judging_metric
from shaketable.report.old_words import measured, named, number, questions, said, sentence_case
from shaketable.types import OldFinding

NAME = "cases"
FAILURES = ("refusal", "gibberish", "terse")
"""Metrics that name a way to fail, in the order they are told."""
Tags = dict[str, list[str]]


def cases(table: pl.DataFrame, *, metric: str | None = None, cool: float = 0.6, hot: float | None = None) -> OldFinding:
    """For each system, type and perturbation the question with the largest drop, at a cool and a hot temperature.

    The temperatures are those nearest to `cool` and `hot`; a hot of None is the hottest. Of equal drops the smallest
    question id is taken. `value` is the drop, `original` and `disturbed` are the two means over runs, `keys_original`
    and `keys_disturbed` the records of both cells, and `tags_…` holds for each record how it failed: refusal,
    gibberish, terse by the metrics of these names, and wrong where the metric that judges is 0 and none of the others
    applies. Tags are None where none of these metrics was scored.
    """
    tags = _tags(table)
    rows = [row for system in systems(table, metric) for row in _rows(system, table, tags, cool, hot)]
    _add_sentences(rows)
    return OldFinding(
        analysis=NAME,
        question="Which questions lose most when their evidence is disturbed, and how do their answers fail?",
        rows=even(rows),
        sentences=tuple(said(row) for row in rows if row["sentence"]),
        caveats=_caveats(rows, tags),
        settings={"metric": metric, "cool": cool, "hot": hot},
    )


def _rows(system: Grid, table: pl.DataFrame, tags: Tags | None, cool: float, hot: float | None) -> list[Row]:
    if not system.perturbations:
        return []
    temperatures = sorted({_nearest(system, cool), _nearest(system, system.temperatures[-1] if hot is None else hot)})
    records = table.filter(
        pl.col("metric") == system.metric,
        *(pl.col(name).eq_missing(pl.lit(system.place[name], dtype=table.schema[name])) for name in PLACE),
        pl.col("temperature").is_in(temperatures),
    )
    rows = []
    for grid in system.by_type() or [system]:
        drops, n_missing = grid.drops(), grid.n_missing_pairs()
        for temperature in temperatures:
            j = grid.temperatures.index(temperature)
            for i, perturbation in enumerate(grid.perturbations):
                row = grid.row(
                    NAME,
                    perturbation=perturbation,
                    temperature=temperature,
                    value=None,
                    low=None,
                    high=None,
                    n=int((~np.isnan(drops[i, j])).sum()),
                    n_missing=int(n_missing[i, j]),
                )
                if row["n"]:
                    largest = int(np.nanargmax(drops[i, j]))  # The first of equals, and ids ascend.
                    row |= _case(grid, largest, i, j) | _records(
                        records, grid, largest, perturbation, temperature, tags
                    )
                rows.append(row)
    return rows


def _nearest(grid: Grid, wanted: float) -> float:
    return min(grid.temperatures, key=lambda temperature: (round(abs(temperature - wanted), 9), temperature))


def _case(grid: Grid, question: int, perturbation: int, temperature: int) -> Row:
    original, disturbed = grid.means[0, temperature, question], grid.means[1 + perturbation, temperature, question]
    return {
        "value": float(grid.drops()[perturbation, temperature, question]),
        "question_id": grid.question_ids[question],
        "original": float(original),
        "disturbed": float(disturbed),
    }


def _records(
    records: pl.DataFrame, grid: Grid, question: int, perturbation: str, temperature: float, tags: Tags | None
) -> Row:
    cell = records.filter(question_id=grid.question_ids[question], temperature=temperature).sort("repeat")
    keys = {
        "original": cell.filter(pl.col("perturbation").fill_null(ORIGINAL) == ORIGINAL)["key"].to_list(),
        "disturbed": cell.filter(perturbation=perturbation)["key"].to_list(),
    }
    named_keys = {f"keys_{name}": found for name, found in keys.items()}
    found_tags = {f"tags_{name}": tags and [tags.get(key, []) for key in found] for name, found in keys.items()}
    return named_keys | found_tags


def _tags(table: pl.DataFrame) -> Tags | None:
    """How each record failed, by key; a record that did not fail, or could not be judged, is not among them."""
    correct = judging_metric(names_in(table))
    scored = table.filter(pl.col("metric").is_in([*FAILURES, correct]))
    if not len(scored):
        return None
    tags: Tags = {}
    for name in FAILURES:
        for key in scored.filter((pl.col("metric") == name) & (pl.col("value") == 1))["key"].to_list():
            tags.setdefault(key, []).append(name)
    for key in scored.filter((pl.col("metric") == correct) & (pl.col("value") == 0))["key"].to_list():
        tags.setdefault(key, ["wrong"])
    return tags


def _add_sentences(rows: Sequence[Row]) -> None:
    """The largest drop of each system."""
    worst: dict[tuple[str, str], Row] = {}
    for row in rows:
        row.update(headline=None, sentence=None, detail=None)
        place = row["metric"], row["system"]
        if row["value"] is not None and row["value"] > 0 and row["value"] > worst.get(place, {"value": 0})["value"]:
            worst[place] = row
    for row in worst.values():
        row.update(headline=NAME, sentence=_sentence(row), detail=_detail(row))


def _sentence(row: Row) -> str:
    before, after = (
        number(row[name], row["unit"]) + (" %" if row["unit"] == "share" else "") for name in ("original", "disturbed")
    )
    return (
        f"{sentence_case(named(row['perturbation']))} at temperature {row['temperature']:g} takes question "
        f"{row['question_id']} from {before} to {after} {measured(row['metric'])}, "
        f"the largest loss of {row['system']} here."
    )


def _detail(row: Row) -> str:
    tags = sorted({tag for of_one in row["tags_disturbed"] or () for tag in of_one})
    failed = f"Its answers are tagged {', '.join(tags)}. " if tags else ""
    return f"{failed}It is the extreme of {questions(row['n'])[4:]}."


def _caveats(rows: Sequence[Row], tags: Tags | None) -> tuple[str, ...]:
    if not rows:
        return ()
    caveats = ["These are extremes, picked for being so: they show how answers fail, not how often."]
    if tags is None:
        caveats.append("Without refusal, gibberish, terse or correct among the metrics, failures have no tags.")
    return tuple(caveats)
