"""Which facts does a model get wrong when greedy, and right when it is hotter?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from shaketable.analyses.facts.facts import (
    Fact,
    Facts,
    Row,
    each_and_pooled,
    facts_of,
    ids,
    numbers,
    pooled_rows,
    settled,
)
from shaketable.analyses.grids import even
from shaketable.report.old_words import level, questions, said
from shaketable.statistics.intervals import agreed, mean_estimates
from shaketable.statistics.intervals import known as estimate_columns
from shaketable.types import Curve, OldFinding, Scan

NAME = "latent_facts"


def latent_facts(
    table: pl.DataFrame,
    *,
    curves: Sequence[Curve] = (),
    scan: Scan | None = None,
    known: str | None = None,
    correct: str | None = None,
    least: float = 0.2,
    n: int = 10,
    confidence: float = 0.95,
    n_resamples: int = 2000,
) -> OldFinding:
    """Facts wrong at temperature 0 that some hotter temperature gets right in at least a share `least` of the answers.

    Kind `latent`: their share among the facts that are wrong at temperature 0 and were tried above it. Kind `fact`: the
    `n` of each system with the highest peak, with `peak_temperature`. Peaks are those of the curve where there is one
    (its estimate), else the highest share of correct samples.
    """
    # An answer that holds the right one is not latent: unless told otherwise, what is correct is known.
    scan = settled(scan, known=known or "", correct=correct)
    every = facts_of(table, curves, scan)
    bootstrap: dict[str, Any] = {"confidence": confidence, "n_resamples": n_resamples}
    rows = [row for facts in each_and_pooled(every) for row in _share_rows(facts, least, bootstrap)]
    rows += [row for facts in every for row in _fact_rows(facts, least, n)]
    rows = list(even(rows))
    _add_sentences(rows, least)
    return OldFinding(
        analysis=NAME,
        question="Which facts does a model get wrong when greedy, and right when it is hotter?",
        rows=tuple(rows),
        sentences=tuple(said(row) for row in rows if row["sentence"]),
        caveats=_caveats(rows, confidence, n_resamples),
        settings={"known": scan.known or scan.correct, "correct": scan.correct, "least": least, "n": n, **bootstrap},
    )


def peak(fact: Fact) -> tuple[float, float] | None:
    """The highest probability of a correct answer above temperature 0, and the coolest temperature that has it."""
    if fact.curve is not None:
        values = zip(fact.curve.value, fact.curve.temperatures, strict=True)
        found = [(value, -t) for value, t in values if value is not None]
    else:
        found = [(value, -t) for t, value in fact.accuracies.items()]
    if not found:
        return None
    value, temperature = max(found)
    return value, -temperature


def _wrong(facts: Facts) -> list[tuple[Fact, tuple[float, float]]]:
    return [(fact, best) for fact in facts.asked if fact.is_known is False and (best := peak(fact)) is not None]


def _share_rows(facts: Facts, least: float, bootstrap: dict[str, Any]) -> list[Row]:
    wrong = _wrong(facts)
    if not wrong:
        return []
    is_latent = numbers(float(value >= least) for _, (value, _) in wrong)
    (estimate,), (n,) = mean_estimates(is_latent[None], ids(fact for fact, _ in wrong), **bootstrap, is_share=True)
    return [
        facts.row(
            NAME,
            metric="latent",
            unit="share",
            kind="latent",
            **estimate_columns(estimate),
            n=int(n),
            n_curves=sum(fact.curve is not None for fact, _ in wrong),
        )
    ]


def _fact_rows(facts: Facts, least: float, n: int) -> list[Row]:
    latent = [(fact, best) for fact, best in _wrong(facts) if best[0] >= least]
    latent.sort(key=lambda pair: (-pair[1][0], pair[0].question_id))
    return [
        facts.row(
            NAME,
            metric="latent",
            unit="share",
            kind="fact",
            value=value,
            low=None,
            high=None,
            n=1,
            question_id=fact.question_id,
            key=fact.key,
            peak_temperature=temperature,
            source="sampled" if fact.curve is None else "curve",
        )
        | {"type": fact.type}
        for fact, (value, temperature) in latent[:n]
    ]


def _add_sentences(rows: Sequence[Row], least: float) -> None:
    for row in rows:
        row.update(headline=None, sentence=None, detail=None)
    for row in pooled_rows(rows):
        if row["kind"] == "latent" and row["value"]:
            row.update(
                headline="latent",
                sentence=f"Of the facts that {row['system']} gets wrong when greedy, {level(row)} are right in at "
                f"least {100 * least:g} % of the answers at some higher temperature.",
                detail=f"Sampling several answers may bring them out ({questions(row['n'])}).",
            )


def _caveats(rows: Sequence[Row], confidence: float, n_resamples: int) -> tuple[str, ...]:
    if not rows:
        return ()
    caveats = [
        f"Intervals hold {100 * confidence:g} % of {n_resamples:,} bootstrap resamples of the questions.",
        *agreed(rows),
    ]
    if any(row["kind"] == "latent" and row["n_curves"] < row["n"] for row in rows):
        caveats.append(
            "Without curves a peak is the highest of several shares of few samples, and chance alone lifts it."
        )
    return tuple(caveats)
