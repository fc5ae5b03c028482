"""[gate]: thresholds of a release."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from shaketable.study.tables.keys import FREE, Table, costs

Share = Annotated[float, Field(ge=0, le=1)]
NOT_ASKED = "Absent: not asked."


class GateTable(Table):
    """Thresholds of `shaketable check`. A minimum must be shown to be reached, a maximum not to be passed."""

    model_config = ConfigDict(strict=True)

    min_accuracy: float | None = Field(
        None,
        description=f"The least value of the main metric where nothing is shaken. {NOT_ASKED}",
        examples=[0.7],
        json_schema_extra=costs(FREE),
    )
    max_drop: Annotated[float, Field(ge=0)] | None = Field(
        None,
        description=f"The most that the worst condition may lose of it: 0.1 is 10 points of a share. {NOT_ASKED}",
        examples=[0.1],
        json_schema_extra=costs(FREE),
    )
    max_flip_rate: Share | None = Field(
        None,
        description="How often an answer may be judged otherwise in the worst condition than where nothing is shaken. "
        f"{NOT_ASKED}",
        examples=[0.2],
        json_schema_extra=costs(FREE),
    )
    min_breaking_temperature: Annotated[float, Field(ge=0)] | None = Field(
        None,
        description=f"The sampling temperature at which known facts break, on average, at least. {NOT_ASKED}",
        examples=[0.8],
        json_schema_extra=costs(FREE),
    )
    min_frs: float | None = Field(
        None,
        description=f"The least mean Factual Robustness Score of known facts. {NOT_ASKED}",
        examples=[0.3],
        json_schema_extra=costs(FREE),
    )
    max_cost: Annotated[float, Field(ge=0)] | None = Field(
        None,
        description=f"The most dollars that an answer may cost, by the prices of its model. {NOT_ASKED}",
        examples=[0.002],
        json_schema_extra=costs("None: it judges what was spent. What stops a run is limits.max_cost."),
    )
    max_failures: Share | None = Field(
        None,
        description="The largest share of the trials of this run without an answer; exactly as many may fail. "
        f"{NOT_ASKED}",
        examples=[0.01],
        json_schema_extra=costs(FREE),
    )
    max_regression: float = Field(
        0.0,
        ge=0,
        description="With --against: how much worse than the base a run may be. Absent: 0, not at all.",
        examples=[0.05],
        json_schema_extra=costs(FREE),
    )
    max_broken: Annotated[int, Field(ge=0)] | None = Field(
        None,
        description="With --against: how many answers may be right in all runs of the base and wrong in all runs of "
        f"this one; a question counts once in each condition. {NOT_ASKED}",
        examples=[0],
        json_schema_extra=costs(FREE),
    )
    confidence: float = Field(
        0.95,
        gt=0.5,
        lt=1,
        description="With which each threshold must be shown, one-sided. Absent: 0.95.",
        examples=[0.95],
        json_schema_extra=costs(FREE),
    )
    undecided: Literal["pass", "fail"] | None = Field(
        None,
        description="What counts where the data show neither. Absent: a threshold of one run fails until it is shown "
        "to hold, and a comparison passes until the run is shown to be worse.",
        examples=["fail"],
        json_schema_extra=costs(FREE),
    )
