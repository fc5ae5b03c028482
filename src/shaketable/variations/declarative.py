"""The question as a statement: `I would like to know where Rome is.`"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from shaketable.prompts import REWORD_DECLARATIVE, Template
from shaketable.types import Question
from shaketable.variations.indirect import indirect, tidy
from shaketable.variations.reworded import Proposal, Reworded

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
FRAMES = {
    "clause": "{opening} {text}.",
    "noun": "{opening} {text}.",
    "command": "I would like you to {text}.",
    "whole": "{opening} the answer to this: {text}.",
}


@dataclass(frozen=True, kw_only=True)
class Declarative(Reworded):
    """A statement of the wish to know, with the word order of statements."""

    version: ClassVar[int] = 1
    prompts: ClassVar[tuple[Template, ...]] = (REWORD_DECLARATIVE,)

    def wordings(self, question: Question) -> Sequence[Proposal]:
        if not tidy(question.text).strip(" ?.!"):
            return []
        turned = indirect(question.text, self.pipeline)
        openings = self.dice(question).sample(OPENINGS, len(OPENINGS))
        return [
            Proposal(
                text=turned.lead + FRAMES[turned.shape].format(opening=opening, text=turned.text),
                facts={"rule": f"{turned.shape} after '{opening}'"},
            )
            for opening in openings
        ]

    def checked(self, original: str, proposal: Proposal) -> Proposal:
        asks = proposal.text.rstrip("\"'”’) ").endswith("?")
        return replace(proposal, refused="it ends as a question, expected a statement") if asks else proposal
