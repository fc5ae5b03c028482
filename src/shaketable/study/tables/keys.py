"""What the tables share: how a key tells what it costs, and which of two shapes a value has."""

from __future__ import annotations

from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from shaketable.types import Json


class Numbered(BaseModel):
    @field_validator("*", mode="before")
    @classmethod
    def _true_is_no_number(cls, given: Any, about: ValidationInfo) -> Any:
        """Python counts `true` as 1."""
        values = given if isinstance(given, list) else [given]
        if any(isinstance(value, bool) for value in values) and not _mentions_bool(
            cls.model_fields[about.field_name or ""].annotation
        ):
            raise PydanticCustomError("no_number", "give a value that is neither true nor false")
        return given


class Table(Numbered):
    model_config = ConfigDict(extra="forbid", populate_by_name=True, allow_inf_nan=False)


def _mentions_bool(annotation: Any) -> bool:
    return annotation in (bool, Any) or any(map(_mentions_bool, get_args(annotation)))


def costs(cost: str, **beside: Json) -> dict[str, Any]:
    """What a key does to the price of a run, for the reference; `beside`: keys that its example needs."""
    return {"x-cost": cost} | ({"x-beside": beside} if beside else {})


FREE = "None."
ANALYSIS = "None for answers; the analysis alone."


def list_or_table(given: Any) -> Literal["list", "table"]:
    """Which of two shapes a value is read as, so that a mistake in it is explained once."""
    return "list" if isinstance(given, list) else "table"
