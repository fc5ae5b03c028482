"""IRCoT: searching and reasoning take turns, and the evidence grows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shaketable.methods.asking import gathered, search
from shaketable.methods.chain_of_thought import PHRASE, ChainOfThought, first_sentence, join
from shaketable.protocols import Steps
from shaketable.types import Effort, Hit


@dataclass(frozen=True, kw_only=True)
class Interleaved(ChainOfThought):
    """Trivedi et al., arXiv 2212.10509: each new sentence is the next query, and all passages stay in the prompt.

    The answer is read from the reasoning itself; the authors let a second reader answer from the passages.
    """

    k: int = 4
    max_passages: int = 15
    """Passages in the prompt at most; the first found stay."""
    max_sentences: int = 8

    searches: ClassVar[bool] = True
    wants: ClassVar[tuple[str, ...]] = ()

    def answer(self, wording: str) -> Steps:
        text, query = "", wording
        gathered_hits: tuple[Hit, ...] = ()
        for _ in range(self.max_sentences):
            hits = yield from search(query, self.k)
            gathered_hits = gathered(gathered_hits, hits)[: self.max_passages]
            reply = yield from self.ask(wording, text, gathered_hits)
            query = first_sentence(reply.text)
            text = join(text, query)
            if not query or PHRASE in text:
                break
        return (yield from self.conclude(wording, text, gathered_hits, gathered_hits))

    def at_most(self, max_tokens: int) -> Effort:
        return self.rounds(self.max_sentences, n_passages=self.max_passages)
