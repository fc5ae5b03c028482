"""Factual robustness: "From Confidence to Collapse", arXiv 2508.16267 (Findings of EMNLP 2025)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

from shaketable.analyses.claims import Subject
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
    dataset_of,
    format_own,
    table,
)
from shaketable.report.published.verdicts import Judgement, exactly, least, ordered, signed, unlike, within
from shaketable.types import Estimate

MODELS = {
    "llama-3.2-3b": "LLaMA-3b",
    "llama-3.1-8b": "LLaMA-8b",
    "qwen2.5-3b": "Qwen-3b",
    "qwen2.5-14b": "Qwen-14b",
    "gpt-4o-mini": "GPT-4o-mini",
}
DATASETS = {"squad": "SQuAD", "trivia": "TriviaQA", "hotpot": "HotpotQA"}
NO_MODEL = "the system is none of the study's models"
RUNS = 10
"""Answers at each temperature."""
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
        values = printed.drop("d").row(0)
        yield compare(
            claim=f"Mean FRS, d = {mean.d:g}",
            published=f"{min(values):g} to {max(values):g} (five models, three datasets)"
            if model is None
            else f"{model} {printed[model][0]:g} (three datasets)",
            system=_name(own, mean.cell),
            own=mean.score,
            judgement=_unlike(own, mean.cell, all_datasets=True) or within(mean.score, float(printed[str(model)][0])),
        )


def _unlike(
    own: Own, cell: Cell, *, all_datasets: bool = False, models: str = "", metric: str | None = None
) -> Judgement | None:
    """What of a system is not as in the study: model, datasets, and the number of answers at each temperature.

    `models`: a part of the names of those models that the study says it of; `metric`: what judges sampled answers.
    """
    model, used = _model(own, cell), _datasets_of(own, cell)
    known = {dataset_of(name, DATASETS) for name in used}
    missing = [name for name in DATASETS.values() if name not in known]
    return unlike(
        (model is not None, NO_MODEL),
        (model is None or models in model, f"the study says it of its {models} models"),
        (None not in known, f"{', '.join(sorted(used))} are not the study's datasets alone"),
        (not (all_datasets and missing), f"published of three datasets together, the run has no {', '.join(missing)}"),
        (metric in (None, "contains"), f"published by contains, this run by {metric}"),
        (
            own.study.repeats == RUNS,
            f"published of {RUNS} answers at each temperature, this run has {own.study.repeats}",
        ),
    )


def _datasets_of(own: Own, cell: Cell) -> set[str]:
    """Those that a number of a system is of; of one without a dataset, all of them."""
    if cell.dataset is not None:
        return {cell.dataset}
    robust = [known.cell for result in own.results(FactualRobustness) for known in result.known]
    rows = [row.cell for result in own.results(FactAccuracy) for row in result.accuracies]
    return {str(other.dataset) for other in (*robust, *rows) if other.dataset and other.system == cell.system}


def order_of_models(own: Own) -> Iterator[Comparison]:
    """Every pair of the study's models that the run has too."""
    printed = table("robustness_scores").filter(d=1)
    scores = {model: mean for mean in _scores(own) if mean.d == 1 and (model := _model(own, mean.cell))}
    gaps = [gap for result in own.results(FactualRobustness) for gap in result.differences]
    for first, second in itertools.combinations(scores, 2):
        lower, higher = sorted((first, second), key=lambda name: float(printed[name][0]))
        cells = scores[lower].cell, scores[higher].cell
        judgement = ordered(scores[lower].score, scores[higher].score)
        for gap in gaps:
            if {gap.cell.system, gap.other.system} == {cell.system for cell in cells}:
                judgement = own.settle(judgement, gap.subject)
        yield compare(
            claim=f"{higher} is more robust than {lower} (mean FRS, d = 1)",
            published=f"{printed[higher][0]:g} against {printed[lower][0]:g}",
            system=f"{higher}, {lower}",
            own=f"{format_own(scores[higher].score)}; {format_own(scores[lower].score)}",
            judgement=next(filter(None, (_unlike(own, cell, all_datasets=True) for cell in cells)), judgement),
        )


def entropy_foretells(own: Own) -> Iterator[Comparison]:
    for result in own.results(BreakingTemperatures):
        for entropy in result.correlations:
            yield compare(
                claim="The higher the entropy, the lower a fact's breaking temperature (Pearson's r of broken ones)",
                published="−0.48 on average, GPT-4o-mini −0.24",
                system=_name(own, entropy.cell),
                own=entropy.pearson,
                judgement=_unlike(own, entropy.cell)
                or own.settle(signed(entropy.pearson, -1), Subject(kind="breaking", cell=entropy.cell)),
            )


def small_models_collapse(own: Own) -> Iterator[Comparison]:
    accuracies = ((result.correct, row) for result in own.results(FactAccuracy) for row in result.accuracies)
    for metric, accuracy in accuracies:
        if accuracy.cell.temperature == 2.0 and accuracy.source == "sampled":
            yield compare(
                claim="At temperature 2 small models lose more than 60 % of the facts they know",
                published="the two LLaMA models, in some cases",
                system=_name(own, accuracy.cell),
                own=f"{format_own(accuracy.share)} still correct",
                judgement=_unlike(own, accuracy.cell, models="LLaMA", metric=metric.partition("(")[0])
                or ordered(accuracy.share, exactly(1 - LOST), "the interval holds 40 %"),
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
            judgement=_unlike(own, cell) or ordered(exactly(HALF), shares.get("NUM", exactly(None))),
        )
        yield compare(
            claim="Facts about people are the least robust of the four types",
            published="all models",
            system=_name(own, cell),
            own=shares.get("HUM"),
            judgement=_unlike(own, cell) or least(shares, "HUM"),
        )


def _scores(own: Own) -> list[MeanScore]:
    """The capped scores of all datasets together, where there are several."""
    capped = [mean for result in own.results(FactualRobustness) for mean in result.scores if mean.is_capped]
    return [mean for mean in capped if mean.cell.dataset is None] or capped


def _model(own: Own, cell: Cell) -> str | None:
    return own.model(cell, MODELS)


def _name(own: Own, cell: Cell) -> str:
    return own.labels.name(cell, "dataset", "perturbation", "variation")


CLAIMS: tuple[Claim, ...] = (
    mean_score,
    order_of_models,
    entropy_foretells,
    small_models_collapse,
    numbers_hold_and_people_break,
)


def is_spoken_of(own: Own) -> bool:
    """Whether the run has what the study is about: facts with a robustness score."""
    return any(result.scores for result in own.results(FactualRobustness))
