"""Which of the facts that a model knows does it lose first, and at which token?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from shaketable.analyses.facts.facts import Breaking, Fact, Facts, Row, facts_of, pooled, settled
from shaketable.analyses.grids import even
from shaketable.facts.score import Rule
from shaketable.report.old_words import number, said
from shaketable.types import Curve, OldFinding, Scan

NAME = "weakest_facts"


def weakest_facts(
    table: pl.DataFrame,
    *,
    curves: Sequence[Curve] = (),
    scan: Scan | None = None,
    known: str | None = None,
    correct: str | None = None,
    n: int = 10,
    n_curves: int = 3,
    d: int = 1,
    rule: Rule = "first",
    threshold: float | None = None,
    inclusive: bool = False,
) -> OldFinding:
    """The `n` known facts of each system with the lowest robustness score, uncapped where a fact has a curve.

    Rows of kind `fact` have the score as value, the breaking temperature with its certified bounds, `position`, the
    token of the answer (0 is the first) at which most probability is lost, and the most likely wrong answer. Rows of
    kind `curve` are the curves of the first `n_curves`, thinned to at most 41 temperatures.
    """
    scan = settled(scan, known=known, correct=correct, threshold=threshold)
    how = Breaking(rule=rule, threshold=scan.threshold, inclusive=inclusive)
    rows = []
    for facts in pooled(facts_of(table, curves, scan)):
        scored = [(score, fact) for fact in facts.known if (score := _score(fact, how, d)) is not None]
        scored.sort(key=lambda pair: (pair[0], pair[1].dataset, pair[1].question_id))
        rows += [
            _fact_row(facts, fact, score, rank, how, len(scored)) for rank, (score, fact) in enumerate(scored[:n], 1)
        ]
        rows += [row for rank, (_, fact) in enumerate(scored[:n_curves], 1) for row in _curve_rows(facts, fact, rank)]
    rows = list(even(rows))
    _add_sentences(rows)
    return OldFinding(
        analysis=NAME,
        question="Which of the facts that a model knows does it lose first, and at which token?",
        rows=tuple(rows),
        sentences=tuple(said(row) for row in rows if row["sentence"]),
        caveats=_caveats(rows),
        settings={
            "known": scan.known,
            "correct": scan.correct,
            "n": n,
            "n_curves": n_curves,
            "d": d,
            "rule": rule,
            "threshold": scan.threshold,
            "inclusive": inclusive,
        },
    )


def _score(fact: Fact, how: Breaking, d: int) -> float | None:
    uncapped = how.score(fact, d, is_capped=False)
    return how.score(fact, d) if uncapped is None else uncapped


def _fact_row(facts: Facts, fact: Fact, score: float, rank: int, how: Breaking, n_known: int) -> Row:
    curve = fact.curve
    losses = list(curve.position_losses) if curve else []
    wrong: dict[str, Any] = dict(curve.wrong[0]) if curve and curve.wrong else {}
    uncapped = how.uncapped(fact)
    return facts.row(
        NAME,
        metric="frs",
        unit="score",
        kind="fact",
        value=score,
        low=None,
        high=None,
        n=n_known,
        rank=rank,
        question_id=fact.question_id,
        key=fact.key,
        entropy=fact.entropy,
        breaking=how.capped(fact) if uncapped is None else uncapped,
        breaking_low=curve.breaking_low if curve else None,
        breaking_high=curve.breaking_high if curve else None,
        position=losses.index(max(losses)) if losses and max(losses) > 0 else None,
        loss=max(losses) if losses else None,
        wrong=wrong.get("text"),
        wrong_probability=wrong.get("probability"),
    ) | {"dataset": fact.dataset, "type": fact.type}


def _curve_rows(facts: Facts, fact: Fact, rank: int) -> list[Row]:
    curve = fact.curve
    if curve is None:
        return []
    step = -(-len(curve.temperatures) // 41)
    return [
        facts.row(
            NAME,
            metric="correct",
            unit="share",
            kind="curve",
            value=curve.value[i],
            low=curve.value_low[i],
            high=curve.value_high[i],
            n=1,
            rank=rank,
            question_id=fact.question_id,
            key=fact.key,
            certain_low=curve.low[i],
            certain_high=curve.high[i],
            breaking=curve.breaking,
        )
        | {"dataset": fact.dataset, "temperature": curve.temperatures[i]}
        for i in range(0, len(curve.temperatures), step)
    ]


def _add_sentences(rows: Sequence[Row]) -> None:
    for row in rows:
        row.update(headline=None, sentence=None, detail=None)
        if row["kind"] == "fact" and row["rank"] == 1 and row["breaking"] is not None:
            token = "" if row["position"] is None else f", at token {row['position'] + 1} of its answer"
            wrong = "" if row["wrong"] is None else f" Its likeliest wrong answer there is “{row['wrong']}”."
            row.update(
                headline="weakest",
                sentence=f"The weakest fact that {row['system']} knows is question {row['question_id']}: it breaks "
                f"at temperature {number(row['breaking'], 'score')}{token}.",
                detail=f"It has the lowest robustness score of {row['n']:,} known facts.{wrong}",
            )


def _caveats(rows: Sequence[Row]) -> tuple[str, ...]:
    if not rows:
        return ()
    caveats = ["These are extremes, picked for being so: they show where to look, not how often it happens."]
    if not any(row["position"] is not None for row in rows):
        caveats.append("Without curves the token that breaks first is not known.")
    return tuple(caveats)
