"""Scores and curves → the facts of each system and dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from shaketable import catalog
from shaketable.analyses.facts.facts import LABELS, Fact, Facts
from shaketable.analyses.tables import Tables
from shaketable.errors import PartError, did_you_mean
from shaketable.factors import Cell, System
from shaketable.types import Curve, Scan

CONDITION = ("model", "method", "retriever", "perturbation", "variation", "dataset")
QUESTION = (*CONDITION, "question_id")
TYPE_NAMES = {"number": "NUM", "place": "LOC", "person": "HUM", "entity": "ENTY"}
"""How the facts that ship call the types of question."""
Key = tuple[str | None, ...]
"""The columns of QUESTION."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Greedy:
    """The first record at temperature 0 of a question."""

    key: str
    scores: dict[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What the score table has of all questions."""

    greedy: Mapping[Key, Greedy]
    accuracies: Mapping[Key, Mapping[float, float]]
    tried: Mapping[Key, frozenset[float]]
    hottest: float | None
    curves: Mapping[str, Curve]
    """By key of the record."""


def judges(scan: Scan) -> tuple[str, str]:
    """The names of the metrics that tell which facts are known and which answers are correct, as scores have them."""
    return catalog.parse(scan.known or scan.correct)[0], catalog.parse(scan.correct)[0]


def read_facts(tables: Tables, scan: Scan, *, table: pl.DataFrame | None = None) -> list[Facts]:
    """One for each system and dataset, in a fixed order; the scan says which metrics judge.

    `table`: the scores to read instead of those of the tables.
    """
    table = tables.scores if table is None else table
    if not len(table):
        return []
    known, correct = judges(scan)
    _check(table, known, correct)
    tried = _tried(table)
    asked = Asked(
        greedy=_greedy(table),
        accuracies=_accuracies(table, correct),
        tried=tried,
        hottest=max((temperature for temperatures in tried.values() for temperature in temperatures), default=None),
        curves={curve.key: curve for curve in tables.curves},
    )
    facts: dict[Key, list[Fact]] = {}
    questions = table.select(*QUESTION, "type").unique().sort(*QUESTION)
    for *key, given_type in questions.iter_rows():
        facts.setdefault(tuple(key[:-1]), []).append(_fact(tuple(key), given_type, asked, known, scan))
    return [Facts(cell=_cell(condition), asked=tuple(asked_there)) for condition, asked_there in facts.items()]


def _fact(key: Key, given_type: str | None, asked: Asked, known: str, scan: Scan) -> Fact:
    greedy = asked.greedy.get(key, Greedy(key=""))
    scores, tried = greedy.scores, asked.tried.get(key, frozenset())
    right, curve = scores.get(known), asked.curves.get(greedy.key)
    return Fact(
        question_id=str(key[-1]),
        dataset=str(key[-2]),
        key=greedy.key or None,
        type=_type(given_type, scores.get("question_type")),
        is_known=None if right is None else right == 1,
        entropy=scores.get("entropy"),
        margin=scores.get("margin"),
        n_tokens=scores.get("answer_tokens"),
        is_scanned=bool(tried) or (scan.strategy == "none" and curve is not None),
        tried=tried,
        accuracies=asked.accuracies.get(key, {}),
        hottest=asked.hottest,
        curve=curve if curve is not None and curve.reason is None else None,
        no_curve=None if curve is None else curve.reason,
    )


def _cell(condition: Key) -> Cell:
    model, method, retriever, perturbation, variation, dataset = condition
    return Cell(
        dataset=dataset,
        system=System(model=str(model), method=str(method), retriever=retriever),
        perturbation=perturbation,
        variation=variation,
    )


def _check(table: pl.DataFrame, known: str, correct: str) -> None:
    names = sorted(table["metric"].unique())
    for setting, metric in (("known", known), ("correct", correct)):
        if metric not in names:
            raise PartError(
                f"{setting} is '{metric}', which these scores do not have.{did_you_mean(metric, names)} "
                f"Scored metrics: {', '.join(names)}."
            )
    highest = table.filter(metric="entropy")["value"].max()
    if isinstance(highest, float) and highest > 1 + 1e-9:
        raise PartError(
            f"entropy reaches {highest:.3g}, but the robustness score takes 0 to 1. "
            "Score entropy with base='10' and n_top=10."
        )


def _greedy(table: pl.DataFrame) -> dict[Key, Greedy]:
    greedy: dict[Key, Greedy] = {}
    wanted = table.filter(temperature=0.0).sort("repeat")
    for *question, key, metric, value in wanted.select(*QUESTION, "key", "metric", "value").iter_rows():
        first = greedy.setdefault(tuple(question), Greedy(key=key))
        if first.key == key:
            first.scores[metric] = value
    return greedy


def _accuracies(table: pl.DataFrame, correct: str) -> dict[Key, dict[float, float]]:
    scored = table.filter((pl.col("temperature") > 0) & (pl.col("metric") == correct) & pl.col("value").is_not_null())
    shares = scored.group_by(*QUESTION, "temperature").agg(share=pl.col("value").mean()).sort("temperature")
    accuracies: dict[Key, dict[float, float]] = {}
    for *question, temperature, mean in shares.select(*QUESTION, "temperature", "share").iter_rows():
        accuracies.setdefault(tuple(question), {})[temperature] = mean
    return accuracies


def _tried(table: pl.DataFrame) -> dict[Key, frozenset[float]]:
    asked = table.filter(pl.col("temperature") > 0).group_by(*QUESTION).agg(pl.col("temperature").unique())
    return {tuple(question): frozenset(temperatures) for *question, temperatures in asked.iter_rows()}


def _type(given: str | None, predicted: float | None) -> str | None:
    """What the dataset names goes before what a classifier predicts; a tag such as `bridge` names no type."""
    name = TYPE_NAMES.get(given or "", given)
    if name in LABELS:
        return name
    return None if predicted is None else LABELS[int(predicted)]
