"""[limits]: where a run stops of itself."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from shaketable.study.tables.keys import Table, costs


class LimitsTable(Table):
    """Where the run stops of itself, to be resumed. When a run stops changes no answer."""

    model_config = ConfigDict(strict=True)

    max_cost: float | None = Field(
        None,
        gt=0,
        description="US dollars that all goes at the run may spend on answers; models need their prices for it. "
        "Absent: no limit.",
        examples=[2.0],
        json_schema_extra=costs("The most that is spent on answers. Judges and rewording models are not counted."),
    )
    max_calls: int | None = Field(
        None,
        ge=1,
        description="Calls of models that all goes at the run may make, failed ones too. Absent: no limit.",
        examples=[500],
        json_schema_extra=costs("The most calls that are made for answers."),
    )
    max_minutes: float | None = Field(
        None,
        gt=0,
        description="Minutes that all goes at answering may take, loading of models included. Absent: no limit.",
        examples=[10.0],
        json_schema_extra=costs("The longest that answering takes."),
    )
