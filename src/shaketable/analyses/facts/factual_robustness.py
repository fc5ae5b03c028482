"""How firmly does each model hold the facts it knows?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from shaketable.analyses.facts.facts import (
    PLACE,
    Breaking,
    Fact,
    Facts,
    Row,
    each_and_pooled,
    facts_of,
    ids,
    judges,
    numbers,
    pooled,
    pooled_rows,
    settled,
    share,
)
from shaketable.analyses.grids import even
from shaketable.facts.score import D, Rule
from shaketable.report.old_words import bounds, holds_zero, level, number, questions, said
from shaketable.statistics.intervals import ROUNDING, Numbers, Statistic, agreed, estimated, mean_estimates
from shaketable.statistics.intervals import known as estimate_columns
from shaketable.types import Curve, OldFinding, Scan

NAME = "factual_robustness"
SOME = ("d", "is_capped", "n_missing", "n_undecided", "n_censored", "reason")
"""Columns that only some kinds of row fill."""


def factual_robustness(
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
    """The Factual Robustness Score (FRS) of each system, dataset and d, with bootstrap intervals over questions.

    Kind `score`: mean FRS of the known facts that were scanned; `is_capped` scores facts that hold up to temperature 2
    as 1, as the study does, and the others use the curve's own breaking temperature. Facts of which it is not known
    where they break are counted (`n_undecided`) and not scored. Kind `shared`: the same over facts that all systems
    know. Kind `difference`: between two systems (`system`, `other`) on these. Kind `unbroken` and `accuracy`: the share
    of known facts that never break, and of asked questions that are known. Kind `rank_correlation`: Spearman's, of
    accuracy and score over systems. Kind `fact`: one known fact each. A dataset of None pools all.
    """
    scan = settled(scan, known=known, correct=correct, threshold=threshold)
    how = Breaking(rule=rule, threshold=scan.threshold, inclusive=inclusive)
    bootstrap: dict[str, Any] = {"confidence": confidence, "n_resamples": n_resamples}
    every = facts_of(table, curves, scan)
    rows = [row for facts in each_and_pooled(every) for row in _own_rows(facts, how, judges(scan)[0], d, bootstrap)]
    rows += _compared_rows(pooled(every), how, d, bootstrap)
    rows += [row for facts in every for row in _fact_rows(facts, how)]
    rows = [dict.fromkeys(SOME) | row for row in even(rows)]
    _add_sentences(rows, d)
    return OldFinding(
        analysis=NAME,
        question="How firmly does each model hold the facts it knows?",
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


def _own_rows(
    facts: Facts, how: Breaking, known_by: str, every_d: Sequence[int], bootstrap: dict[str, Any]
) -> list[Row]:
    known = facts.known
    rows = []
    accuracy, n = mean_estimates(
        numbers(share(fact.is_known) for fact in facts.asked)[None], ids(facts.asked), **bootstrap, is_share=True
    )
    n_missing = sum(fact.is_known is None for fact in facts.asked)
    rows.append(
        facts.row(
            NAME,
            metric=known_by,
            unit="share",
            kind="accuracy",
            **estimate_columns(accuracy[0]),
            n=int(n[0]),
            n_missing=n_missing,
        )
    )
    if not known:
        return rows
    unbroken, n = mean_estimates(
        numbers(share(how.is_unbroken(fact)) for fact in known)[None], ids(known), **bootstrap, is_share=True
    )
    reasons = [reason for fact in known if (reason := how.undecided(fact)) is not None]
    rows.append(
        facts.row(
            NAME,
            metric="frs",
            unit="share",
            kind="unbroken",
            **estimate_columns(unbroken[0]),
            n=int(n[0]),
            n_missing=len(known) - int(n[0]),
            n_undecided=len(reasons),
            reason=None if n[0] else max(reasons, key=reasons.count),
        )
    )
    cells = [(d, is_capped) for d in every_d for is_capped in (True, False)]
    rows += [
        facts.row(
            NAME,
            metric="frs",
            unit="score",
            kind="score",
            d=d,
            is_capped=is_capped,
            **estimate_columns(estimate),
            n=int(n),
            n_missing=len(known) - int(n),
            n_undecided=len(reasons) if is_capped else None,
            n_censored=None if is_capped else sum(how.is_censored(fact) for fact in known),
        )
        for (d, is_capped), estimate, n in _scored(known, how, cells, bootstrap)
        if is_capped or n
    ]
    return rows


def _scored(
    facts: Sequence[Fact], how: Breaking, cells: Sequence[tuple[int, bool]], bootstrap: dict[str, Any]
) -> list[tuple[tuple[int, bool], Numbers, int]]:
    values = np.stack([numbers(how.score(fact, d, is_capped=capped) for fact in facts) for d, capped in cells])
    estimates, counts = mean_estimates(values, ids(facts), **bootstrap)
    for place, (d, is_capped) in enumerate(cells):
        if not is_capped and counts[place]:
            spans = [how.score_span(fact, d) or (None, None) for fact in facts]
            ends = np.stack([numbers(low for low, _ in spans), numbers(high for _, high in spans)])
            # Facts were drawn, and each has an error of its own: the interval holds both.
            (_, low, _), (_, _, high) = mean_estimates(ends, ids(facts), **bootstrap)[0]
            estimates[place, 1:] = low, high
    return list(zip(cells, estimates, counts, strict=True))


def _compared_rows(
    systems: Sequence[Facts], how: Breaking, every_d: Sequence[int], bootstrap: dict[str, Any]
) -> list[Row]:
    """On the facts that all systems know."""
    if len(systems) < 2:
        return []
    known = [dict(zip(ids(one.known), one.known, strict=True)) for one in systems]
    shared = sorted(set.intersection(*(set(one) for one in known)))
    rows = []
    if shared:
        cells = [(d, True) for d in every_d]
        for one, facts in zip(systems, known, strict=True):
            rows += [
                one.row(
                    NAME,
                    metric="frs",
                    unit="score",
                    kind="shared",
                    d=d,
                    is_capped=True,
                    **estimate_columns(estimate),
                    n=int(n),
                )
                for (d, _), estimate, n in _scored([facts[id] for id in shared], how, cells, bootstrap)
            ]
        scores = np.stack([numbers(how.score(facts[id], every_d[0]) for id in shared) for facts in known])
        pairs = list(combinations(range(len(systems)), 2))
        gaps = np.round(np.stack([scores[a] - scores[b] for a, b in pairs]), ROUNDING)
        estimates, counts = mean_estimates(gaps, shared, **bootstrap)
        rows += [
            systems[a].row(
                NAME,
                metric="frs",
                unit="score",
                kind="difference",
                d=every_d[0],
                is_capped=True,
                other=systems[b].system,
                **estimate_columns(estimate),
                n=int(n),
            )
            for (a, b), estimate, n in zip(pairs, estimates, counts, strict=True)
        ]
    return rows + _rank_correlations(systems, how, every_d, bootstrap)


def _rank_correlations(
    systems: Sequence[Facts], how: Breaking, every_d: Sequence[int], bootstrap: dict[str, Any]
) -> list[Row]:
    """Spearman's rho of accuracy and mean score over three systems or more; questions are resampled, not systems."""
    if len(systems) < 3:
        return []
    asked = sorted({id for one in systems for id in ids(one.asked)})
    of = [dict(zip(ids(one.asked), one.asked, strict=True)) for one in systems]
    right = np.stack([numbers(share(facts[id].is_known) if id in facts else None for id in asked) for facts in of])
    all_systems = Facts(system="all systems", place=dict.fromkeys(PLACE), asked=())
    known = [dict(zip(ids(one.known), one.known, strict=True)) for one in systems]
    rows = []
    for d in every_d:
        scores = np.stack(
            [numbers(how.score(facts[id], d) if id in facts else None for id in asked) for facts in known]
        )
        (estimate,) = estimated(_spearman(right, scores), asked, 1, **bootstrap)
        rows.append(
            all_systems.row(
                NAME,
                metric="frs",
                unit="ratio",
                kind="rank_correlation",
                d=d,
                is_capped=True,
                **estimate_columns(estimate),
                n=len(systems),
                reason="all systems have the same accuracy or score" if np.isnan(estimate[0]) else None,
            )
        )
    return rows


def _spearman(first: Numbers, second: Numbers) -> Statistic:
    """Of means over questions (NaN left out), between systems, for all resamples at once."""
    from scipy import stats

    def rho(drawn: Numbers) -> Numbers:
        a, b = (
            stats.rankdata(np.round(_means(one, drawn), ROUNDING), axis=0, nan_policy="propagate")
            for one in (first, second)
        )
        a, b = a - a.mean(axis=0), b - b.mean(axis=0)
        spread = np.sqrt((a * a).sum(axis=0) * (b * b).sum(axis=0))
        found: Numbers = np.divide((a * b).sum(axis=0), spread, out=np.full_like(spread, np.nan), where=spread > 0)
        return found[None]

    return rho


def _means(values: Numbers, drawn: Numbers) -> Numbers:
    """Of each row over the questions that it has; NaN where none of them was drawn."""
    total, n = np.nan_to_num(values) @ drawn.T, (~np.isnan(values)) @ drawn.T
    return np.divide(total, n, out=np.full_like(total, np.nan), where=n > 0)


def _uncapped(fact: Fact, how: Breaking) -> Row:
    low, high = how.score_span(fact, 1) or (None, None)
    return {"uncapped": how.score(fact, 1, is_capped=False), "uncapped_low": low, "uncapped_high": high}


def _fact_rows(facts: Facts, how: Breaking) -> list[Row]:
    return [
        facts.row(
            NAME,
            metric="frs",
            unit="score",
            kind="fact",
            d=1,
            is_capped=True,
            value=how.score(fact, 1),
            low=None,
            high=None,
            n=1,
            question_id=fact.question_id,
            key=fact.key,
            entropy=fact.entropy,
            breaking=how.capped(fact),
            breaking_uncapped=how.uncapped(fact),
            **_uncapped(fact, how),
            reason=how.undecided(fact) or ("it has no entropy" if fact.entropy is None else None),
        )
        | {"type": fact.type}
        for fact in facts.known
    ]


def _add_sentences(rows: Sequence[Row], every_d: Sequence[int]) -> None:
    for row in rows:
        row.update(headline=None, sentence=None, detail=None)
    main = pooled_rows(rows)
    of = {(row["kind"], row["system"], row["d"], row["is_capped"]): row for row in main if row["kind"] != "fact"}
    first, last = every_d[0], every_d[-1]
    for row in main:
        if row["kind"] == "accuracy" and row["value"] == 0:
            row.update(
                headline=NAME,
                sentence=f"{row['system']} knows none of the questions asked, so there is no known fact to scan.",
                detail=f"Known: right at temperature 0 by {row['metric']} ({questions(row['n'])}).",
            )
        elif row["kind"] == "unbroken" and row["value"] is not None:
            score, hard = (of.get(("score", row["system"], d, True)) for d in (first, last))
            if score is None or score["value"] is None:
                continue
            accuracy = of["accuracy", row["system"], None, None]
            row.update(
                headline=NAME,
                sentence=f"{row['system']} holds {level(row)} of the facts it knows at every temperature tried; "
                f"its robustness score is {level(score)}"
                + (
                    f", and {level(hard)} when entropy is punished hardest (d = {last})"
                    if hard and last != first
                    else ""
                )
                + ".",
                detail=f"It knows {level(accuracy)} of the questions asked "
                f"({row['n']:,} known facts of {questions(accuracy['n'])[4:]}{_open(score['n_undecided'])}).",
            )
        elif row["kind"] == "unbroken":
            row.update(
                headline=NAME,
                sentence=f"Nothing can be said of how firmly {row['system']} holds the facts it knows.",
                detail=f"Of none of {questions(row['n_undecided'])[4:]} is it known where it breaks: {row['reason']}.",
            )
        elif row["kind"] == "difference" and row["value"] is not None and not holds_zero(row):
            firm, loose = (row["system"], row["other"]) if row["value"] > 0 else (row["other"], row["system"])
            gap = row if row["value"] > 0 else row | {"low": -row["high"], "high": -row["low"]}
            row.update(
                headline="firmer",
                sentence=f"{firm} holds the facts that all systems know more firmly than {loose}: "
                f"{number(abs(row['value']), 'score')}{bounds(gap)} more robustness score.",
                detail=f"Paired by question, d = {row['d']} ({questions(row['n'])}).",
            )
        elif row["kind"] == "rank_correlation" and row["value"] is not None and row["d"] == first:
            row.update(
                headline="rank",
                sentence=f"Over {row['n']} systems accuracy and robustness have a rank correlation of "
                f"{number(row['value'], 'ratio')}{bounds(row)}.",
                detail="A model that knows more does not by that alone hold it more firmly.",
            )


def _open(n_undecided: int) -> str:
    return f"; where it breaks is not known of {n_undecided:,} more" if n_undecided else ""


def _caveats(rows: Sequence[Row], confidence: float, n_resamples: int) -> tuple[str, ...]:
    if not rows:
        return ()
    caveats = [
        f"Intervals hold {100 * confidence:g} % of {n_resamples:,} bootstrap resamples of the questions.",
        *agreed(rows),
        "Each system is scored on the facts it knows; only scores on shared facts compare systems on the same facts.",
        "A fact that breaks scores 0.8 at most on the study's grid and one that holds scores 1: a mean moves with the "
        "share of unbroken facts more than with anything else.",
    ]
    if any(row["is_capped"] is False and row["value"] is not None for row in rows):
        caveats.append(
            "Intervals of uncapped scores also hold each curve's own error: from the score where the lower end of its "
            "interval breaks to that where the upper end does, 1 where that is beyond the curve's end."
        )
    if any(row["n_censored"] for row in rows):
        caveats.append(
            "Some curves end before their fact breaks; uncapped scores take the end for it and are too low there."
        )
    if any(row["kind"] == "score" and row["n_missing"] for row in rows):
        caveats.append(
            "Known facts without entropy, or of which it is not known where they break, because the scan has not come "
            "to its end or the curve leaves it open, have no score and are counted."
        )
    return tuple(caveats)
