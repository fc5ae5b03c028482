"""Factual robustness: "From Confidence to Collapse", arXiv 2508.16267 (Findings of EMNLP 2025)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from shaketable.report.published.comparison import (
    Claim,
    Comparison,
    Own,
    Row,
    compare,
    estimate_of,
    format_own,
    model_of,
    table,
)
from shaketable.report.published.verdicts import Judgement, exactly, least, ordered, signed, within

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
    for row in _scores(own):
        model, d = model_of(str(row["system"]), MODELS), row["d"]
        printed = scores.filter(d=d)
        if printed.is_empty():
            continue
        if model is None:
            values = printed.drop("d").row(0)
            judgement = Judgement("cannot be said", "the system is none of the study's models")
            published = f"{min(values):g} to {max(values):g} (five models, three datasets)"
        else:
            judgement = within(estimate_of(row), float(printed[model][0]))
            published = f"{model} {printed[model][0]:g} (three datasets)"
        yield compare(
            claim=f"Mean FRS, d = {d}",
            published=published,
            system=str(row["system"]),
            own=estimate_of(row),
            judgement=judgement,
        )


def order_of_models(own: Own) -> Iterator[Comparison]:
    """Every pair of the study's models that the run has too."""
    printed = table("robustness_scores").filter(d=1)
    found = {
        model: estimate_of(row)
        for row in _scores(own)
        if row["d"] == 1 and (model := model_of(str(row["system"]), MODELS))
    }
    for first, second in itertools.combinations(found, 2):
        lower, higher = sorted((first, second), key=lambda name: float(printed[name][0]))
        judgement = ordered(found[lower], found[higher])
        yield compare(
            claim=f"{higher} is more robust than {lower} (mean FRS, d = 1)",
            published=f"{printed[higher][0]:g} against {printed[lower][0]:g}",
            system=f"{higher}, {lower}",
            own=f"{format_own(found[higher])}; {format_own(found[lower])}",
            judgement=judgement,
        )


def entropy_foretells(own: Own) -> Iterator[Comparison]:
    for row in own.rows("breaking", kind="pearson"):
        judgement = signed(estimate_of(row), -1)
        yield compare(
            claim="The higher the entropy, the cooler a fact breaks (Pearson's r over broken facts)",
            published="−0.48 on average, GPT-4o-mini −0.24",
            system=str(row["system"]),
            own=estimate_of(row),
            judgement=judgement,
        )


def small_models_collapse(own: Own) -> Iterator[Comparison]:
    for row in own.rows("fact_accuracy", temperature=2.0, source="sampled"):
        judgement = ordered(estimate_of(row), exactly(1 - LOST), "the interval holds 40 %")
        yield compare(
            claim="At temperature 2 small models lose more than 60 % of the facts they know",
            published="the two LLaMA models, in some cases",
            system=str(row["system"]),
            own=f"{format_own(estimate_of(row))} still correct",
            judgement=judgement,
        )


def numbers_hold_and_people_break(own: Own) -> Iterator[Comparison]:
    for system, rows in own.by_system("question_types", kind="ratio").items():
        spans = {str(row["type"]): estimate_of(row) for row in rows}
        judgement = ordered(exactly(HALF), spans.get("NUM", exactly(None)))
        yield compare(
            claim="Facts about numbers are among the most robust (their share of the robust third above 50 %)",
            published="64.8 % (LLaMA-3b) to 72.9 %",
            system=system,
            own=spans.get("NUM"),
            judgement=judgement,
        )
        judgement = least(spans, "HUM")
        yield compare(
            claim="Facts about people are the least robust of the four types",
            published="all models",
            system=system,
            own=spans.get("HUM"),
            judgement=judgement,
        )


def _scores(own: Own) -> list[Row]:
    """The capped scores of all datasets together, where there are several."""
    rows = own.rows("factual_robustness", kind="score", is_capped=True)
    pooled = [row for row in rows if row["dataset"] is None]
    return pooled or rows


CLAIMS: tuple[Claim, ...] = (
    mean_score,
    order_of_models,
    entropy_foretells,
    small_models_collapse,
    numbers_hold_and_people_break,
)
