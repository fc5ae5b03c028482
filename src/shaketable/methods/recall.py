"""A short answer from memory, after two examples: how factual robustness is measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shaketable.methods.asking import Layout, converse, laid_out
from shaketable.prompts import RECALL_QUESTION, Template
from shaketable.protocols import Steps
from shaketable.types import Answer, Effort, Message

EXEMPLARS = (
    ("What color do you get when you mix blue and yellow paint?", "Green"),
    ("How many legs does a spider have?", "Eight"),
)
"""Two questions of our own, in none of the datasets; the study does not print its own."""


@dataclass(frozen=True, kw_only=True)
class Recall:
    """Closed book, two-shot, cut at the first line break ("From Confidence to Collapse", section 3).

    The study's prompt is not printed; ours labels question and answer. Set generation.max_tokens to 5 as it does.
    """

    layout: Layout = "chat"
    """`chat`: examples as turns of a conversation, for instruct models; `plain`: labelled lines that go on."""

    version: ClassVar[int] = 1
    first_line: ClassVar[bool] = True
    """The text after a line break never counts; curves must know."""
    searches: ClassVar[bool] = False
    wants: ClassVar[tuple[str, ...]] = ()
    prompts: ClassVar[tuple[Template, ...]] = (RECALL_QUESTION,)

    def __post_init__(self) -> None:
        if self.layout not in ("chat", "plain"):
            raise ValueError(f"layout is {self.layout!r}, expected 'chat' or 'plain'.")

    def answer(self, wording: str) -> Steps:
        reply = yield from converse(laid_out(self._messages(wording), self.layout), layout=self.layout)
        return Answer(text=first_line(reply.text))

    def at_most(self, max_tokens: int) -> Effort:
        return Effort(n_calls=1, n_tokens=max_tokens)

    def _messages(self, wording: str) -> tuple[Message, ...]:
        turns = [(RECALL_QUESTION.fill(question=q), a) for q, a in EXEMPLARS]
        shown = [m for q, a in turns for m in (Message(role="user", content=q), Message(role="assistant", content=a))]
        return (*shown, Message(role="user", content=RECALL_QUESTION.fill(question=wording)))


def first_line(text: str) -> str:
    return text.partition("\n")[0].strip()
