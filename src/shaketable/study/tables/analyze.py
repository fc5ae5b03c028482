"""[analyze]: what is made of the scores."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from shaketable.study.tables.keys import ANALYSIS, Table, costs

MARGIN = r"^\s*\d*\.?\d+\s*sd\s*$"
"""A margin in units of a metric's spread: `0.2 sd`."""


class AnalyzeTable(Table):
    """What is made of the scores. All of it can be changed and made again without a new answer."""

    analyses: list[str] = Field(
        ["correctness"],
        description="What is computed and reported; `shaketable ls analyses` lists them. Absent: correctness alone.",
        examples=[["correctness", "degradation", "variability"]],
        json_schema_extra=costs("None for answers; seconds to minutes of computing on large runs."),
    )
    metric: str | None = Field(
        None,
        description="The main metric: the one number that findings, report and viewer speak of, such as contains or "
        "bertscore. Absent: the first of score.metrics of which more is better.",
        examples=["correct"],
        json_schema_extra=costs(ANALYSIS),
    )
    without_flags: list[str] = Field(
        [],
        description="Leave out records whose evidence carries one of these flags, such as fallback_other_document of "
        "sentence_replacement; a run's report lists the flags there are. Absent: none is left out.",
        examples=[["fallback_other_document"]],
        json_schema_extra=costs(ANALYSIS),
    )
    margin: Annotated[float, Field(gt=0)] | Annotated[str, Field(pattern=MARGIN)] | None = Field(
        None,
        description="How much of the main metric is too little to matter: in its own unit (0.05 is 5 points of a "
        "share), or in its spread, such as '0.2 sd': the standard deviation between questions with undisturbed "
        "evidence at the lowest temperature. Absent: 0.05 for a share, '0.2 sd' for anything else.",
        examples=[0.05, "0.2 sd"],
        json_schema_extra=costs(ANALYSIS),
    )
    confidence: float = Field(
        0.95,
        gt=0,
        lt=1,
        description="Of every confidence interval, and of everything that the report claims; 0.95 means 95 %. Absent: "
        "0.95.",
        examples=[0.95],
        json_schema_extra=costs(ANALYSIS),
    )
    n_resamples: int = Field(
        2000,
        ge=1,
        description="Resamples of the questions behind every bootstrap interval. Absent: 2000.",
        examples=[500],
        json_schema_extra=costs("None for answers; analyses take proportionally longer."),
    )
