"""What the parts that run on this machine share: the engine, loaded on first use."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal

from shaketable import weights
from shaketable.engine.chat_template import chat_template
from shaketable.errors import WeightsError, need_packages
from shaketable.text.thoughts import OPEN
from shaketable.types import Completion, Draft, Failure, Json, Probe, Prompt, Reading

if TYPE_CHECKING:
    import torch

    from shaketable.engine.continuations import Continuations
    from shaketable.engine.sweep import SweepEngine


Format = Literal["float32", "bfloat16", "float16", "int8"]
"""Of weights and of the numbers they are multiplied with."""


class LocalModel:
    path: str
    device: str
    dtype: Format
    batching: Literal["exact", "free"]
    n_rows: int

    version: ClassVar[int] = 3
    gives: ClassVar[frozenset[str]] = frozenset(
        {
            "logprobs",
            "top_logprobs",
            "entropy",
            "processed_logprobs",
            "processed_entropy",
            "token_ids",
            "attention",
            "logits",
        }
    )

    packages: ClassVar[tuple[str, ...]] = ("torch", "transformers")

    def lacks(self, by_chat: Collection[str] = ()) -> str | None:
        """Why a study with methods that ask by chat could not use these weights, without loading them."""
        try:
            folder = weights.glance(self.path)
        except WeightsError as error:
            return str(error)
        if self.dtype == "int8":
            from shaketable.engine.narrow_weights import lacks_int8

            if problem := lacks_int8(self.device):
                return problem
        if folder is not None and self.device.startswith("cuda"):
            from shaketable.engine.captured.card import lacks_room

            if problem := lacks_room(folder, self.device, self.dtype):
                return problem
        if not by_chat or folder is None or chat_template(folder):
            return None
        return (
            f"the weights {self.path} have no chat template, so {', '.join(by_chat)} cannot ask them by chat. "
            "Write layout='plain' in each method, such as closed_book(layout='plain'), or use weights with a template."
        )

    @cached_property
    def engine(self) -> SweepEngine:
        need_packages(f"The model '{self.path}'", *self.packages)
        from shaketable.engine.load import engine

        with weights.located(self.path) as folder:
            return engine(folder, self.device, self.dtype, self.n_rows, self.batching)

    @property
    def thinks(self) -> bool:
        """Whether its chat template has thoughts; False also where it is not at hand yet."""
        try:
            folder = weights.glance(self.path)
        except WeightsError:
            return False
        return folder is not None and OPEN in (chat_template(folder) or "")

    def submit(self, ticket: int, prompt: Prompt) -> None:
        self.engine.submit(ticket, prompt)

    def collect(self) -> list[tuple[int, Completion | Failure]]:
        return self.engine.collect()

    def collect_for(self, seconds: float) -> list[tuple[int, Completion | Failure]]:
        return self.engine.collect(seconds)

    def go_on(self, ticket: int, prompt: Prompt, draft: Draft) -> None:
        self.engine.go_on(ticket, prompt, draft)

    def drafts(self) -> Mapping[int, Draft]:
        return self.engine.drafts()

    def forget(self) -> None:
        if "engine" in self.__dict__:
            self.engine.forget()

    def written(self) -> Mapping[int, int]:
        return self.engine.written()

    def generate(self, prompts: Sequence[Prompt]) -> list[Completion | Failure]:
        return self.engine.generate(prompts)

    def probe(self, probes: Sequence[Probe]) -> list[Reading | Failure]:
        from shaketable.engine.probe import read_each

        return read_each(self.engine, probes)

    @cached_property
    def continuations(self) -> Continuations:
        from shaketable.engine.continuations import Continuations

        return Continuations(self.engine)

    def expand(self, asked: Sequence[tuple[Prompt, Sequence[tuple[int, ...]]]]) -> list[list[torch.Tensor]]:
        return self.continuations.expand(asked)

    def token_bytes(self) -> tuple[list[bytes], frozenset[int]]:
        from shaketable.engine.token_bytes import token_bytes

        return token_bytes(self.engine.tokenizer, self.engine.n_logits), frozenset(self.engine.end_ids)

    def environment(self) -> Mapping[str, Json]:
        return self.engine.environment()
