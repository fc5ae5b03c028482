"""What the parts that run on this machine share: the engine, loaded on first use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from shaketable import weights
from shaketable.types import Completion, Failure, Json, Prompt

if TYPE_CHECKING:
    from shaketable.models.sweep import SweepEngine


class LocalModel:
    path: str
    device: str
    dtype: str
    n_rows: int

    version: ClassVar[int] = 1
    gives: ClassVar[frozenset[str]] = frozenset({"logprobs", "top_logprobs", "entropy"})

    @cached_property
    def engine(self) -> SweepEngine:
        from shaketable.models.sweep import engine

        return engine(weights.locate(self.path), self.device, self.dtype, self.n_rows)

    def submit(self, ticket: int, prompt: Prompt) -> None:
        self.engine.submit(ticket, prompt)

    def collect(self) -> list[tuple[int, Completion | Failure]]:
        return self.engine.collect()

    def generate(self, prompts: Sequence[Prompt]) -> list[Completion | Failure]:
        return self.engine.generate(prompts)

    def environment(self) -> Mapping[str, Json]:
        return self.engine.environment()
