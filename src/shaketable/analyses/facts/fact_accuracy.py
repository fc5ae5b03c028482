"""How does accuracy on facts that a model knows fall with temperature?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from shaketable.analyses.facts.facts import (
    Fact,
    Facts,
    Row,
    each_and_pooled,
    facts_of,
    ids,
    judges,
    numbers,
    pooled_rows,
    settled,
    share,
)
from shaketable.report.old_words import level, questions, said
from shaketable.statistics.intervals import agreed, mean_estimates
from shaketable.statistics.intervals import known as estimate_columns
from shaketable.types import Curve, OldFinding, Scan

NAME = "fact_accuracy"


def fact_accuracy(
    table: pl.DataFrame,
    *,
    curves: Sequence[Curve] = (),
    scan: Scan | None = None,
    known: str | None = None,
    correct: str | None = None,
    confidence: float = 0.95,
    n_resamples: int = 2000,
) -> OldFinding:
    """Mean accuracy of known facts at each temperature, with bootstrap intervals over questions.

    `source` is `sampled`, or `curve` for the curves that the model's logits give of the same facts. `is_partial` marks
    temperatures at which not all of them were tried, because the scan left some when they broke.
    """
    scan = settled(scan, known=known, correct=correct)
    rows = [
        row
        for facts in each_and_pooled(facts_of(table, curves, scan))
        for row in _rows(facts, judges(scan)[1], confidence, n_resamples)
    ]
    _add_sentences(rows)
    return OldFinding(
        analysis=NAME,
        question="How does accuracy on known facts fall with temperature?",
        rows=tuple(rows),
        sentences=tuple(said(row) for row in rows if row["sentence"]),
        caveats=_caveats(rows, confidence, n_resamples),
        settings={"known": scan.known, "correct": scan.correct, "confidence": confidence, "n_resamples": n_resamples},
    )


def _rows(facts: Facts, correct: str, confidence: float, n_resamples: int) -> list[Row]:
    known = facts.known
    rows = []
    for source, temperatures in (("sampled", _tried(known)), ("curve", _on_curves(known))):
        if not temperatures:
            continue
        values = np.stack([numbers(_accuracy(fact, source, t) for fact in known) for t in temperatures])
        estimates, counts = mean_estimates(
            values, ids(known), confidence=confidence, n_resamples=n_resamples, is_share=True
        )
        rows += [
            facts.row(
                NAME,
                metric=correct,
                unit="share",
                temperature=temperature,
                source=source,
                **estimate_columns(estimate),
                n=int(n),
                n_known=len(known),
                is_partial=_is_partial(known, source, temperature),
            )
            for temperature, estimate, n in zip(temperatures, estimates, counts, strict=True)
        ]
    return rows


def _tried(known: Sequence[Fact]) -> list[float]:
    """All temperatures of the scan, after 0, at which known facts are right by definition."""
    tried = sorted({temperature for fact in known for temperature in fact.accuracies})
    return [0.0, *tried] if tried else []


def _on_curves(known: Sequence[Fact]) -> list[float]:
    return sorted({temperature for fact in known if fact.curve for temperature in fact.curve.temperatures})


def _accuracy(fact: Fact, source: str, temperature: float) -> float | None:
    if source == "sampled":
        return share(fact.is_known) if temperature == 0 else fact.accuracies.get(temperature)
    if fact.curve is None or temperature not in fact.curve.temperatures:
        return None
    return fact.curve.value[fact.curve.temperatures.index(temperature)]


def _is_partial(known: Sequence[Fact], source: str, temperature: float) -> bool:
    """Failed answers are missing by chance, and leave a temperature whole."""
    if source == "sampled":
        return temperature > 0 and not all(temperature in fact.tried for fact in known)
    return any(_accuracy(fact, source, temperature) is None for fact in known)


def _add_sentences(rows: Sequence[Row]) -> None:
    """One for each system: how much is left when hottest."""
    for row in rows:
        row.update(headline=None, sentence=None, detail=None)
    last: dict[str, Row] = {}
    for row in pooled_rows(rows):
        if row["source"] == "sampled" and row["value"] is not None and row["temperature"] > 0:
            last[row["system"]] = row
    for system, row in last.items():
        if row["is_partial"]:
            continue
        row.update(
            headline="facts",
            sentence=f"At temperature {row['temperature']:g} {system} still gives {level(row)} of the facts it knows.",
            detail=f"All were right at temperature 0 ({questions(row['n'])}).",
        )


def _caveats(rows: Sequence[Row], confidence: float, n_resamples: int) -> tuple[str, ...]:
    if not rows:
        return ()
    caveats = [
        f"Intervals hold {100 * confidence:g} % of {n_resamples:,} bootstrap resamples of the questions.",
        *agreed(rows),
        "Facts are chosen for being right at temperature 0, so accuracy starts at 100 % by definition.",
    ]
    if any(row["is_partial"] and row["source"] == "sampled" for row in rows):
        caveats.append(
            "The scan left some facts before the hottest temperature: where fewer facts were tried, those that held so "
            "far are over-represented and accuracy is too high. Curves, or the strategy full, have no such gap."
        )
    return tuple(caveats)
