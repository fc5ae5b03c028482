"""The question as it is spoken: `Um, where was, no wait, when was Jaws released?`"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

from shaketable.prompts import REWORD_DISFLUENCY, Template
from shaketable.types import Question
from shaketable.variations.english.indirect import tidy
from shaketable.variations.english.insertions import (
    EDITS,
    Insertion,
    corrections,
    false_starts,
    fillers,
    repetitions,
    small_opening,
)
from shaketable.variations.english.plain_words import is_english
from shaketable.variations.gate.proposals import Proposal
from shaketable.variations.gate.refusal import Refusal
from shaketable.variations.gate.reworded import Reworded

Kind = Literal["filler", "repetition", "false_start", "correction"]
KINDS: tuple[Kind, ...] = get_args(Kind)
DISFLUENT = re.compile(
    rf"\b(?:u[mh]+|er+m?|hm+|you know|let me (?:think|see)|wait|actually|rather|{'|'.join(EDITS)}|no)\b|\b(\w+)\W+\1\b",
    re.IGNORECASE,
)
LEAST_WORDS = 3
APART = 12
"""Characters of the question between two disfluencies."""


@dataclass(frozen=True, kw_only=True)
class Disfluency(Reworded):
    """A spoken question: fillers, repetitions, false starts and corrections, and in the end what is meant.

    As people do it in Disfl-QA (Gupta et al., 2021): most name another thing of the same kind first, here from the
    documents of the question where these have one.
    """

    version: ClassVar[int] = 1
    prompts: ClassVar[tuple[Template, ...]] = (REWORD_DISFLUENCY,)
    is_natural: ClassVar[bool] = False
    works_by_words: ClassVar[bool] = True
    corrects_itself: ClassVar[bool] = True

    n: int = 2
    """Disfluencies of a wording: at most one repetition, false start or correction, and fillers."""
    kinds: tuple[str, ...] = KINDS

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n < 1:
            raise ValueError(f"n is {self.n}, expected 1 or more")
        if unknown := [kind for kind in self.kinds if kind not in KINDS]:
            raise ValueError(f"kinds has '{unknown[0]}'. Known kinds: {', '.join(KINDS)}.")

    def wordings(self, question: Question) -> Sequence[Proposal]:
        text = tidy(question.text)
        if len(text.split()) < LEAST_WORDS or not is_english(text):
            return []
        rng = self.dice(question)
        made = [self._spoken(question, text, rng) for _ in range(self.max_attempts)]
        return [proposal for proposal in made if proposal is not None]

    def checked(self, original: str, proposal: Proposal) -> Proposal:
        if DISFLUENT.search(proposal.text):
            return proposal
        refused = Refusal(kind="fluent", text="it is fluent: no filler, no repetition and no correction was found")
        return replace(proposal, refused=refused)

    def _spoken(self, question: Question, text: str, rng: random.Random) -> Proposal | None:
        repairs = {
            "repetition": list(repetitions(text, rng)),
            "false_start": list(false_starts(text, rng)),
            "correction": list(corrections(question, text, rng, None if self.by_words else self.pipeline)),
        }
        possible = [repairs[kind] for kind in repairs if kind in self.kinds and repairs[kind]]
        said = [rng.choice(rng.choice(possible))] if possible else []
        hesitations = list(fillers(text, rng)) if "filler" in self.kinds else []
        for filler in rng.sample(hesitations, len(hesitations)):
            if len(said) < self.n and all(_are_apart(filler, other) for other in said):
                said.append(filler)
        if not said:
            return None
        # A filler at the beginning comes before a false start.
        said.sort(key=lambda insertion: (insertion.place, insertion.kind != "filler"))
        return Proposal(text=spoken(text, said), facts={"kinds": [insertion.kind for insertion in said]})


def spoken(text: str, insertions: Sequence[Insertion]) -> str:
    """The question with what is said between its words, from left to right."""
    has_capital = next(filter(str.isalpha, text), "a").isupper()
    text = small_opening(text) if insertions[0].place == 0 else text
    made, end = "", 0
    for insertion in insertions:
        before = text[end : insertion.place]
        made += (before.rstrip() if insertion.text.startswith(",") else before) + insertion.text
        end = insertion.place
    return (made[:1].upper() + made[1:] if has_capital else made) + text[end:]


def _are_apart(filler: Insertion, other: Insertion) -> bool:
    is_opening = filler.place == 0 and other.place == 0 and other.kind != "filler"
    return (is_opening or abs(filler.place - other.place) >= APART) and filler.text != other.text
