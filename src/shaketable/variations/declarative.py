"""The question as a statement: `I would like to know where Rome is.`"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from shaketable.prompts import REWORD_DECLARATIVE, Template
from shaketable.types import Question
from shaketable.variations.english.indirect import Shape, framed
from shaketable.variations.gate.proposals import Proposal
from shaketable.variations.gate.refusal import Refusal
from shaketable.variations.gate.reworded import RULES, Reworded

WISHES = (
    "I would like to know",
    "I want to know",
    "I need to know",
    "I would like to find out",
    "I am trying to find out",
    "I am curious to know",
    "I would be interested to know",
    "It would help me to know",
)
WONDERING = ("I wonder", "I am wondering", "I have been wondering")
"""Before a clause alone: nobody wonders a noun."""
WISH = re.compile(
    r"\b(?:know|learn|find out|figure out|hear|wonder\w*|curious|interested|like|wish|want|need|looking for|asking)\b",
    re.IGNORECASE,
)
"""Models answer in a statement, which is none of the wish to know."""
FRAMES: dict[Shape, tuple[str, ...]] = {
    "clause": tuple(f"{opening} {{text}}." for opening in (*WISHES, *WONDERING)),
    "noun": tuple(f"{opening} {{text}}." for opening in WISHES),
    "command": ("I would like you to {text}.", "I want you to {text}.", "I need you to {text}."),
    "whole": (
        "I would like to know the answer to this question: {text}",
        "I want to know the answer to the following question: {text}",
        "I am looking for the answer to this question: {text}",
        "I am trying to find the answer to the following question: {text}",
        "I need the answer to this question: {text}",
        "This is what I would like to know: {text}",
    ),
}


@dataclass(frozen=True, kw_only=True)
class Declarative(Reworded):
    """A statement of the wish to know, with the word order of statements."""

    version: ClassVar[int] = 4
    prompts: ClassVar[tuple[Template, ...]] = (REWORD_DECLARATIVE,)

    def wordings(self, question: Question) -> Sequence[Proposal]:
        return framed(question.text, self.pipeline, FRAMES, self.dice(question))

    def checked(self, original: str, proposal: Proposal) -> Proposal:
        if self.by == RULES:  # A question that is quoted ends as one.
            return proposal
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
