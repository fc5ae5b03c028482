"""The question as a statement: `I would like to know where Rome is.`"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from shaketable.prompts import REWORD_DECLARATIVE, Template
from shaketable.types import Question
from shaketable.variations.english.indirect import Shape, framed
from shaketable.variations.gate.refusal import Refusal
from shaketable.variations.gate.reworded import Proposal, Reworded

OPENINGS = (
    "I would like to know",
    "I want to know",
    "I need to know",
    "I would like to find out",
    "I am trying to find out",
    "I am curious to know",
    "I would be interested to know",
    "It would help me to know",
)
WISH = re.compile(
    r"\b(?:know|learn|find out|figure out|hear|wonder\w*|curious|interested|like|wish|want|need|looking for|asking)\b",
    re.IGNORECASE,
)
"""Models answer in a statement, which is none of the wish to know."""
FRAMES: dict[Shape, str] = {
    "clause": "{opening} {text}.",
    "noun": "{opening} {text}.",
    "command": "I would like you to {text}.",
    "whole": "{opening} the answer to {text}.",
}


@dataclass(frozen=True, kw_only=True)
class Declarative(Reworded):
    """A statement of the wish to know, with the word order of statements."""

    version: ClassVar[int] = 2
    prompts: ClassVar[tuple[Template, ...]] = (REWORD_DECLARATIVE,)

    def wordings(self, question: Question) -> Sequence[Proposal]:
        return framed(question.text, self.pipeline, self.dice(question).sample(OPENINGS, len(OPENINGS)), FRAMES)

    def checked(self, original: str, proposal: Proposal) -> Proposal:
        if proposal.text.rstrip("\"'”’) ").endswith("?"):
            return replace(
                proposal, refused=Refusal(kind="ends_as_a_question", text="it ends as a question, expected a statement")
            )
        if not WISH.search(proposal.text):
            return replace(
                proposal,
                refused=Refusal(kind="states_something", text="it states something, expected the wish to know"),
            )
        return proposal
