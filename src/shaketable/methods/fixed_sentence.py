"""FS-RAG: search before every sentence, with the sentence before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shaketable.methods.chain_of_thought import ChainOfThought, first_sentence, share_of_tokens
from shaketable.protocols import Steps
from shaketable.types import Completion, Effort


@dataclass(frozen=True, kw_only=True)
class FixedSentence(ChainOfThought):
    """The baseline of the DRAGIN code. The first search is for the question; evidence serves one sentence."""

    k: int = 3

    searches: ClassVar[bool] = True
    wants: ClassVar[tuple[str, ...]] = ()

    def answer(self, wording: str) -> Steps:
        return (yield from self.search_as_it_writes(wording, self.k, _sentence))

    def at_most(self, max_tokens: int) -> Effort:
        # Each sentence has a token at least, and the text ends with the one that makes it too long.
        return self.rounds(self.max_length + 1, n_passages=self.k)


def _sentence(reply: Completion) -> tuple[str, float]:
    sentence = first_sentence(reply.text)
    return sentence, share_of_tokens(reply, sentence)
