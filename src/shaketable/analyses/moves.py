"""Which questions fare otherwise with another system, and what it answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from shaketable.analyses.pairs import CONDITION, PAIR, SIDES, TEXTS, name_evidence_alike, pair
from shaketable.factors import FACTORS, Cell
from shaketable.statistics.resampling import ROUNDING

QUESTION = ("dataset", "question_id", "question", "gold")
SHEET_COLUMNS = (
    *(*QUESTION, "type", *FACTORS[1:], "repeat", "failure"),
    *("n_searches", "n_generations", "n_prompt_tokens", "n_tokens", "seconds", "dollars"),
)
"""Of records that are compared; their answers are read where they are shown."""
N_ANSWERS = 2
"""Conditions of a question that are shown."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Given:
    """What a system answered once."""

    key: str
    text: str
    value: float


@dataclass(frozen=True, kw_only=True, slots=True)
class TwoAnswers:
    """To the same question under the same condition; of several runs those that tell the difference."""

    cell: Cell
    wording: str
    first: Given
    second: Given


@dataclass(frozen=True, kw_only=True, slots=True)
class Move:
    """A question whose number is another."""

    dataset: str
    question_id: str
    question: str
    gold: tuple[str, ...]
    difference: float
    """The second minus the first, on average over conditions; 0: it moved both ways."""
    n_conditions: int
    n_moved: int
    """Conditions under which it is another."""
    answers: tuple[TwoAnswers, ...]
    """Of the conditions under which it moved most."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Moves:
    questions: tuple[Move, ...]
    """Those that moved, most first."""
    n_up: int
    n_down: int
    n_both: int
    """Up under some conditions and down under others, as much."""
    n_same: int


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """The scores of one system, and the records behind them."""

    scores: pl.DataFrame
    records: pl.DataFrame
    read_answers: Callable[[Sequence[str]], pl.DataFrame]
    """Key, wording and answer of the records of some keys."""


def find_moves(first: Sheet, second: Sheet, metric: str, *, least: float, n_most: int) -> Moves:
    """Questions whose number differs by more than `least` under some condition; the most of them with their answers."""
    difference = pl.col("difference")
    pairs = pair(first.scores, second.scores, metric).drop_nulls(SIDES)
    pairs = pairs.with_columns(difference=(pl.col("second") - pl.col("first")).round(ROUNDING))
    is_moved = difference.abs() > least
    questions = pairs.group_by("dataset", "question_id").agg(
        difference=difference.mean().round(ROUNDING), n=pl.len(), n_moved=is_moved.sum(), most=difference.abs().max()
    )
    moved = questions.filter(pl.col("n_moved") > 0).sort(
        difference.abs(), "most", "dataset", "question_id", descending=[True, True, False, False]
    )
    shown = moved.head(n_most)
    chosen = (
        pairs.filter(is_moved)
        .join(shown, on=("dataset", "question_id"), how="semi")
        .sort(difference.abs(), *CONDITION, descending=[True, *[False] * len(CONDITION)])
        .group_by("dataset", "question_id", maintain_order=True)
        .head(N_ANSWERS)
    )
    answers = _answers(chosen, first, second, metric)
    texts = {(dataset, id): texts for dataset, id, *texts in first.records.select(QUESTION).unique().iter_rows()}
    return Moves(
        questions=tuple(
            Move(
                dataset=dataset,
                question_id=id,
                question=texts[dataset, id][0],
                gold=tuple(json.loads(texts[dataset, id][1])),
                difference=mean,
                n_conditions=n,
                n_moved=n_moved,
                answers=tuple(answers[dataset, id]),
            )
            for dataset, id, mean, n, n_moved, _ in shown.iter_rows()
        ),
        n_up=moved.filter(difference > 0).height,
        n_down=moved.filter(difference < 0).height,
        n_both=moved.filter(difference == 0).height,
        n_same=questions.height - moved.height,
    )


def _answers(
    chosen: pl.DataFrame, first: Sheet, second: Sheet, metric: str
) -> Mapping[tuple[str, str], Sequence[TwoAnswers]]:
    """By dataset and question, in the order of what was chosen."""
    scores = name_evidence_alike(first.scores, second.scores)
    both = chosen.select(*PAIR, "difference")
    for side, sign, table, sheet in zip(SIDES, (1, -1), scores, (first, second), strict=True):
        told = (
            table.filter(metric=metric)
            .drop_nulls("value")
            .with_columns(TEXTS)
            .join(both, on=PAIR, nulls_equal=True)
            .sort(sign * pl.col("difference").sign() * pl.col("value"), "repeat")  # The lower side's lowest run.
            .unique(PAIR, keep="first", maintain_order=True)
        )
        texts = sheet.read_answers(told["key"].to_list()).with_columns(pl.col("answer").fill_null(""))
        told = told.join(texts, on="key").select(
            *PAIR, *(pl.col(name).alias(f"{side}_{name}") for name in ("key", "answer", "value", "wording"))
        )
        both = both.join(told, on=PAIR, nulls_equal=True, maintain_order="left")
    answers: dict[tuple[str, str], list[TwoAnswers]] = {}
    for row in both.iter_rows(named=True):
        cell = Cell(**{factor: row[factor] for factor in CONDITION})
        one, other = (
            Given(key=row[f"{side}_key"], text=row[f"{side}_answer"], value=row[f"{side}_value"]) for side in SIDES
        )
        pair_ = TwoAnswers(cell=cell, wording=row["first_wording"], first=one, second=other)
        answers.setdefault((row["dataset"], row["question_id"]), []).append(pair_)
    return answers
