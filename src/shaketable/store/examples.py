"""Questions that disturbed evidence turns from right to wrong, with their evidence and answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from shaketable.factors import SYSTEM, System
from shaketable.store.records import RecordStore
from shaketable.types import Record

PARAGRAPH = "\n\n"
"""Between the passages of evidence that people read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExampleAnswer:
    temperature: float
    repeat: int
    perturbation: str | None
    text: str
    """Empty where the trial failed."""
    correct: float | None
    """1: right, 0: wrong; None: not scored."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Example:
    question_id: str
    question: str
    wording: str
    gold: tuple[str, ...]
    evidence_before: str
    evidence_after: str
    perturbation: str
    system: System
    temperature: float
    """The coolest of the answers."""
    answers: tuple[ExampleAnswer, ...]


def choose_examples(store: RecordStore, judged: pl.DataFrame, n: int) -> tuple[Example, ...]:
    """Right with untouched evidence and wrong with disturbed evidence, where they are coolest.

    `judged` are scores, with factors, of the one metric that tells right answers from wrong ones.
    """
    cool = judged.filter(pl.col("temperature") == pl.col("temperature").min())
    cool = cool.group_by(*SYSTEM, "question_id", "perturbation").agg(pl.col("value").mean())
    clean = cool.filter(pl.col("perturbation") == "unchanged").drop("perturbation").rename({"value": "clean"})
    gaps = (
        cool.filter(pl.col("perturbation") != "unchanged")
        .join(clean, on=[*SYSTEM, "question_id"])
        .with_columns(gap=pl.col("clean") - pl.col("value"))
        .filter(pl.col("gap") > 0)
        .sort("gap", "question_id", "perturbation", *SYSTEM, descending=[True, *[False] * 5])
        .unique("question_id", keep="first", maintain_order=True)
    )
    # A different perturbation each time, as long as there are some.
    gaps = gaps.with_columns(turn=pl.int_range(pl.len()).over("perturbation")).sort("turn", maintain_order=True)
    chosen = gaps.head(n).select(*SYSTEM, "question_id", "perturbation").iter_rows()
    return tuple(_example(store, judged, *row) for row in chosen)


def _example(
    store: RecordStore,
    judged: pl.DataFrame,
    model: str,
    method: str,
    retriever: str,
    question_id: str,
    perturbation: str,
) -> Example:
    records = list(
        store.select_records(
            "c.model = ? AND c.method = ? AND c.retriever = ? AND v.question_id = ? "
            "AND c.perturbation IN ('unchanged', ?)",
            (model, method, retriever, question_id, perturbation),
        )
    )
    keys = [record.trial.key for record in records]
    correct = dict(judged.filter(pl.col("key").is_in(keys)).select("key", "value").iter_rows())
    evidence = {
        record.trial.perturbation: PARAGRAPH.join(hit.passage.text for hit in record.answer.hits)
        for record in records
        if record.answer is not None
    }
    question = store.question(question_id)
    assert question is not None
    return Example(
        question_id=question_id,
        question=question.text,
        wording=records[0].trial.variant.text,
        gold=question.answers,
        evidence_before=evidence.get("unchanged", ""),
        evidence_after=evidence.get(perturbation, ""),
        perturbation=perturbation,
        system=System(model=model, method=method, retriever=retriever),
        temperature=min(record.trial.temperature for record in records),
        answers=tuple(_answer(record, correct) for record in records),
    )


def _answer(record: Record, correct: Mapping[str, float | None]) -> ExampleAnswer:
    return ExampleAnswer(
        temperature=record.trial.temperature,
        repeat=record.trial.repeat,
        perturbation=record.trial.perturbation,
        text=record.answer.text if record.answer else "",
        correct=correct.get(record.trial.key),
    )
