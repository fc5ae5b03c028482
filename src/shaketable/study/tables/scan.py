"""[scan]: at which sampling temperature facts break."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from shaketable.study.tables.keys import FREE, Table, costs


class ScanTable(Table):
    """Factual robustness: at which sampling temperature a fact that the model knows breaks."""

    strategy: Literal["full", "incremental", "curtailed", "bisection", "curtailed_bisection", "sequential", "none"] = (
        Field(
            "full",
            description="How each fact's temperatures are walked through: full asks every temperature and repeat, the "
            "others stop as soon as it is clear where the fact breaks, none samples nothing and reads its curve alone. "
            "Absent: full.",
            examples=["curtailed_bisection"],
            json_schema_extra=costs("full costs most; curtailed_bisection a fraction of it; none no samples at all."),
        )
    )
    known: str | None = Field(
        "exact_match",
        description="The metric that must be 1 at temperature 0 for a fact to count as known; '' scans every question. "
        "Absent: exact_match.",
        examples=["contains"],
        json_schema_extra=costs("A laxer metric knows more facts, and each is scanned."),
    )
    limit: int | None = Field(
        None,
        ge=1,
        description="Known facts that are scanned for each condition and dataset. Absent: all.",
        examples=[100],
        json_schema_extra=costs("Proportional."),
    )
    union: bool = Field(
        False,
        description="One list of facts for all evidence and wordings of a model: a fact known in any of them is "
        "scanned in each in which it is known, and the limit counts it once. Absent: a list for each.",
        examples=[True],
        json_schema_extra=costs("More facts are scanned than by one condition alone."),
    )
    correct: str = Field(
        "contains",
        description="The metric that judges sampled answers. Absent: contains.",
        examples=["contains"],
        json_schema_extra=costs(FREE),
    )
    threshold: float = Field(
        0.5,
        gt=0,
        lt=1,
        description="A fact is broken where the share of correct answers lies below this. Absent: 0.5.",
        examples=[0.5],
        json_schema_extra=costs(FREE),
    )
    curves: Literal["none", "known", "all"] = Field(
        "none",
        description="For which questions the chance of a right answer is estimated at all temperatures from the "
        "model's logits; a model that runs here is needed. Absent: none.",
        examples=["known"],
        json_schema_extra=costs("curve_budget token positions for each question."),
    )
    curve_budget: int = Field(
        400,
        ge=1,
        description="Token positions that the model may compute for one curve, samples included. Absent: 400.",
        examples=[400],
        json_schema_extra=costs("Proportional, for each curve."),
    )
    curve_samples: int = Field(
        90,
        ge=0,
        description="Paths at most that are sampled of what a curve's bounds leave open; 0: bounds alone. There is no "
        "estimate where fewer than 20 count. Absent: 90.",
        examples=[90],
        json_schema_extra=costs("Part of curve_budget."),
    )
    curve_end: float = Field(
        4.0,
        ge=2.0,
        le=20.0,
        description="The highest temperature of a curve: so far it is looked where a fact breaks. Absent: 4.",
        examples=[4.0],
        json_schema_extra=costs(FREE),
    )
