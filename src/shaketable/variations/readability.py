"""The question in words that are hard to read."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from shaketable.prompts import REWORD_READABILITY, Template
from shaketable.types import Question
from shaketable.variations.english.indirect import indirect, tidy
from shaketable.variations.english.reading_ease import reading_ease
from shaketable.variations.english.substitution import parse_table, substituted
from shaketable.variations.gate.refusal import Refusal
from shaketable.variations.gate.reworded import Proposal, Reworded

FRAMES = (
    "Would it be possible to ascertain {text}?",
    "Would it be practicable to determine with precision {text}?",
    "Is it feasible to establish definitively {text}?",
    "Might it be possible to specify {text}?",
    "Could an authoritative indication be furnished regarding {text}?",
    "Could an authoritative determination be communicated regarding {text}?",
)
WHOLE = (
    "Could an authoritative determination be communicated regarding the following inquiry: {text}?",
    "Could an authoritative indication be furnished in response to the following inquiry: {text}?",
)
COMMAND = ("Would it be a practicable proposition to {text}?", "Could an authoritative person be requested to {text}?")
ACADEMIC = parse_table("""
N film: motion picture, cinematographic production
N movie: motion picture, cinematographic production
N song: musical composition
N book: literary publication
N country: sovereign nation
N city: municipality
N town: municipality
N job: occupation
N name: designation, appellation
N child: offspring
N father: paternal progenitor
N mother: maternal progenitor
N wife: spouse
N husband: spouse
N person: individual
N man: male individual
N woman: female individual
N kind: category
N type: category
N death: demise
N band: musical ensemble
N actor: performing artist
N team: athletic organization
N company: commercial enterprise
N school: educational institution
V write: compose
V start: commence
V begin: commence
V buy: purchase, acquire
V use: utilize
V build: construct
V locate: situate
V own: possess
* also: additionally
* currently: at the present juncture
""")
PERSONAL = (
    "is|was|has been|directed|wrote|sang|sings|plays|voices?|voiced|composed|invented|discovered|painted|designed|"
    "portrayed|portrays|starred|married|hosts?|hosted|narrates|said|shot|assassinated"
)
"""Verbs whose subject is one person."""
ASKED = (
    # Not teams, firms and countries: who won, who did they gain independence from.
    (rf"^(who)(?= (?:{PERSONAL})\b)", "which individual"),
    (r"^(whose)\b", "which individual's"),
    (r"^(when)\b(?!.*\b(?:first|last|next) time\b)", "at what point in time"),
    (r"^(where)\b(?!.*\b(?:from|to)\W*$)", "in what location"),
    (r"^(why)\b", "for what reason"),
    (r"^(how many)\b", "what numerical quantity of"),
    (r"^(how much)\b", "what quantity of"),
)
"""Question words at the beginning of a clause."""
TWO_PREPOSITIONS = re.compile(r"\bregarding (?:at|by|during|for|from|in|of|on|since|to|under|with)\b")
"""Nobody writes `regarding at what point in time`."""


@dataclass(frozen=True, kw_only=True)
class Readability(Reworded):
    """A question that is harder to read than the original, by academic words and circumlocution."""

    version: ClassVar[int] = 2
    prompts: ClassVar[tuple[Template, ...]] = (REWORD_READABILITY,)

    max_ease: float = 60.0
    """Flesch reading ease at most; a wording must also be harder than its original."""

    def wordings(self, question: Question) -> Sequence[Proposal]:
        asked = tidy(question.text)
        if not asked.strip(" ?.!"):
            return []
        rng = self.dice(question)
        plain = self._harder(asked.rstrip(" ?.!"), rng, "{text}?")
        made = [plain] if plain.text != asked else []
        turned = indirect(asked, self.pipeline)
        fitting = {"whole": WHOLE, "command": COMMAND}.get(turned.shape, FRAMES)
        frames = [turned.lead + frame for frame in rng.sample(fitting, len(fitting))]
        made += [self._harder(turned.text, rng, frame) for frame in frames[:2]]
        # Plain words in a hard frame stay nearer to the original.
        made += [self._harder(turned.text, rng, frame, exchange=False) for frame in frames]
        # Attempts are few, so what is hard enough goes first.
        limit = min(self.max_ease, reading_ease(question.text))
        made = [proposal for proposal in made if not TWO_PREPOSITIONS.search(proposal.text)]
        return sorted(made, key=lambda proposal: reading_ease(proposal.text) >= limit)

    def checked(self, original: str, proposal: Proposal) -> Proposal:
        before, after = round(reading_ease(original), 1), round(reading_ease(proposal.text), 1)
        marked = replace(proposal, facts={**proposal.facts, "reading_ease": [before, after]})
        if "?" in original and "?" not in proposal.text:
            return replace(marked, refused=Refusal(kind="no_question_any_more", text="it is no question any more"))
        if after >= min(self.max_ease, before):
            reason = f"reading ease {after}, expected less than {min(self.max_ease, before)}"
            return replace(marked, refused=Refusal(kind="too_easy_to_read", text=reason))
        return marked

    def _harder(self, text: str, rng: random.Random, frame: str, *, exchange: bool = True) -> Proposal:
        harder, exchanges = substituted(text, ACADEMIC if exchange else {}, rng, self.pipeline)
        for pattern, words in ASKED if exchange else ():
            harder = re.sub(pattern, words, harder, count=1, flags=re.IGNORECASE)
        made = frame.format(text=harder)
        if text[:1].isupper():
            made = made[:1].upper() + made[1:]
        return Proposal(text=made, facts={"rule": frame, "exchanges": list(exchanges)})
