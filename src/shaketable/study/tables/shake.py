"""[shake]: an adaptive search for what breaks a system."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from shaketable.study.tables.keys import Table, costs


class ShakeTable(Table):
    """An adaptive search for what breaks a system, as `shaketable shake` writes it."""

    model_config = ConfigDict(strict=True)

    screened: int = Field(
        12,
        ge=1,
        description="Questions that each way to ask gets at first, at most. Absent: 12.",
        examples=[12],
        json_schema_extra=costs("None in all: the budget in [limits] is what is spent. It is spread more evenly."),
    )
