"""How far does the judging model agree with the rules that look for the accepted answer?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from shaketable.statistics.agreement import Agreement, agreement_of
from shaketable.types import JudgeEffort, OldFinding

JUDGE = "judge"
RULES = ("contains", "correct", "exact_match")
"""Metrics of correctness that are 0 or 1."""
QUESTION = "How far does the judge agree with the rules on which answers are correct?"


def judge_agreement(
    table: pl.DataFrame,
    *,
    verdicts: Sequence[JudgeEffort] = (),
    confidence: float = 0.95,
    n_resamples: int = 2000,
) -> OldFinding:
    """Raw agreement (`value`) and Cohen's kappa of `judge` with each rule, over all answers and for each model.

    `n` counts answers that both judge; `n_judge_only` are correct by the judge alone, `n_rule_only` by the rule alone.
    `verdicts` tells what the judge was asked and what it cost.
    """
    wide = (
        table.filter(pl.col("metric").is_in([JUDGE, *RULES]))
        .pivot("metric", index=["key", "question_id", "model"], values="value", aggregate_function="first")
        .sort("question_id", "key")
    )
    rules = [rule for rule in RULES if rule in wide.columns] if JUDGE in wide.columns else []
    models = sorted(set(wide["model"]))
    rows = [
        _row(wide, rule, model, confidence, n_resamples)
        for rule in rules
        for model in (None, *(models if len(models) > 1 else ()))
    ]
    if not rules and not table.is_empty():
        rows = [_empty(f"judge and one of {', '.join(RULES)} are needed; add them to score.metrics")]
    return OldFinding(
        analysis="judge_agreement",
        question=QUESTION,
        rows=tuple(rows),
        sentences=tuple(_sentence(row) for row in rows if row["value"] is not None and row["model"] is None),
        caveats=tuple(_cost(one) for one in verdicts),
        settings={"confidence": confidence, "n_resamples": n_resamples},
    )


def _row(wide: pl.DataFrame, rule: str, model: str | None, confidence: float, n_resamples: int) -> dict[str, Any]:
    own = wide if model is None else wide.filter(pl.col("model") == model)
    both = own.drop_nulls([JUDGE, rule])
    judged, ruled = (both[JUDGE] == 1).to_numpy(), (both[rule] == 1).to_numpy()
    n_missing = own.height - both.height
    if both.is_empty():
        return _empty("no answer has a verdict of both") | {"metric": rule, "model": model, "n_missing": n_missing}
    questions = both["question_id"].to_list()
    agreement = agreement_of(questions, judged, ruled, confidence=confidence, n_resamples=n_resamples)
    return {
        **_empty(agreement.kappa_reason),
        "metric": rule,
        "model": model,
        **_numbers(agreement),
        "n": both.height,
        "n_judge_only": int((judged & ~ruled).sum()),
        "n_rule_only": int((ruled & ~judged).sum()),
        "n_missing": n_missing,
    }


def _numbers(agreement: Agreement) -> dict[str, float | None]:
    share, kappa = agreement.share, agreement.kappa
    return {
        "value": share.value,
        "low": share.low,
        "high": share.high,
        "kappa": kappa.value,
        "kappa_low": kappa.low,
        "kappa_high": kappa.high,
    }


def _empty(reason: str | None) -> dict[str, Any]:
    return {
        "analysis": "judge_agreement",
        **dict.fromkeys(("metric", "model", "value", "low", "high", "kappa", "kappa_low", "kappa_high")),
        **dict.fromkeys(("n", "n_judge_only", "n_rule_only", "n_missing"), 0),
        "unit": "share",
        "reason": reason,
    }


def _sentence(row: Mapping[str, Any]) -> str:
    interval = f" [{row['low']:.0%}, {row['high']:.0%}]" if row["low"] is not None else ""
    kappa = f"Cohen's kappa {row['kappa']:.2f}" if row["kappa"] is not None else "no kappa"
    return (
        f"The judge agrees with {row['metric']} on {row['value']:.0%}{interval} of {row['n']:,} answers ({kappa}): "
        f"{row['n_judge_only']:,} are correct by the judge alone, {row['n_rule_only']:,} by {row['metric']} alone."
    )


def _cost(effort: JudgeEffort) -> str:
    return (
        f"{effort.judge} was asked {effort.n_calls:,} times: {effort.n_prompt_tokens:,} tokens read, "
        f"{effort.n_tokens:,} written; {effort.n_unclear:,} replies had no verdict."
    )
