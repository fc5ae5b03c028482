"""What runs took on this machine, for the forecasts of later ones.

It lies in the user's cache and no run hangs on it: what cannot be read was never measured, and what cannot be written
is not kept.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import Field, TypeAdapter

from shaketable import catalog, weights
from shaketable.protocols import Model
from shaketable.stages.plan import Condition
from shaketable.store import Run
from shaketable.text.whole_file import write_whole

T = TypeVar("T")
Size = Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=10**15)]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Means over the trials of one system in its last run on this machine."""

    n_trials: Count
    calls: Size
    prompt_tokens: Size
    new_tokens: Size


RATES: TypeAdapter[dict[str, float]] = TypeAdapter(dict[str, Size])
MEASURES: TypeAdapter[dict[str, Measured]] = TypeAdapter(dict[str, Measured])
AFTERWARDS: TypeAdapter[dict[str, list[tuple[int, float]]]] = TypeAdapter(dict[str, list[tuple[Count, Size]]])


def known_rates() -> dict[str, float]:
    """New tokens per second that each model reached in its last run on this machine."""
    return _remembered("rates", RATES)


def remember_rate(model: str, n_tokens: int, seconds: float) -> None:
    _remember("rates", RATES, {model: round(n_tokens / seconds, 3)})


def known_measures() -> dict[str, Measured]:
    """What a trial of each system took in its last run on this machine."""
    return _remembered("measures", MEASURES)


def remember_measures(run: Run, conditions: Sequence[Condition]) -> None:
    """Keep what the run's trials took, so that the next forecast knows."""
    models = {str(condition.labels["model"]): condition.model for condition in conditions}
    _remember(
        "measures",
        MEASURES,
        {
            system_name(models[effort.model], effort.method): Measured(
                n_trials=effort.n_trials,
                calls=effort.n_generations / effort.n_trials,
                prompt_tokens=effort.n_prompt_tokens / effort.n_trials,
                new_tokens=effort.n_tokens / effort.n_trials,
            )
            for effort in run.effort_by_system()
        },
    )


def known_afterwards() -> dict[str, list[tuple[int, float]]]:
    """Step after answering → answers and seconds of runs on this machine, the smallest first."""
    return _remembered("afterwards", AFTERWARDS)


def remember_afterwards(taken: Mapping[str, Sequence[tuple[int, float]]]) -> None:
    _remember("afterwards", AFTERWARDS, {step: list(runs) for step, runs in taken.items()})


def system_name(model: Model, method: str) -> str:
    """The model with its endpoint: another one may answer at other length under the same name."""
    return f"{catalog.written(model)} · {method}"


def folder() -> Path:
    return weights.home()


def _remembered(name: str, kind: TypeAdapter[dict[str, T]]) -> dict[str, T]:
    try:
        return kind.validate_json((folder() / f"{name}.json").read_bytes())
    except (OSError, ValueError):
        return {}


def _remember(name: str, kind: TypeAdapter[dict[str, T]], values: Mapping[str, T]) -> None:
    path = folder() / f"{name}.json"
    with contextlib.suppress(OSError):
        weights.make_folder(path.parent)
        write_whole(path, kind.dump_json({**_remembered(name, kind), **values}, indent=1).decode())
