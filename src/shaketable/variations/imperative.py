"""The question as a command: `Tell me where Rome is.`"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from shaketable.prompts import REWORD_IMPERATIVE, Template
from shaketable.text import language
from shaketable.types import Question
from shaketable.variations.english.indirect import AUXILIARIES, SENTENCE_END, Shape, framed
from shaketable.variations.gate.proposals import Proposal
from shaketable.variations.gate.refusal import Refusal
from shaketable.variations.gate.reworded import RULES, Reworded

OPENINGS = ("Tell me", "Please tell me", "Let me know", "Please let me know", "Find out", "Please find out")
FRAMES: dict[Shape, tuple[str, ...]] = {
    "clause": tuple(f"{opening} {{text}}." for opening in OPENINGS),
    "noun": tuple(f"{opening} {{text}}." for opening in OPENINGS if "let" not in opening.lower()),
    "command": ("Please {text}.", "Kindly {text}."),
    "whole": (
        "Answer this question: {text}",
        "Please answer the following question: {text}",
        "Tell me the answer to this question: {text}",
        "Please tell me the answer to this question: {text}",
        "Find the answer to the following question: {text}",
        "Give me the answer to this question: {text}",
    ),
}
COMMANDS = frozenset({"answer", "find", "give", "identify", "list", "name", "say", "specify", "state", "tell"})
"""Some of which taggers take for nouns."""
POLITE = frozenset({"please", "kindly", "just", "then", "now", "now,", "so", ","})


@dataclass(frozen=True, kw_only=True)
class Imperative(Reworded):
    """A command or a request that names what is to be told."""

    version: ClassVar[int] = 4
    prompts: ClassVar[tuple[Template, ...]] = (REWORD_IMPERATIVE,)

    def wordings(self, question: Question) -> Sequence[Proposal]:
        return framed(question.text, self.pipeline, FRAMES, self.dice(question))

    def checked(self, original: str, proposal: Proposal) -> Proposal:
        if self.by == RULES or is_command(proposal.text, self.pipeline):
            return proposal
        return replace(
            proposal,
            refused=Refusal(kind="no_command", text="it is no command, expected a verb at the beginning"),
        )


def is_command(text: str, pipeline: str = language.PIPELINE) -> bool:
    """Return whether the last sentence, or the first, opens with the basic form of a verb: `Tell me who won?` too."""
    sentences = SENTENCE_END.split(text.strip())
    return any(_opens_with_verb(sentence, pipeline) for sentence in (sentences[0], sentences[-1]))


def _opens_with_verb(sentence: str, pipeline: str) -> bool:
    # Taggers take a capital for a name.
    lowered = sentence[:1].lower() + sentence[1:]
    words = [word for word in language.parsed(lowered, pipeline) if word.lower_ not in POLITE and word.text.strip()]
    if not words or words[0].lower_ in AUXILIARIES:
        return False
    return words[0].lower_ in COMMANDS or (words[0].tag_ in ("VB", "VBP") and words[0].lower_ == words[0].lemma_)
