"""Some words of the question are misspelled, as people misspell them."""

from __future__ import annotations

import math
import random
import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from shaketable import catalog
from shaketable.identity import seed_from
from shaketable.types import Json, Question, Variant
from shaketable.variations.english import misspellings
from shaketable.variations.gate.meaning import Gate
from shaketable.variations.gate.refusal import Refusal, refuse

WORD = re.compile(r"(\W)")
DETOKENIZED = (
    (re.compile(r"\s([.,:;?!%]+)([ '\"`])"), r"\1\2"),
    (re.compile(r"\s([.,:;?!%]+)$"), r"\1"),
    (re.compile(r"\s([\[({<])\s"), r" \1"),
    (re.compile(r"\s([\])}>])\s"), r"\1 "),
)
"""In this order; a mark at the end is drawn in before brackets are, so `(1996)?` becomes `(1996 )?`."""


@dataclass(frozen=True, kw_only=True)
class Spelling:
    """As the SpellingAug of nlpaug 1.1.11: words that stand in its list of misspellings, drawn and exchanged.

    The dice differ (ours come from the seed and the question), and a word is never exchanged for itself, which the
    list would allow for 153 words. Spaces around marks change as they do there: `it's` becomes `it ' s`.
    """

    version: ClassVar[int] = 1

    p: float = 0.3
    """The share of tokens to change, marks counted as tokens, rounded up."""
    least: int = 1
    most: int = 10
    keep_numbers: bool = True
    """Refuse wordings that lost a number; the list knows a few."""
    misspellings: str = misspellings.NAME
    """The embedded list, or the path of another: a word and its misspellings on each line."""
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.p <= 1:
            raise ValueError(f"p is {self.p}, expected a share from 0 to 1")
        if not 1 <= self.least <= self.most:
            raise ValueError(f"least is {self.least} and most is {self.most}, expected 1 <= least <= most")

    def vary(self, questions: Sequence[Question]) -> list[list[Variant]]:
        return [[self._misspelled(question)] for question in questions]

    def n_changes(self, n_tokens: int) -> int:
        """How many tokens change, if so many can."""
        return min(max(math.ceil(self.p * n_tokens), self.least), self.most)

    def _misspelled(self, question: Question) -> Variant:
        tokens = tokenized(question.text)
        rng = random.Random(seed_from(self.seed, "spelling", question.id))
        possible = {place: others for place in range(len(tokens)) if (others := self._others(tokens, place))}
        chosen = sorted(rng.sample(sorted(possible), min(self.n_changes(len(tokens)), len(possible))))
        changes: list[Json] = []
        for place in chosen:
            after = rng.choice(possible[place])
            changes.append([tokens[place], after])
            tokens[place] = after
        text = detokenized(tokens) if changes else question.text
        refusal: Refusal | None = Refusal(
            kind="nothing_to_misspell", text="no word of the question is in the list of misspellings"
        )
        if changes:
            gate = Gate(min_similarity=0, keep_numbers=self.keep_numbers, keep_names=False, asks=False)
            refusal = gate.judge([question.text], [text])[0].refused
        variant = Variant(
            question_id=question.id,
            text=text,
            variation=catalog.label(self),
            provenance={"by": "rules", "changes": changes},
        )
        return refuse(variant, refusal)

    def _others(self, tokens: Sequence[str], place: int) -> list[str]:
        token = tokens[place]
        if token in string.punctuation:
            return []
        others = misspellings.load(self.misspellings).get(token, ())
        # A first word with a capital keeps it.
        if (
            place == 0
            and token[:1].isupper()
            and (len(token) == 1 or not token.isupper())
            and token[1:] == token[1:].lower()
        ):
            others = tuple(other.capitalize() if other.islower() else other for other in others)
        return [other for other in dict.fromkeys(others) if other != token]


def tokenized(text: str) -> list[str]:
    """Words and single marks, white space gone."""
    return [token for token in WORD.split(text.strip()) if token.strip()]


def detokenized(tokens: Sequence[str]) -> str:
    text = " ".join(tokens)
    for pattern, replacement in DETOKENIZED:
        text = pattern.sub(replacement, text)
    return text.strip()
