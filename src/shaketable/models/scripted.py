"""Replies from a list instead of a model: for tests, benchmarks and trying a study for free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from shaketable.types import Completion, Failure, Json, Prompt


@dataclass(frozen=True, kw_only=True)
class Scripted:
    """Gives the first reply at temperature 0 and one picked by the seed above it.

    A reply `ERROR` fails that trial, so that a study can be rehearsed with failures.
    """

    replies: tuple[str, ...] = ("I do not know.",)
    price_in: float | None = field(default=None, compare=False)
    """USD per million words of a prompt, to rehearse what a study would cost. None: not known."""
    price_out: float | None = field(default=None, compare=False)

    version: ClassVar[int] = 1
    gives: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        if not isinstance(self.replies, tuple) or not self.replies:
            raise ValueError("replies is a list of texts with at least one entry, such as replies=('Paris', 'London')")
        for name in ("price_in", "price_out"):
            if (price := getattr(self, name)) is not None and not 0 <= price <= 1e6:
                raise ValueError(f"{name} is {price}; expected USD for a million words, such as {name}=0.15.")

    def generate(self, prompts: Sequence[Prompt]) -> list[Completion | Failure]:
        return [self._reply(prompt) for prompt in prompts]

    def environment(self) -> Mapping[str, Json]:
        return {"engine": "scripted"}

    def _reply(self, prompt: Prompt) -> Completion | Failure:
        i = prompt.seed % len(self.replies) if prompt.sampling.temperature > 0 else 0
        text = self.replies[i]
        if text == "ERROR":
            return Failure(kind="scripted", message="The script says ERROR here.", step="generate", may_retry=False)
        words = text.split()
        length = sum(message.content.count(" ") + 1 for message in prompt.messages)
        kept = words[: prompt.sampling.max_tokens]
        return Completion(
            text=text if len(kept) == len(words) else " ".join(kept),
            finish_reason="end" if len(kept) == len(words) else "length",
            n_prompt_tokens=length,
            n_tokens=len(kept),
            seconds=0.0,
        )
