"""FS-RAG: search before every sentence, with the sentence before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shaketable.methods.asking import gathered, search
from shaketable.methods.chain_of_thought import PHRASE, ChainOfThought, first_sentence, join, share_of_tokens
from shaketable.protocols import Steps
from shaketable.types import Effort, Hit


@dataclass(frozen=True, kw_only=True)
class FixedSentence(ChainOfThought):
    """The baseline of the DRAGIN code. The first search is for the question; evidence serves one sentence."""

    k: int = 3

    searches: ClassVar[bool] = True
    wants: ClassVar[tuple[str, ...]] = ()

    def answer(self, wording: str) -> Steps:
        text, query, n_tokens = "", wording, 0.0
        found: tuple[Hit, ...] = ()
        while True:
            hits = yield from search(query, self.k)
            found = gathered(found, hits)
            reply = yield from self.ask(wording, text, hits)
            query = first_sentence(reply.text)
            text = join(text, query)
            n_tokens += share_of_tokens(reply, query)
            if not query or PHRASE in text or n_tokens > self.max_length:
                return (yield from self.conclude(wording, text, found))

    def at_most(self, max_tokens: int) -> Effort:
        # Each sentence has a token at least, and the text ends with the one that makes it too long.
        return self.rounds(self.max_length + 1, n_passages=self.k)
