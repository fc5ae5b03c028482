"""No retrieval (NR): the model answers from what it knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from shaketable.methods.asking import Layout, generate
from shaketable.methods.chain_of_thought import PROMPTS, WITHOUT_EVIDENCE, WithExamples, answering
from shaketable.prompts import ANSWER_CLOSED_BOOK, Template
from shaketable.prompts.own import Replaceable
from shaketable.protocols import Steps
from shaketable.types import Answer, Effort

BARE = Replaceable(template=ANSWER_CLOSED_BOOK, slots={"question": "question"}, use="the question, without evidence")


@dataclass(frozen=True, kw_only=True)
class ClosedBook(WithExamples):
    """Ask once, without evidence."""

    version: ClassVar[int] = 1
    searches: ClassVar[bool] = False
    prompts: ClassVar[tuple[Template, ...]] = (ANSWER_CLOSED_BOOK, *PROMPTS)

    n_examples: int = 0
    """Worked examples that reason first, 8 at most, as in the methods that search on the way; 0: the bare question."""
    layout: Layout = "chat"
    """`plain` asks by one text that goes on, for models without a chat template."""

    def replaceable(self) -> Mapping[str, Replaceable]:
        return {"prompt": WITHOUT_EVIDENCE if self.n_examples else BARE}

    def answer(self, wording: str) -> Steps:
        asked = self.fill("prompt", question=wording)
        if self.n_examples:
            return (yield from self.reason(asked))
        reply = yield from generate(asked, self.layout)
        return Answer(text=reply.text.strip())

    def at_most(self, max_tokens: int) -> Effort:
        return answering(max_tokens, self.n_examples)
