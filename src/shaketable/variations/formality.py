"""The question in casual words: `hey, any idea who's the guy behind Jaws?`"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from shaketable.prompts import REWORD_FORMALITY, Template
from shaketable.types import Question
from shaketable.variations.english.indirect import indirect, tidy
from shaketable.variations.english.substitution import parse_table, substituted
from shaketable.variations.gate.refusal import Refusal
from shaketable.variations.gate.reworded import Proposal, Reworded

OPENERS = ("Hey, ", "So, ", "Yo, ", "Ok so, ", "Hey there, ", "Hmm, ", "Quick one: ", "Alright, ")
FRAMES = (
    "any idea {text}?",  # needs a question word
    "do you know {text}?",
    "d'you know {text}?",
    "you happen to know {text}?",
    "can you tell me {text}?",
    "gotta ask, do you know {text}?",
    "wanna tell me {text}?",
    "just wondering, do you know {text}?",
)
CASUAL = parse_table("""
N film: movie, flick
N movie: flick
N child: kid
N father: dad
N mother: mom
N grandfather: grandpa
N grandmother: grandma
N television: TV
N photograph: pic
N individual: person
V receive: get
V obtain: get
V acquire: get
V reside: live
V commence: kick off
V establish: set up
V found: set up
V purchase: buy
V portray: play
V participate: take part
V defeat: beat
V depart: leave
* currently: right now
* approximately: around
* numerous: lots of
* whom: who
""")
NO_CONTRACTION = "not|the case|at|in|on|for|to|from|of|between"
"""What `is` does not lean on: how much there is in it."""
CONTRACTIONS = (
    (rf"\b(who|what|where|that|there|he|she|it|how) is\b(?! (?:{NO_CONTRACTION})\b)(?=\s+\w)", r"\1's"),
    (r"\b(is|are|was|were|do|does|did|has|have|had|could|would|should) not\b", r"\1n't"),
    (r"\bcannot\b|\bcan not\b", "can't"),
    (r"\bgoing to (?=(?:be|become|come|die|get|happen|have|make|play|win)\b)", "gonna "),
    (r"\bwant to\b", "wanna"),
    (r"\balso known as\b", "aka"),
    (r"\bin which year\b", "what year"),
    (r"\bin what year\b", "what year"),
    (r"\b(in|on|at|for|from) which (?=[a-z])", r"\1 what "),
    (r"\bprior to\b", "before"),
)


@dataclass(frozen=True, kw_only=True)
class Formality(Reworded):
    """A very informal question: a casual opening, everyday words, contractions."""

    version: ClassVar[int] = 2
    prompts: ClassVar[tuple[Template, ...]] = (REWORD_FORMALITY,)

    def wordings(self, question: Question) -> Sequence[Proposal]:
        if not tidy(question.text).strip(" ?.!"):
            return []
        rng = self.dice(question)
        return [self._casual(question.text, rng, framed) for framed in (True, True, False, False, False)]

    def checked(self, original: str, proposal: Proposal) -> Proposal:
        lost = "?" in original and "?" not in proposal.text
        return (
            replace(proposal, refused=Refusal(kind="no_question_any_more", text="it is no question any more"))
            if lost
            else proposal
        )

    def _casual(self, text: str, rng: random.Random, framed: bool) -> Proposal:
        turned = indirect(text, self.pipeline)
        opener, frame = rng.choice(OPENERS), rng.choice(FRAMES if turned.shape == "clause" else FRAMES[1:])
        if framed and turned.shape in ("clause", "noun"):
            lead, rule = turned.lead, f"{opener}{frame}"
            casual, exchanges = substituted(turned.text, CASUAL, rng, self.pipeline)
            made = f"{lead}{opener}{frame.format(text=_contracted(casual))}"
        else:
            rule = opener
            asked = tidy(text).rstrip(" ?.!")
            casual, exchanges = substituted(asked, CASUAL, rng, self.pipeline)
            mark = "?" if turned.shape != "command" or "?" in text else ""
            made = f"{opener}{_small(_contracted(casual))}{mark}"
        return Proposal(text=made, facts={"rule": rule.strip(), "exchanges": list(exchanges)})


def _contracted(text: str) -> str:
    for pattern, replacement in CONTRACTIONS:
        text = re.sub(pattern, replacement, text, flags=re.IGNORECASE)
    return text


def _small(text: str) -> str:
    """A question word in front loses its capital; a name keeps it."""
    first = text.split(" ", 1)[0]
    common = re.fullmatch(
        r"(?:wh\w+|how|in|on|at|for|from|the|a|an|is|are|was|were|do|does|did|has|have|had|can|name|complete)(?:'s)?",
        first,
        re.I,
    )
    return text[:1].lower() + text[1:] if common else text
