"""Questions that a failing threshold broke, with an answer before and after."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from shaketable.analyses.gate.broken_pairs import BrokenPairs
from shaketable.analyses.gate.verdicts import Check, Checked
from shaketable.analyses.tables import Tables
from shaketable.factors import ORIGINAL, SYSTEM, UNCHANGED, Cell

CONDITION = ("dataset", "variation", "perturbation", "temperature")


@dataclass(frozen=True, kw_only=True, slots=True)
class BrokenQuestion:
    check: Check
    cell: Cell
    """Where it broke."""
    question_id: str
    wording: str
    gold: tuple[str, ...]
    before: str
    """An answer where nothing is shaken, or of the base; the best there is."""
    after: str
    """The worst there is; empty: none."""


def broken_questions(checked: Checked, tables: Tables, base: Tables | None, n: int) -> tuple[BrokenQuestion, ...]:
    """Up to n of each threshold that fails and compares answers, those that lost most first; all that a limit on
    their number counts."""
    failing = [worst.check for worst in checked.worst() if worst.n_failing]
    examples = [question for check in failing for question in _of_check(check, tables, base, n)]
    counted = {check.cell.system: check for check in checked.checks if check.is_counted}
    pairs = [(own, counted[own.system]) for own in checked.broken if own.system in counted]
    return (*(question for own, check in pairs for question in _of_pairs(own, check, tables, base)), *examples)


def _of_pairs(broken: BrokenPairs, check: Check, tables: Tables, base: Tables | None) -> list[BrokenQuestion]:
    return _with_answers(check, broken.rows, tables, base or tables)


def _of_check(check: Check, tables: Tables, base: Tables | None, n: int) -> list[BrokenQuestion]:
    scores = _of_system(tables.of_metric(check.metric), check)
    after = _at(scores, check.cell)
    earlier = tables
    if check.threshold == "max_regression" and base is not None:
        earlier = base  # Its records may have the keys of the new run: the same was asked.
        before, same = _at(_of_system(base.of_metric(check.metric), check), check.cell), [*CONDITION, "question_id"]
    elif check.threshold in ("max_drop", "max_flip_rate"):
        clean = (pl.col("variation") == ORIGINAL) & (pl.col("perturbation").fill_null(UNCHANGED) == UNCHANGED)
        cool = scores.filter(clean)
        before, same = cool.filter(temperature=cool["temperature"].min()), ["dataset", "question_id"]
    else:
        return []
    best = before.sort("value", "repeat", descending=[True, False]).group_by(same, maintain_order=True)
    worst = after.sort("value", "repeat").group_by([*CONDITION, "question_id"], maintain_order=True)
    mean = pl.col("value").mean()
    gaps = (
        worst.agg(pl.col("key").first(), after=mean)
        .join(best.agg(before_key=pl.col("key").first(), before=mean), on=same, nulls_equal=True, maintain_order="left")
        .with_columns(gap=pl.col("before") - pl.col("after"))
        .filter(pl.col("gap") > 0)
        .sort("gap", *CONDITION, "question_id", descending=[True, *[False] * 5])
        .unique(["dataset", "question_id"], keep="first", maintain_order=True)
        .head(n)
    )
    return _with_answers(check, gaps, tables, earlier)


def _with_answers(check: Check, gaps: pl.DataFrame, tables: Tables, earlier: Tables) -> list[BrokenQuestion]:
    """Rows with a record of each, `key` and `before_key`, and what was answered."""
    after = tables.records_of(gaps["key"].to_list(), "key", "wording", "gold", "answer").unique("key")
    before = earlier.records_of(gaps["before_key"].to_list(), "key", "answer").unique("key")
    rows = gaps.join(after.rename({"answer": "after_text"}), on="key", maintain_order="left").join(
        before.select(before_key="key", before_text="answer"), on="before_key", how="left", maintain_order="left"
    )
    columns = (*CONDITION, "question_id", "wording", "gold", "before_text", "after_text")
    return [
        BrokenQuestion(
            check=check,
            cell=Cell(
                dataset=dataset,
                system=check.cell.system,
                variation=variation,
                perturbation=perturbation,
                temperature=temperature,
            ),
            question_id=question_id,
            wording=wording,
            gold=tuple(json.loads(gold)),
            before=before or "",
            after=after or "",
        )
        for dataset, variation, perturbation, temperature, question_id, wording, gold, before, after in rows.select(
            columns
        ).iter_rows()
    ]


def _of_system(scores: pl.DataFrame, check: Check) -> pl.DataFrame:
    """The system of a check; the only one of a run that names it otherwise."""
    of_metric = scores.filter(pl.col("value").is_not_null())
    system = check.cell.system
    if system is None or of_metric.select(SYSTEM).n_unique() == 1:
        return of_metric
    return of_metric.filter(_same(SYSTEM, (system.model, system.method, system.retriever)))


def _at(scores: pl.DataFrame, cell: Cell) -> pl.DataFrame:
    """Of the condition of a cell; of all of them where it names none."""
    if cell.temperature is None:
        return scores
    return scores.filter(
        _same(CONDITION[:3], (cell.dataset, cell.variation, cell.perturbation)), temperature=cell.temperature
    )


def _same(columns: Sequence[str], values: Sequence[str | None]) -> pl.Expr:
    return pl.all_horizontal(
        pl.col(column).eq_missing(pl.lit(value, dtype=pl.String)) for column, value in zip(columns, values, strict=True)
    )
