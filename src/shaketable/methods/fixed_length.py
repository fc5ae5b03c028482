"""FL-RAG: search before every block of tokens, with the block before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shaketable.methods.chain_of_thought import CLOSING_TOKENS, ChainOfThought
from shaketable.protocols import Steps
from shaketable.types import Completion, Effort


@dataclass(frozen=True, kw_only=True)
class FixedLength(ChainOfThought):
    """The baseline of the DRAGIN code, whose settings never say how long a block is."""

    k: int = 3
    block_tokens: int = 16

    packages: ClassVar[tuple[str, ...]] = ()
    searches: ClassVar[bool] = True
    wants: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.block_tokens < 1:
            raise ValueError(f"block_tokens is {self.block_tokens}; it must be above 0.")

    def answer(self, wording: str) -> Steps:
        return (yield from self.search_as_it_writes(wording, self.k, _block, self.block_tokens))

    def at_most(self, max_tokens: int) -> Effort:
        # Blocks may end early, after one token each; together they are no longer than the text and one block.
        n_tokens = self.max_length + self.block_tokens + CLOSING_TOKENS
        return Effort(n_calls=self.max_length + 2, n_tokens=n_tokens, n_passages=self.k)


def _block(reply: Completion) -> tuple[str, float]:
    return reply.text.strip(), reply.n_tokens
