"""The question in words and clauses that are hard to read."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from shaketable.prompts import REWORD_READABILITY, Template
from shaketable.types import Question
from shaketable.variations.english import academic
from shaketable.variations.english.indirect import SENTENCE_END, tidy
from shaketable.variations.english.reading_ease import reading_ease
from shaketable.variations.english.substitution import substituted
from shaketable.variations.gate.proposals import Proposal
from shaketable.variations.gate.refusal import Refusal
from shaketable.variations.gate.reworded import Reworded

Strength = Literal["mild", "strong"]


@dataclass(frozen=True, kw_only=True)
class Readability(Reworded):
    """Less readable: the question made harder to read than the original, by academic words, nouns and passives."""

    version: ClassVar[int] = 4
    prompts: ClassVar[tuple[Template, ...]] = (REWORD_READABILITY,)

    strength: Strength = "strong"
    """`mild`: words and question words alone; `strong`: clauses too. For the rules; a model is not told."""
    max_ease: float = 60.0
    """Flesch reading ease at most; a wording must also be harder than its original."""

    def __post_init__(self) -> None:
        Reworded.__post_init__(self)
        if self.strength not in ("mild", "strong"):
            raise ValueError(f"strength is {self.strength!r}, expected 'mild' or 'strong'")

    def wordings(self, question: Question) -> Sequence[Proposal]:
        asked, mark = academic.parted(tidy(question.text))
        if asked.isupper() or SENTENCE_END.search(asked):
            return []
        rng = self.dice(question)
        made = [self._harder(text, rule, mark, rng) for text, rule in self._turned(asked)]
        changed = [proposal for proposal in made if proposal.text != asked + mark]
        changed += [
            replace(proposal, text=led, facts={**proposal.facts, "rule": f"{proposal.facts['rule']}, led"})
            for proposal in changed
            if (led := academic.led(proposal.text, rng))
        ]
        # Attempts are few, so what is hard enough goes first, and what changes most before the rest.
        limit = min(self.max_ease, reading_ease(question.text))
        return sorted(changed, key=lambda proposal: reading_ease(proposal.text) >= limit)

    def checked(self, original: str, proposal: Proposal) -> Proposal:
        before, after = round(reading_ease(original), 1), round(reading_ease(proposal.text), 1)
        marked = replace(proposal, facts={**proposal.facts, "reading_ease": [before, after]})
        if "?" in original and "?" not in proposal.text:
            return replace(marked, refused=Refusal(kind="no_question_any_more", text="it is no question any more"))
        if after >= min(self.max_ease, before):
            reason = f"reading ease {after}, expected less than {min(self.max_ease, before)}"
            return replace(marked, refused=Refusal(kind="too_easy_to_read", text=reason))
        return marked

    def _turned(self, asked: str) -> Iterator[tuple[str, str]]:
        if self.strength == "strong":
            yield from ((text, "clause") for text in academic.turned(asked))
        yield from ((text, "words" if text == asked else "opening") for text in academic.opened(asked))

    def _harder(self, text: str, rule: str, mark: str, rng: random.Random) -> Proposal:
        # In a question without capitals nobody can tell a title from a sentence.
        wary = text.islower()
        harder, exchanges = substituted(
            text if wary else academic.rephrased(text), academic.words(), rng, self.pipeline, wary=wary
        )
        return Proposal(text=harder + mark, facts={"rule": rule, "exchanges": list(exchanges)})
