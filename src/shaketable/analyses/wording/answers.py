"""The answers of a run by system and dataset, read from its tables, and why an analysis may have nothing to tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from shaketable.analyses.tables import Tables
from shaketable.analyses.wording.asked import Asked, Reply
from shaketable.factors import Cell, System

NO_RECORDS = "the answers were not given; analyze the run, or give its records()"
NO_SEARCHING = "no system of this run searches"
NO_SEARCHES = "no search was recorded"
NO_QUERY_LOSS = "query_loss was not scored; add query_loss to score.metrics"
CELL = ("dataset", "model", "method", "retriever", "perturbation", "temperature")
ORDER = ("question_id", "variation", "wording", "repeat", "key")


def group_replies(records: pl.DataFrame) -> list[Asked]:
    """One for each system and dataset, in a fixed order, then one for each system on all its datasets together."""
    replies: dict[Cell, dict[str, list[Reply]]] = {}
    failed: dict[Cell, Counter[str]] = {}
    n_runs = 1 + pl.col("repeat").max().over(*CELL, "variation")
    for row in records.sort(*ORDER).with_columns(n_runs=n_runs).iter_rows(named=True):
        cell = Cell(
            dataset=row["dataset"],
            system=System(model=row["model"], method=row["method"] or "", retriever=row["retriever"]),
            perturbation=row["perturbation"],
            temperature=row["temperature"],
        )
        own = replies.setdefault(cell, {})
        if row["answer"] is None:
            failed.setdefault(cell, Counter())[row["variation"]] += 1
        else:
            reply = Reply(
                key=row["key"],
                question_id=row["question_id"],
                variation=row["variation"],
                wording=row["wording"],
                repeat=row["repeat"],
                n_runs=row["n_runs"],
                answer=row["answer"],
                n_searches=row["n_searches"],
                n_generations=row["n_generations"],
                n_tokens=row["n_tokens"],
            )
            own.setdefault(reply.question_id, []).append(reply)
    every = [
        Asked(cell=cell, replies=replies[cell], n_failed=failed.get(cell, {})) for cell in sorted(replies, key=_order)
    ]
    return every + _pooled(every)


def group_scores(tables: Tables, metric: str) -> list[Asked]:
    """The same for trials that have a score by this metric; the others count as failed. Their answers are not known."""
    scored = tables.of_metric(metric)
    nothing = {name: pl.lit(0) for name in ("n_searches", "n_generations", "n_tokens")}
    return group_replies(
        scored.with_columns(
            answer=pl.when(pl.col("value").is_not_null()).then(pl.lit("")), wording="variation", **nothing
        )
    )


def read_scores(tables: Tables, metric: str | None) -> dict[str, float | None]:
    """Key → value of one metric; none where there is no metric."""
    if metric is None:
        return {}
    return dict(tables.of_metric(metric).select("key", "value").iter_rows())


def _order(cell: Cell) -> list[tuple[bool, str | float]]:
    system = cell.system or System(model="")
    names = (system.model, system.method, system.retriever, cell.perturbation, cell.dataset, cell.temperature)
    return [(name is not None, "" if name is None else name) for name in names]


def _pooled(every: Sequence[Asked]) -> list[Asked]:
    """Each system that was asked of several datasets, on all of them: every question counts once."""
    together: dict[Cell, list[Asked]] = {}
    for asked in every:
        together.setdefault(replace(asked.cell, dataset=None), []).append(asked)
    return [
        Asked(
            cell=cell,
            # Two datasets may use the same id.
            replies={
                (own := f"{asked.cell.dataset}: {question}"): [replace(reply, question_id=own) for reply in replies]
                for asked in parts
                for question, replies in asked.replies.items()
            },
            n_failed=sum((Counter(asked.n_failed) for asked in parts), Counter()),
        )
        for cell, parts in together.items()
        if len(parts) > 1
    ]
