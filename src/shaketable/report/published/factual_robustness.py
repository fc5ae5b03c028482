"""Factual robustness: "From Confidence to Collapse", arXiv 2508.16267 (Findings of EMNLP 2025)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from shaketable.analyses.facts.breaking import BreakingTemperatures
from shaketable.analyses.facts.fact_accuracy import FactAccuracy
from shaketable.analyses.facts.factual_robustness import FactualRobustness, MeanScore
from shaketable.analyses.facts.question_types import QuestionTypes
from shaketable.factors import Cell
from shaketable.report.published.comparison import (
    Claim,
    Comparison,
    Own,
    compare,
    format_own,
    model_of,
    table,
)
from shaketable.report.published.verdicts import Judgement, exactly, least, ordered, signed, within
from shaketable.types import Estimate

MODELS = {
    "llama-3.2-3b": "LLaMA-3b",
    "llama-3.1-8b": "LLaMA-8b",
    "qwen2.5-3b": "Qwen-3b",
    "qwen2.5-14b": "Qwen-14b",
    "gpt-4o-mini": "GPT-4o-mini",
}
HALF = 0.5
LOST = 0.6
"""Accuracy that small models lose at temperature 2, in some cases more."""


def mean_score(own: Own) -> Iterator[Comparison]:
    scores = table("robustness_scores")
    for mean in _scores(own):
        model = _model(own, mean.cell)
        printed = scores.filter(d=mean.d)
        if printed.is_empty():
            continue
        if model is None:
            values = printed.drop("d").row(0)
            judgement = Judgement("cannot be said", "the system is none of the study's models")
            published = f"{min(values):g} to {max(values):g} (five models, three datasets)"
        else:
            judgement = within(mean.score, float(printed[model][0]))
            published = f"{model} {printed[model][0]:g} (three datasets)"
        yield compare(
            claim=f"Mean FRS, d = {mean.d:g}",
            published=published,
            system=_name(own, mean.cell),
            own=mean.score,
            judgement=judgement,
        )


def order_of_models(own: Own) -> Iterator[Comparison]:
    """Every pair of the study's models that the run has too."""
    printed = table("robustness_scores").filter(d=1)
    scores = {model: mean.score for mean in _scores(own) if mean.d == 1 and (model := _model(own, mean.cell))}
    for first, second in itertools.combinations(scores, 2):
        lower, higher = sorted((first, second), key=lambda name: float(printed[name][0]))
        yield compare(
            claim=f"{higher} is more robust than {lower} (mean FRS, d = 1)",
            published=f"{printed[higher][0]:g} against {printed[lower][0]:g}",
            system=f"{higher}, {lower}",
            own=f"{format_own(scores[higher])}; {format_own(scores[lower])}",
            judgement=ordered(scores[lower], scores[higher]),
        )


def entropy_foretells(own: Own) -> Iterator[Comparison]:
    for result in own.results(BreakingTemperatures):
        for entropy in result.correlations:
            yield compare(
                claim="The higher the entropy, the lower a fact's breaking temperature (Pearson's r of broken ones)",
                published="−0.48 on average, GPT-4o-mini −0.24",
                system=_name(own, entropy.cell),
                own=entropy.pearson,
                judgement=signed(entropy.pearson, -1),
            )


def small_models_collapse(own: Own) -> Iterator[Comparison]:
    accuracies = (accuracy for result in own.results(FactAccuracy) for accuracy in result.accuracies)
    for accuracy in accuracies:
        if accuracy.cell.temperature == 2.0 and accuracy.source == "sampled":
            yield compare(
                claim="At temperature 2 small models lose more than 60 % of the facts they know",
                published="the two LLaMA models, in some cases",
                system=_name(own, accuracy.cell),
                own=f"{format_own(accuracy.share)} still correct",
                judgement=ordered(accuracy.share, exactly(1 - LOST), "the interval holds 40 %"),
            )


def numbers_hold_and_people_break(own: Own) -> Iterator[Comparison]:
    systems: dict[Cell, dict[str, Estimate]] = {}
    for result in own.results(QuestionTypes):
        for ratio in result.ratios:
            systems.setdefault(replace(ratio.cell, group=None), {})[str(ratio.cell.group)] = ratio.share
    for cell, shares in systems.items():
        yield compare(
            claim="Facts about numbers are among the most robust (their share of the robust third above 50 %)",
            published="64.8 % (LLaMA-3b) to 72.9 %",
            system=_name(own, cell),
            own=shares.get("NUM"),
            judgement=ordered(exactly(HALF), shares.get("NUM", exactly(None))),
        )
        yield compare(
            claim="Facts about people are the least robust of the four types",
            published="all models",
            system=_name(own, cell),
            own=shares.get("HUM"),
            judgement=least(shares, "HUM"),
        )


def _scores(own: Own) -> list[MeanScore]:
    """The capped scores of all datasets together, where there are several."""
    capped = [mean for result in own.results(FactualRobustness) for mean in result.scores if mean.is_capped]
    return [mean for mean in capped if mean.cell.dataset is None] or capped


def _model(own: Own, cell: Cell) -> str | None:
    return model_of(own.written(cell.system.model), MODELS) if cell.system else None


def _name(own: Own, cell: Cell) -> str:
    return own.labels.name(cell, "dataset", "perturbation", "variation")


CLAIMS: tuple[Claim, ...] = (
    mean_score,
    order_of_models,
    entropy_foretells,
    small_models_collapse,
    numbers_hold_and_people_break,
)
