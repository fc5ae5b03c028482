"""Does evidence make a model hold facts more firmly, and does it lose that when the evidence is disturbed?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from shaketable.analyses.conditions import ORIGINAL
from shaketable.analyses.facts.facts import Breaking, Fact, Facts, Row, facts_of, numbers, settled
from shaketable.analyses.grids import even
from shaketable.facts.score import D, Rule, frs
from shaketable.report.old_words import bounds, holds_zero, level, named, number, questions, said, sentence_case
from shaketable.statistics.intervals import ROUNDING, agreed, mean_estimates
from shaketable.statistics.intervals import known as estimate_columns
from shaketable.types import Curve, OldFinding, Scan

NAME = "robustness_with_evidence"
WRONG = 0.0
"""The breaking temperature of a fact that is wrong at temperature 0: it never held."""
NOTHING_SCORED, NOTHING_PAIRED = "no fact has a score here", "no fact has a score on both sides"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One kind of evidence of one model on one dataset, in all its wordings."""

    place: Mapping[str, str | None]
    """Dataset, model, method, retriever and perturbation; the last two are None closed book."""
    wordings: Mapping[str, Mapping[str, Fact]]
    """Variation → question id → fact."""


def robustness_with_evidence(
    table: pl.DataFrame,
    *,
    curves: Sequence[Curve] = (),
    scan: Scan | None = None,
    known: str | None = None,
    correct: str | None = None,
    d: tuple[int, ...] = D,
    rule: Rule = "first",
    threshold: float | None = None,
    inclusive: bool = False,
    confidence: float = 0.95,
    n_resamples: int = 2000,
) -> OldFinding:
    """Robustness scores (FRS) closed book, with original and with disturbed evidence, over the facts that a model knows
    in any of these and in any wording; where a fact is wrong at temperature 0 its breaking temperature is 0.

    Kind `score`: the mean for one kind of evidence, of each fact the mean over wordings. Kind `gain`: original evidence
    less closed book, the same method without passages. Kind `loss`: original less disturbed evidence. Kind `spread`:
    the range of a fact's score over wordings, averaged over facts. All are paired by question and wording. Facts that
    are known in a cell but were not scanned there have no score in it and are counted.
    """
    scan = settled(scan, known=known, correct=correct, threshold=threshold)
    how = Breaking(rule=rule, threshold=scan.threshold, inclusive=inclusive)
    bootstrap: dict[str, Any] = {"confidence": confidence, "n_resamples": n_resamples}
    groups: dict[tuple[str | None, str | None], list[Facts]] = {}
    for facts in facts_of(table, curves, scan):
        groups.setdefault((facts.place["dataset"], facts.place["model"]), []).append(facts)
    rows = even([row for of_model in groups.values() for row in _rows(_cells(of_model), how, d, bootstrap)])
    _add_sentences(rows, d[0])
    return OldFinding(
        analysis=NAME,
        question="Does evidence make a model hold facts more firmly?",
        rows=tuple(rows),
        sentences=tuple(said(row) for row in rows if row["sentence"]),
        caveats=_caveats(rows, confidence, n_resamples),
        settings={
            "known": scan.known,
            "correct": scan.correct,
            "d": list(d),
            "rule": rule,
            "threshold": scan.threshold,
            "inclusive": inclusive,
            **bootstrap,
        },
    )


def _cells(of_model: Sequence[Facts]) -> list[Cell]:
    found: dict[tuple[str | None, ...], dict[str, dict[str, Fact]]] = {}
    names = ("dataset", "model", "method", "retriever", "perturbation")
    for facts in of_model:
        wordings = found.setdefault(tuple(facts.place[name] for name in names), {})
        wordings[str(facts.place["variation"])] = {fact.question_id: fact for fact in facts.asked}
    return [Cell(place=dict(zip(names, place, strict=True)), wordings=each) for place, each in found.items()]


def _score(fact: Fact | None, how: Breaking, d: int) -> float | None:
    if fact is None or fact.entropy is None or fact.is_known is None:
        return None
    if not fact.is_known:
        return frs(fact.entropy, WRONG, d)
    return how.score(fact, d) if fact.is_scanned else None


# --- rows -----------------------------------------------------------------------------------------


def _rows(cells: Sequence[Cell], how: Breaking, every_d: Sequence[int], bootstrap: dict[str, Any]) -> list[Row]:
    everyone = [fact for cell in cells for wording in cell.wordings.values() for fact in wording.values()]
    union = sorted({fact.question_id for fact in everyone if fact.is_known})
    if not union or not any(cell.place["perturbation"] for cell in cells):
        return []
    rows = []
    for d in every_d:
        of = [_scores(cell, union, how, d) for cell in cells]
        for cell, scores in zip(cells, of, strict=True):
            rows.append(_row(cell, "score", d, _each(scores, _mean), union, bootstrap))
            if len(scores) > 1:
                rows.append(_row(cell, "spread", d, _each(scores, _range), union, bootstrap))
        for kind, first, second in _pairs(cells):
            gaps = {w: of[first][w] - of[second][w] for w in of[first] if w in of[second]}
            # A gain belongs to the evidence that brings it, a loss to what disturbs it.
            owner = cells[first if kind == "gain" else second]
            rows.append(_row(owner, kind, d, np.round(_each(gaps, _mean), ROUNDING), union, bootstrap))
    return rows


def _pairs(cells: Sequence[Cell]) -> Iterable[tuple[str, int, int]]:
    """What is compared: original evidence with the same method closed book, and with each disturbance of it."""
    for first, cell in enumerate(cells):
        if cell.place["perturbation"] != ORIGINAL:
            continue
        for second, other in enumerate(cells):
            if other.place["perturbation"] is None and _method(other) == _method(cell):
                yield "gain", first, second
            elif all(other.place[name] == cell.place[name] for name in ("method", "retriever")) and first != second:
                yield "loss", first, second


def _method(cell: Cell) -> str:
    """Its name, whatever its settings: with passages a method has others than without."""
    return str(cell.place["method"]).partition("(")[0]


def _scores(cell: Cell, union: Sequence[str], how: Breaking, d: int) -> dict[str, np.ndarray]:
    """Wording → one score for each fact of the union; NaN where there is none."""
    return {w: numbers(_score(facts.get(id), how, d) for id in union) for w, facts in cell.wordings.items()}


def _each(wordings: Mapping[str, np.ndarray], how: Callable[[np.ndarray], float]) -> np.ndarray:
    """One number for each fact from its wordings that have one; NaN where none has."""
    stacked = np.stack(list(wordings.values())) if wordings else np.full((1, 0), np.nan)
    kept = [column[~np.isnan(column)] for column in stacked.T]
    return np.array([how(column) if column.size else np.nan for column in kept])


def _mean(values: np.ndarray) -> float:
    return float(values.mean())


def _range(values: np.ndarray) -> float:
    return float(values.max() - values.min())


def _row(cell: Cell, kind: str, d: int, values: np.ndarray, union: Sequence[str], bootstrap: dict[str, Any]) -> Row:
    here = values if values.size else np.full(len(union), np.nan)
    (estimate,), (n,) = mean_estimates(here[None], union, **bootstrap)
    return {
        "analysis": NAME,
        "system": cell.place["model"],
        "metric": "frs",
        **cell.place,
        "variation": None,
        "temperature": None,
        "type": None,
        "unit": "score",
        "kind": kind,
        "d": d,
        **estimate_columns(estimate),
        "n": int(n),
        "n_missing": len(union) - int(n),
        "reason": None if n else NOTHING_PAIRED if kind in ("gain", "loss") else NOTHING_SCORED,
    }


# --- words ----------------------------------------------------------------------------------------


def _add_sentences(rows: Sequence[Row], first_d: int) -> None:
    for row in rows:
        row.update(headline=None, sentence=None, detail=None)
    scores = {_place(row): row for row in rows if row["kind"] == "score" and row["d"] == first_d}
    for row in rows:
        if row["d"] != first_d or row["value"] is None or row["kind"] not in ("gain", "loss"):
            continue
        row.update(headline=NAME, sentence=_sentence(row), detail=_detail(row, scores[_place(row)]))


def _place(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("dataset", "model", "method", "retriever", "perturbation"))


def _sentence(row: Row) -> str:
    size = f"{number(abs(row['value']), 'score')}{_turned(row)}"
    if row["kind"] == "gain":
        if holds_zero(row):
            return f"Original evidence was not shown to change how firmly {row['system']} holds facts ({size})."
        more = "more" if row["value"] > 0 else "less"
        return f"With original evidence {row['system']} holds facts {more} firmly than closed book, by {size}."
    disturbance = sentence_case(named(row["perturbation"]))
    if holds_zero(row):
        return f"{disturbance} was not shown to change how firmly {row['system']} holds facts ({size})."
    what = "costs" if row["value"] > 0 else "adds to the facts of"
    return f"{disturbance} {what} {row['system']} {size} of robustness score."


def _turned(row: Row) -> str:
    """The interval of the size that is told, which has no sign."""
    turn = row["value"] < 0 and row["low"] is not None
    return bounds(row | {"low": -row["high"], "high": -row["low"]} if turn else row)


def _detail(row: Row, score: Row) -> str:
    told = "" if score["value"] is None else f", score {level(score)}"
    return f"Over the facts known with any evidence or none{told}, d = {row['d']} ({questions(row['n'])})."


def _caveats(rows: Sequence[Row], confidence: float, n_resamples: int) -> tuple[str, ...]:
    if not rows:
        return ()
    caveats = [
        f"Intervals hold {100 * confidence:g} % of {n_resamples:,} bootstrap resamples of the questions.",
        *agreed(rows),
        "A fact counts if it is right at temperature 0 with any evidence or none; where it is wrong its breaking "
        "temperature is 0.",
    ]
    if any(row["n_missing"] for row in rows):
        caveats.append(
            "Facts that are right in a cell but were not scanned there, whose scan is undecided, or whose evidence "
            "could not be disturbed, have no score and are counted. scan.union = true scans each fact wherever it is "
            "right."
        )
    return tuple(caveats)
