"""How far does the judging model agree with the rules that look for the accepted answer?"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from shaketable.analyses.rows import Measured
from shaketable.analyses.tables import Tables
from shaketable.factors import Cell, System
from shaketable.statistics.agreement import agreement_of
from shaketable.statistics.intervals import Bootstrap
from shaketable.types import Estimate, JudgeEffort

JUDGE = "judge"
RULES = ("contains", "correct", "exact_match")
"""Metrics of correctness that are 0 or 1."""
NOTHING_IN_COMMON = "no answer has a verdict of both"


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleAgreement(Measured):
    """The judge beside one rule, over the answers that both judge.

    Its cell is of one model, or of all; its metric is the rule.
    """

    share: Estimate
    """Of answers with the same verdict; its n counts answers, not questions."""
    kappa: Estimate
    """Cohen's; its reason says why it, or its interval, is None."""
    n_judge_only: int
    """Correct by the judge alone."""
    n_rule_only: int
    """Correct by the rule alone."""
    n_missing: int
    """Answers without a verdict of one of them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeAgreement:
    """How far does the judge agree with the rules on which answers are correct?"""

    agreements: tuple[RuleAgreement, ...]
    """Rule by rule, of all answers and, where there are several, of each model."""
    efforts: tuple[JudgeEffort, ...]
    """What judges were asked, and what it cost."""
    is_scored: bool
    """Whether the judge and a rule are among the metrics."""


def judge_agreement(tables: Tables) -> JudgeAgreement:
    """Raw agreement and Cohen's kappa of `judge` with each rule, over all answers and for each model."""
    verdicts = (
        tables.scores.filter(pl.col("metric").is_in([JUDGE, *RULES]))
        .pivot("metric", index=["key", "question_id", "model"], values="value", aggregate_function="first")
        .sort("question_id", "key")
    )
    rules = [rule for rule in RULES if rule in verdicts.columns] if JUDGE in verdicts.columns else []
    models = sorted(set(verdicts["model"]))
    return JudgeAgreement(
        agreements=tuple(
            _agreement(verdicts, rule, model, tables.bootstrap)
            for rule in rules
            for model in (None, *(models if len(models) > 1 else ()))
        ),
        efforts=tuple(tables.verdicts),
        is_scored=bool(rules),
    )


def _agreement(verdicts: pl.DataFrame, rule: str, model: str | None, bootstrap: Bootstrap) -> RuleAgreement:
    own = verdicts if model is None else verdicts.filter(pl.col("model") == model)
    both = own.drop_nulls([JUDGE, rule])
    judged, ruled = (both[name].to_numpy() == 1 for name in (JUDGE, rule))
    share = kappa = bootstrap.estimate(np.nan, np.nan, np.nan, n=0, reason=NOTHING_IN_COMMON)
    if len(both):
        agreement = agreement_of(
            both["question_id"].to_list(),
            judged,
            ruled,
            confidence=bootstrap.confidence,
            n_resamples=bootstrap.n_resamples,
        )
        share, kappa = agreement.share, replace(agreement.kappa, reason=agreement.kappa_reason)
    return RuleAgreement(
        cell=Cell(system=None if model is None else System(model=model)),
        metric=rule,
        share=replace(share, unit="share"),
        kappa=replace(kappa, unit="ratio"),
        n_judge_only=int((judged & ~ruled).sum()),
        n_rule_only=int((ruled & ~judged).sum()),
        n_missing=len(own) - len(both),
    )
