"""What the tables share: how a key tells what it costs, and which of two shapes a value has."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from shaketable.types import Json


class Table(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True, allow_inf_nan=False)


def costs(cost: str, **beside: Json) -> dict[str, Any]:
    """What a key does to the price of a run, for the reference; `beside`: keys that its example needs."""
    return {"x-cost": cost} | ({"x-beside": beside} if beside else {})


FREE = "None."
ANALYSIS = "None for answers; the analysis alone."


def list_or_table(given: Any) -> Literal["list", "table"]:
    """Which of two shapes a value is read as, so that a mistake in it is explained once."""
    return "list" if isinstance(given, list) else "table"
