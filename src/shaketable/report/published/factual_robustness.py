"""Factual robustness: "From Confidence to Collapse", arXiv 2508.16267 (Findings of EMNLP 2025)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from shaketable.report.published.comparison import (
    Claim,
    Comparison,
    Own,
    Row,
    Span,
    least,
    model_of,
    ordered,
    signed,
    table,
    within,
)

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
            verdict, reason = "cannot be said", "the system is none of the study's models"
            published = f"{min(values):g} to {max(values):g} (five models, three datasets)"
        else:
            verdict, reason = within(Span.of(row), float(printed[model][0]))
            published = f"{model} {printed[model][0]:g} (three datasets)"
        yield Comparison(
            claim=f"Mean FRS, d = {d}",
            published=published,
            system=str(row["system"]),
            own=str(Span.of(row)),
            verdict=verdict,  # type: ignore[arg-type]
            reason=reason,
        )


def order_of_models(own: Own) -> Iterator[Comparison]:
    """Every pair of the study's models that the run has too."""
    printed = table("robustness_scores").filter(d=1)
    found = {
        model: Span.of(row) for row in _scores(own) if row["d"] == 1 and (model := model_of(str(row["system"]), MODELS))
    }
    for first, second in itertools.combinations(found, 2):
        lower, higher = sorted((first, second), key=lambda name: float(printed[name][0]))
        verdict, reason = ordered(found[lower], found[higher])
        yield Comparison(
            claim=f"{higher} is more robust than {lower} (mean FRS, d = 1)",
            published=f"{printed[higher][0]:g} against {printed[lower][0]:g}",
            system=f"{higher}, {lower}",
            own=f"{found[higher]}; {found[lower]}",
            verdict=verdict,
            reason=reason,
        )


def entropy_foretells(own: Own) -> Iterator[Comparison]:
    for row in own.rows("breaking", kind="pearson"):
        verdict, reason = signed(Span.of(row), -1)
        yield Comparison(
            claim="The higher the entropy, the cooler a fact breaks (Pearson's r over broken facts)",
            published="−0.48 on average, GPT-4o-mini −0.24",
            system=str(row["system"]),
            own=str(Span.of(row)),
            verdict=verdict,
            reason=str(row.get("reason") or reason),
        )


def small_models_collapse(own: Own) -> Iterator[Comparison]:
    for row in own.rows("fact_accuracy", temperature=2.0, source="sampled"):
        left = Span(value=1 - LOST, low=1 - LOST, high=1 - LOST, n=row["n"])
        verdict, reason = ordered(Span.of(row), left)
        yield Comparison(
            claim="At temperature 2 small models lose more than 60 % of the facts they know",
            published="the two LLaMA models, in some cases",
            system=str(row["system"]),
            own=f"{Span.of(row)} still correct",
            verdict=verdict,
            reason=reason.replace("the intervals overlap", "the interval holds 40 %"),
        )


def numbers_hold_and_people_break(own: Own) -> Iterator[Comparison]:
    half = Span(value=HALF, low=HALF, high=HALF, n=0)
    for system, rows in own.by_system("question_types", kind="ratio").items():
        spans = {str(row["type"]): Span.of(row) for row in rows}
        none = Span(value=None, low=None, high=None, n=0)
        verdict, reason = ordered(half, spans.get("NUM", none))
        yield Comparison(
            claim="Facts about numbers are among the most robust (their share of the robust third above 50 %)",
            published="64.8 % (LLaMA-3b) to 72.9 %",
            system=system,
            own=str(spans.get("NUM", "")),
            verdict=verdict,
            reason=reason,
        )
        verdict, reason = least(spans, "HUM")
        yield Comparison(
            claim="Facts about people are the least robust of the four types",
            published="all models",
            system=system,
            own=str(spans.get("HUM", "")),
            verdict=verdict,
            reason=reason,
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
