"""What functions that are asked share, models and pipelines: threads, a time limit, what a run stores of them."""

from __future__ import annotations

import functools
import platform
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from shaketable.models.calling.function import Called, FunctionCaller
from shaketable.models.calling.lanes import Lanes, ask_all
from shaketable.stages.own.function_part import OWN, FunctionPart
from shaketable.types import Completion, Failure, Json, Prompt


@dataclass(frozen=True, kw_only=True)
class CalledModel(FunctionPart):
    """Asked on threads of this process, each call within a time limit."""

    gives: ClassVar[frozenset[str]] = frozenset()

    time_limit: float = field(default=120.0, compare=False, metadata=OWN)
    """Seconds for one answer."""
    concurrency: int = field(default=1, compare=False, metadata=OWN)
    """Calls under way at once; more than 1 is right for a function that waits for a network."""

    def __post_init__(self) -> None:
        if self.time_limit <= 0 or self.concurrency <= 0:
            raise ValueError("time_limit and concurrency must be above 0")

    def environment(self) -> Mapping[str, Json]:
        return {
            "engine": "function",
            "python": platform.python_version(),
            "source": self.source_digest,
            "temperature_sent": self.takes_temperature,
        }

    @property
    def takes_temperature(self) -> bool:
        return "temperature" in self.given

    def generate(self, prompts: Sequence[Prompt]) -> list[Completion | Failure]:
        return ask_all(self, prompts)

    def submit(self, ticket: int, prompt: Prompt) -> None:
        self._lanes.submit(ticket, prompt)

    def collect(self) -> list[tuple[int, Completion | Failure]]:
        return self._lanes.collect()

    def forget(self) -> None:
        self.close()

    def close(self) -> None:
        if "_lanes" in self.__dict__:
            self._lanes.close()
            del self.__dict__["_lanes"]

    @functools.cached_property
    def _lanes(self) -> Lanes:
        lanes = Lanes(self.concurrency, functools.partial(FunctionCaller, self._called(), self.time_limit))
        weakref.finalize(self, lanes.close)
        return lanes

    def _called(self) -> Called:
        raise NotImplementedError

    def _bound(self) -> dict[str, object]:
        """The settings, without a reference to this part, whose end ends its threads."""
        return {setting.name: getattr(self, setting.name) for setting in self._settings()}
