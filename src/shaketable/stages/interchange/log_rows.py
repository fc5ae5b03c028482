"""What readers of logs share: rows with their places, and fields of foreign JSON that are what they should be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from shaketable.errors import DataError
from shaketable.stages.answer_rows import AnswerRow, PlacedRow
from shaketable.types import Remark

OWN = "shaketable"
"""Where a log that was exported from here has what its format has no place for."""
CONDITION = ("dataset", "model", "method", "retriever", "perturbation", "variation", "temperature")
"""What all samples of one exported log share."""
MOST_BYTES = 4 << 30
"""Of a log, unpacked: more is taken for a bomb."""


@dataclass(frozen=True, kw_only=True)
class Log:
    """The answers of one log, or of several."""

    task: str
    rows: tuple[PlacedRow, ...]
    remarks: tuple[Remark, ...] = ()
    is_own: bool = field(default=False)
    """Whether it was exported from here, so that its questions have ids of their own."""


def joined(logs: Sequence[Log], path: Path) -> Log:
    """Questions of different tasks may have the same number, so that of several tasks their names stand before it."""
    rows: list[PlacedRow] = []
    several = len({log.task for log in logs if not log.is_own}) > 1
    for log in logs:
        for where, row in log.rows:
            own = several and not log.is_own
            rows.append(
                (where, row.model_copy(update={"question_id": f"{log.task}/{row.question_id}"}) if own else row)
            )
    if not rows:
        raise DataError(f"{path} holds no samples. Log them: they are what is imported.")
    return Log(task=path.stem, rows=tuple(rows), remarks=tuple(remark for log in logs for remark in log.remarks))


def make_row(where: str, values: Mapping[str, Any]) -> PlacedRow:
    """A checked row; what is None is left out."""
    given = {name: value for name, value in values.items() if value is not None or name == "answer"}
    try:
        return where, AnswerRow.model_validate(given)
    except ValidationError as error:
        problem = error.errors()[0]
        name = ".".join(str(step) for step in problem["loc"])
        raise DataError(
            f"{where}: its {name} cannot be taken: {problem['msg']}, found {problem['input']!r}."
        ) from error


# --- fields of foreign JSON -----------------------------------------------------------------------


def mapping_in(value: object, name: str) -> dict[str, Any]:
    """A member that should be an object; empty where it is none."""
    member = value.get(name) if isinstance(value, dict) else None
    return cast(dict[str, Any], member) if isinstance(member, dict) else {}


def list_in(value: object, name: str) -> list[Any]:
    member = value.get(name) if isinstance(value, dict) else None
    return member if isinstance(member, list) else []


def text_in(value: object, name: str) -> str | None:
    member = value.get(name) if isinstance(value, dict) else None
    return member if isinstance(member, str) and member else None


def number_in(value: object, name: str) -> float | None:
    """A number, also where it is written as a text."""
    return number_of(value.get(name)) if isinstance(value, dict) else None


def number_of(value: object) -> float | None:
    """None: it is none, or not finite."""
    if isinstance(value, bool | int | float | str):
        try:
            number = float(value)
        except (ValueError, OverflowError):
            return None
        return number if math.isfinite(number) else None
    return None


def count_in(value: object, name: str) -> int | None:
    number = number_in(value, name)
    return int(number) if number is not None and 0 <= number < 2**53 else None


def own_condition(kept: Mapping[str, Any]) -> dict[str, Any]:
    """What an exported log says of all its samples."""
    return {name: kept[name] for name in CONDITION if kept.get(name) is not None}
