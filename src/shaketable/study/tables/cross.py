"""[cross]: what is crossed."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, Tag, WithJsonSchema, model_validator

from shaketable.study.tables.keys import Table, costs, list_or_table

HALF_WIDTH = r"^\s*(±|\+-|\+/-)?\s*0?\.\d+\s*$"
"""Half the width of an interval: `±0.03`."""


class Range(Table):
    """Temperatures at equal steps, in place of a list."""

    start: float = Field(
        alias="from",
        ge=0,
        description="The lowest temperature.",
        examples=[0.0],
        json_schema_extra=costs("The number of temperatures multiplies the trials."),
    )
    to: float = Field(
        description="The highest temperature, if a step falls on it; none lies above it.",
        examples=[2.0],
        json_schema_extra=costs("The number of temperatures multiplies the trials."),
    )
    step: float = Field(
        gt=0,
        description="From one temperature to the next.",
        examples=[0.2],
        json_schema_extra=costs("Half the step is twice the trials."),
    )


def _half_width(given: Any) -> float:
    """`±0.03`, `+-0.03` or 0.03."""
    text = str(given).strip()
    for sign in ("±", "+/-", "+-"):
        text = text.removeprefix(sign).strip()
    try:
        value = float("nan" if isinstance(given, bool) else text)
    except ValueError:
        value = float("nan")
    if not 0 < value < 0.5:
        raise ValueError("give half the width of the interval, between 0 and 0.5, such as '±0.03'")
    return value


class RepeatsTable(Table):
    """Repeats that end where the mean of a condition is known well enough."""

    model_config = ConfigDict(strict=True)

    until: Annotated[
        float,
        BeforeValidator(_half_width),
        WithJsonSchema(
            {
                "anyOf": [
                    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5},
                    {"type": "string", "pattern": HALF_WIDTH},
                ]
            }
        ),
    ] = Field(
        description="Half the width of the interval over repeats of the main metric, such as '±0.03': 3 points of a "
        "share. It is looked at after whole repeats, holds however often one looks, and is of these questions.",
        examples=["±0.03"],
        json_schema_extra=costs("Half the width takes about four times the repeats."),
    )
    max: int = Field(
        50,
        ge=2,
        description="Repeats of each question, at most.",
        examples=[50],
        json_schema_extra=costs("The most that can be spent: it multiplies the trials as a number of repeats does."),
    )
    min: int = Field(
        2,
        ge=2,
        description="Repeats of each question, at least.",
        examples=[2],
        json_schema_extra=costs("The least that is spent."),
    )

    @model_validator(mode="after")
    def _min_is_no_more(self) -> RepeatsTable:
        if self.min > self.max:
            raise ValueError(f"min is {self.min} and max is {self.max}: give a max of at least min")
        return self


def _repeats_shape(given: Any) -> Literal["number", "table"]:
    return "table" if isinstance(given, dict) else "number"


class Cross(Table):
    """What is crossed: every entry of a list meets every entry of the others.

    Trials = questions × wordings × models × methods × evidence × temperatures × repeats.
    """

    models: list[str] = Field(
        ["smollm2"],
        min_length=1,
        description="The models, or whole pipelines, under test, each with its settings in brackets. Absent: the small "
        "embedded model, which needs no network and no key.",
        examples=[["smollm2", "openai(model='gpt-4o', price_in=2.5, price_out=10.0)"]],
        json_schema_extra=costs("Multiplies the trials. `price_in` and `price_out` of a model make costs known."),
    )
    methods: list[str] = Field(
        ["single_retrieval"],
        min_length=1,
        description="How a model is asked: without evidence (closed_book), with what one search finds "
        "(single_retrieval), or by a method that decides itself when to search. Absent: single_retrieval.",
        examples=[["closed_book", "single_retrieval(k=3)"]],
        json_schema_extra=costs("Multiplies the trials; adaptive methods also make several calls for one answer."),
    )
    retrievers: list[str] = Field(
        ["gold"],
        description="Where evidence comes from: the passages that hold the answer (gold), or a search (bm25, dense). "
        "Methods that do not search are not crossed with it. Absent: gold.",
        examples=[["gold", "bm25"]],
        json_schema_extra=costs("Multiplies the trials of methods that search; an index is built once."),
    )
    variations: list[str] = Field(
        ["original"],
        min_length=1,
        description="How the question is worded: as it is (original), or reworded, such as formality or spelling "
        "(typing errors). Absent: original alone.",
        examples=[["original", "formality", "spelling"]],
        json_schema_extra=costs("Multiplies the trials; rewording by a model is one more call for each question."),
    )
    perturbations: list[str] = Field(
        ["unchanged"],
        description="What happens to the evidence before the model reads it: nothing (unchanged), or a disturbance "
        "such as sentence_removal or entity_masking. Methods that do not search are not crossed with it. Absent: "
        "unchanged alone, so no evidence is disturbed.",
        examples=[["unchanged", "sentence_removal", "entity_masking"]],
        json_schema_extra=costs("Multiplies the trials of methods that search."),
    )
    temperatures: Annotated[
        Annotated[Range, Tag("table")] | Annotated[list[Annotated[float, Field(ge=0)]], Tag("list")],
        Discriminator(list_or_table),
    ] = Field(
        [0.0],
        description="Sampling temperatures: a list, or { from, to, step }. 0 always takes the likeliest token; higher "
        "ones draw more at random. Absent: 0 alone.",
        examples=[[0.0, 0.5, 1.0], {"from": 0.0, "to": 2.0, "step": 0.2}],
        json_schema_extra=costs("Multiplies the trials. A local model reads each prompt once for all temperatures."),
    )
    repeats: Annotated[
        Annotated[RepeatsTable, Tag("table")] | Annotated[int, Field(ge=1, le=1_000_000), Tag("number")],
        Discriminator(_repeats_shape),
    ] = Field(
        1,
        description="How often each question is asked in each condition, or { until = '±0.03' }: until the mean of the "
        "condition is known. Repeats show how far answers of one and the same setting differ. Absent: once.",
        examples=[3, {"until": "±0.03", "max": 50}],
        json_schema_extra=costs("Multiplies the trials; `until` stops as soon as more would tell nothing new."),
    )
