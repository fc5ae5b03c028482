"""Retrieve once with the question, then answer from what was found (WR)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from shaketable.methods.asking import FROM_CONTEXT, Layout, document, generate, numbered, search
from shaketable.methods.chain_of_thought import PROMPTS, WITH_EVIDENCE, WithExamples, answering
from shaketable.prompts import ANSWER_FROM_CONTEXT, CHAIN_QUESTION, Template
from shaketable.prompts.own import Replaceable
from shaketable.protocols import Steps
from shaketable.types import Answer, Effort


@dataclass(frozen=True, kw_only=True)
class SingleRetrieval(WithExamples):
    """One search, one generation. Titles are left out by default: they would give masked names away."""

    version: ClassVar[int] = 2
    prompts: ClassVar[tuple[Template, ...]] = (ANSWER_FROM_CONTEXT, *PROMPTS)

    k: int = 5
    with_titles: bool = False
    joined: bool = False
    """One passage follows the other after a space, as published; else an empty line stands between them."""
    n_examples: int = 0
    """Worked examples that reason first, 8 at most, as in the methods that search on the way; 0: the bare question."""
    layout: Layout = "chat"
    """`plain` asks by one text that goes on, for models without a chat template."""

    def replaceable(self) -> Mapping[str, Replaceable]:
        return {"prompt": WITH_EVIDENCE if self.n_examples else FROM_CONTEXT}

    def answer(self, wording: str) -> Steps:
        hits = yield from search(wording, self.k)
        if self.n_examples:
            found = self.fill("prompt", context=numbered(hits), question=wording)
            return (yield from self.reason(found if hits else CHAIN_QUESTION.fill(question=wording), hits))
        evidence = document(hits, with_titles=self.with_titles, joined=self.joined)
        reply = yield from generate(self.fill("prompt", context=evidence, question=wording), self.layout)
        return Answer(text=reply.text.strip(), hits=hits)

    def at_most(self, max_tokens: int) -> Effort:
        return answering(max_tokens, self.n_examples, n_passages=self.k)
