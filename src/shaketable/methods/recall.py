"""A short answer after two examples, from memory or from passages: how factual robustness is measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from shaketable.methods.asking import Layout, converse, document, laid_out, search
from shaketable.methods.prompted import Prompted
from shaketable.prompts import RECALL_QUESTION, RECALL_QUESTION_FROM_CONTEXT, Template
from shaketable.prompts.own import Replaceable
from shaketable.protocols import Steps
from shaketable.types import Answer, Effort, Message

FROM_MEMORY = Replaceable(
    template=RECALL_QUESTION, slots={"question": "question"}, use="the question, and those of the two examples"
)
FROM_PASSAGE = Replaceable(
    template=RECALL_QUESTION_FROM_CONTEXT,
    slots={"context": "passage", "question": "question"},
    use="the question with its passages, and those of the two examples",
)
EXEMPLARS = (
    (
        "Blue paint and yellow paint, mixed in equal parts, make green paint.",
        "What color do you get when you mix blue and yellow paint?",
        "Green",
    ),
    ("A spider has eight legs and, unlike an insect, no wings.", "How many legs does a spider have?", "Eight"),
)
"""Passage, question and answer of our own, in none of the datasets; the study does not print its own."""


@dataclass(frozen=True, kw_only=True)
class Recall(Prompted):
    """Two-shot, cut at the first line break ("From Confidence to Collapse", section 3); closed book as in the study.

    The study's prompt is not printed; ours labels question and answer. Set generation.max_tokens to 5 as it does.
    With `k` passages both examples have a short passage too, under the same labels, and nothing else differs.
    """

    layout: Layout = "chat"
    """`chat`: examples as turns of a conversation, for instruct models; `plain`: labelled lines that go on."""
    k: int = 0
    """Passages to search for and show before the question; 0: closed book."""

    version: ClassVar[int] = 1
    first_line: ClassVar[bool] = True
    """The text after a line break never counts; curves must know."""
    wants: ClassVar[tuple[str, ...]] = ()
    prompts: ClassVar[tuple[Template, ...]] = (RECALL_QUESTION, RECALL_QUESTION_FROM_CONTEXT)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.layout not in ("chat", "plain"):
            raise ValueError(f"layout is {self.layout!r}, expected 'chat' or 'plain'.")
        if self.k < 0:
            raise ValueError(f"k is {self.k}, expected the number of passages, 0 for none.")

    def replaceable(self) -> Mapping[str, Replaceable]:
        return {"prompt": FROM_PASSAGE if self.k else FROM_MEMORY}

    @property
    def searches(self) -> bool:
        return self.k > 0

    def answer(self, wording: str) -> Steps:
        hits = (yield from search(wording, self.k)) if self.k else ()
        messages = self._messages(wording, document(hits, joined=True))
        reply = yield from converse(laid_out(messages, self.layout), layout=self.layout)
        return Answer(text=first_line(reply.text), hits=hits)

    def at_most(self, max_tokens: int) -> Effort:
        return Effort(n_calls=1, n_tokens=max_tokens, n_passages=self.k)

    def _messages(self, wording: str, passage: str) -> tuple[Message, ...]:
        turns = [(self._asked(question, given), answer) for given, question, answer in EXEMPLARS]
        shown = [m for q, a in turns for m in (Message(role="user", content=q), Message(role="assistant", content=a))]
        return (*shown, Message(role="user", content=self._asked(wording, passage)))

    def _asked(self, question: str, passage: str) -> str:
        return self.fill("prompt", question=question, **({"context": passage} if self.k else {}))


def first_line(text: str) -> str:
    return text.partition("\n")[0].strip()
