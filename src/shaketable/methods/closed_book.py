"""No retrieval (NR): the model answers from what it knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shaketable.methods.asking import Layout, converse, generate
from shaketable.methods.chain_of_thought import PROMPTS, answering, chain, check_examples, conclude
from shaketable.prompts import ANSWER_CLOSED_BOOK, Template
from shaketable.protocols import Steps
from shaketable.types import Answer, Effort


@dataclass(frozen=True, kw_only=True)
class ClosedBook:
    """Ask once, without evidence."""

    n_examples: int = 0
    """Worked examples that reason first, 8 at most, as in the methods that search on the way; 0: the bare question."""
    layout: Layout = "chat"
    """`plain` asks by one text that goes on, for models without a chat template."""

    version: ClassVar[int] = 1
    searches: ClassVar[bool] = False
    wants: ClassVar[tuple[str, ...]] = ()
    prompts: ClassVar[tuple[Template, ...]] = (ANSWER_CLOSED_BOOK, *PROMPTS)

    def __post_init__(self) -> None:
        check_examples(self.n_examples, least=0)

    def answer(self, wording: str) -> Steps:
        if self.n_examples:
            reply = yield from converse(chain(wording, "", (), self.n_examples, self.layout), layout=self.layout)
            return (yield from conclude(wording, reply.text, (), (), self.n_examples, self.layout))
        reply = yield from generate(ANSWER_CLOSED_BOOK.fill(question=wording), self.layout)
        return Answer(text=reply.text.strip())

    def at_most(self, max_tokens: int) -> Effort:
        return answering(max_tokens, self.n_examples)
