"""Facts of which kind does a model hold most firmly?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import polars as pl

from shaketable.analyses.facts.facts import LABELS, Breaking, Fact, Facts, Row, facts_of, ids, numbers, pooled, settled
from shaketable.analyses.grids import even
from shaketable.facts.score import Rule
from shaketable.identity import seed_from
from shaketable.report.old_words import level, questions, said
from shaketable.statistics.intervals import agreed, mean_estimates
from shaketable.statistics.intervals import known as estimate_columns
from shaketable.types import Curve, OldFinding, Scan

NAME = "question_types"
SHOWN = ("NUM", "LOC", "ENTY", "HUM")
"""Abbreviations and descriptions are few among facts and left out, as in the study."""
WORDS = {"NUM": "numbers", "LOC": "places", "ENTY": "things", "HUM": "people"}


def question_types(
    table: pl.DataFrame,
    *,
    curves: Sequence[Curve] = (),
    scan: Scan | None = None,
    known: str | None = None,
    correct: str | None = None,
    d: int = 1,
    n_extreme: int | None = None,
    ties: Literal["entropy", "random"] = "entropy",
    seed: int = 0,
    rule: Rule = "first",
    threshold: float | None = None,
    inclusive: bool = False,
    confidence: float = 0.95,
    n_resamples: int = 2000,
) -> OldFinding:
    """Question types among a system's most and least robust facts, all datasets pooled.

    Kind `ratio`: top / (top + bottom), of the `n_extreme` highest and lowest scores (None: a third of the facts, as
    1000 of 3000). Equal scores go by lower entropy, then accuracy at the hottest temperature, then id, or at random;
    `n_tied` is how many facts share the score at the cut. Kind `mean` needs no cut: the mean score of each type,
    uncapped where curves tell it. Kind `untyped`: how many facts have a score and no type, with the reason.
    """
    scan = settled(scan, known=known, correct=correct, threshold=threshold)
    how = Breaking(rule=rule, threshold=scan.threshold, inclusive=inclusive)
    bootstrap: dict[str, Any] = {"confidence": confidence, "n_resamples": n_resamples}
    rows: list[Row] = []
    for facts in pooled(facts_of(table, curves, scan)):
        scored = [fact for fact in facts.known if how.score(fact, d) is not None]
        typed = [fact for fact in scored if fact.type in LABELS]
        if len(typed) < len(scored):
            rows.append(_untyped_row(facts, len(scored) - len(typed), len(scored)))
        if typed:
            ordered = _ordered(typed, how, d, ties, seed)
            n = len(typed) // 3 if n_extreme is None else min(n_extreme, len(typed) // 2)
            rows += _ratio_rows(facts, ordered, how, d, n, bootstrap)
            rows += _mean_rows(facts, typed, how, d, bootstrap)
    rows = list(even(rows))
    _add_sentences(rows)
    return OldFinding(
        analysis=NAME,
        question="Facts of which kind does a model hold most firmly?",
        rows=tuple(rows),
        sentences=tuple(said(row) for row in rows if row["sentence"]),
        caveats=_caveats(rows, confidence, n_resamples),
        settings={
            "known": scan.known,
            "correct": scan.correct,
            "d": d,
            "n_extreme": n_extreme,
            "ties": ties,
            "seed": seed,
            "rule": rule,
            "threshold": scan.threshold,
            "inclusive": inclusive,
            **bootstrap,
        },
    )


def _untyped_row(facts: Facts, n_untyped: int, n_scored: int) -> Row:
    missing = {"value": n_untyped / n_scored, "low": None, "high": None, "n": n_scored, "n_untyped": n_untyped}
    why = "their dataset does not name it, and the metric question_type was not scored"
    return facts.row(NAME, metric="question_type", unit="share", kind="untyped", reason=why, **missing)


def _ordered(facts: Sequence[Fact], how: Breaking, d: int, ties: str, seed: int) -> list[Fact]:
    """The most robust first."""
    hottest = max((t for fact in facts for t in fact.accuracies), default=0.0)

    def place(fact: Fact) -> tuple[Any, ...]:
        id = (fact.dataset, fact.question_id)
        first = -(how.score(fact, d) or 0.0)
        if ties == "random":
            return first, seed_from("ties", seed, *id), id
        return first, fact.entropy, -fact.accuracies.get(hottest, 0.0), id

    return sorted(facts, key=place)


def _ratio_rows(
    facts: Facts, ordered: Sequence[Fact], how: Breaking, d: int, n: int, bootstrap: dict[str, Any]
) -> list[Row]:
    top, bottom = ordered[:n], ordered[len(ordered) - n :]
    scores = [how.score(fact, d) for fact in ordered]
    tied = {name: scores.count(scores[at]) for name, at in (("top", n - 1), ("bottom", -n)) if n}
    rows = []
    for label in SHOWN:
        of_type = [fact for fact in (*top, *bottom) if fact.type == label]
        n_top = sum(fact.type == label for fact in top)
        is_top = np.array([[1.0] * n_top + [0.0] * (len(of_type) - n_top)])
        estimates, _ = (
            mean_estimates(is_top, ids(of_type), **bootstrap, is_share=True)
            if of_type
            else (np.full((1, 3), np.nan), 0)
        )
        rows.append(
            facts.row(
                NAME,
                metric="frs",
                unit="share",
                kind="ratio",
                **estimate_columns(estimates[0]),
                n=len(of_type),
                n_top=n_top,
                n_bottom=len(of_type) - n_top,
                n_extreme=n,
                n_tied=tied.get("top"),
                n_tied_bottom=tied.get("bottom"),
                reason=None if of_type else "no fact of this type among the extremes",
            )
            | {"type": label}
        )
    return rows


def _mean_rows(facts: Facts, typed: Sequence[Fact], how: Breaking, d: int, bootstrap: dict[str, Any]) -> list[Row]:
    has_curves = any(how.score(fact, d, is_capped=False) is not None for fact in typed)
    scores = numbers(how.score(fact, d, is_capped=not has_curves) for fact in typed)
    of_type = np.array([[fact.type == label for fact in typed] for label in SHOWN])
    estimates, counts = mean_estimates(np.where(of_type, scores, np.nan), ids(typed), **bootstrap)
    return [
        facts.row(
            NAME,
            metric="frs",
            unit="score",
            kind="mean",
            **estimate_columns(estimate),
            n=int(n),
            is_capped=not has_curves,
            reason=None if n else "no known fact of this type has a score",
        )
        | {"type": label}
        for label, estimate, n in zip(SHOWN, estimates, counts, strict=True)
    ]


def _add_sentences(rows: Sequence[Row]) -> None:
    """One for each system: the firmest and the loosest type, where their intervals part."""
    systems: dict[str, list[Row]] = {}
    for row in rows:
        row.update(headline=None, sentence=None, detail=None)
        if row["kind"] == "untyped" and row["value"] == 1:
            row.update(
                headline="types",
                sentence=f"Nothing can be said of types of question: the facts of {row['system']} have none.",
                detail="Add question_type to the metrics of the study, or give the questions the tag type "
                f"({questions(row['n'])}).",
            )
        if row["kind"] == "mean" and row["low"] is not None:
            systems.setdefault(row["system"], []).append(row)
    for system, means in systems.items():
        best, worst = max(means, key=lambda row: row["value"]), min(means, key=lambda row: row["value"])
        if best["low"] > worst["high"]:
            best.update(
                headline="types",
                sentence=f"{system} holds facts about {WORDS[best['type']]} most firmly ({level(best)}) and facts "
                f"about {WORDS[worst['type']]} least ({level(worst)}).",
                detail=f"Mean robustness scores ({questions(best['n'])} and {worst['n']:,}).",
            )


def _caveats(rows: Sequence[Row], confidence: float, n_resamples: int) -> tuple[str, ...]:
    if not rows:
        return ()
    caveats = [
        f"Intervals hold {100 * confidence:g} % of {n_resamples:,} bootstrap resamples of the questions; those of "
        "ratios take the two extreme groups as given.",
        *agreed(rows),
        "A question has the type that its dataset names (a tag `type` with one of these types), else the one that the "
        "metric question_type predicts.",
    ]
    caveats += [
        f"{row['n_untyped']:,} of {questions(row['n'])[4:]} have no type and are left out: {row['reason']}."
        for row in rows
        if row["kind"] == "untyped"
    ]
    if any(row["kind"] == "ratio" and (row["n_tied"] or 0) > row["n_extreme"] for row in rows):
        caveats.append(
            "More facts share the highest score than the top group has places: the ratios depend on how ties are "
            "broken. The mean scores do not."
        )
    return tuple(caveats)
