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
from shaketable.variations.english.indirect import tidy
from shaketable.variations.english.plain_words import plain_words
from shaketable.variations.gate.meaning import Gate
from shaketable.variations.gate.refusal import Refusal, refuse

NATURAL = "natural"
SHARE_OF_COMMON = 0.5
"""How often a word that people commonly misspell is misspelled that way; else by a slip of the keyboard."""
WORD = re.compile(r"(\W)")
DETOKENIZED = (
    (re.compile(r"\s([.,:;?!%]+)([ '\"`])"), r"\1\2"),
    (re.compile(r"\s([.,:;?!%]+)$"), r"\1"),
    (re.compile(r"\s([\[({<])\s"), r" \1"),
    (re.compile(r"\s([\])}>])\s"), r"\1 "),
)
"""In this order; a mark at the end is drawn in before brackets are, so `(1996)?` becomes `(1996 )?`."""
Changes = list[Json]
"""Pairs of a word and what stands in its place."""


@dataclass(frozen=True, kw_only=True)
class Spelling:
    """One or two typing errors, as people make them: a letter swapped, missing, doubled or hit beside, or a common
    misspelling; or exactly what the SpellingAug of nlpaug 1.1.11 does.

    Names, numbers, negations and quotations keep their spelling, and no error makes another word. With a list of
    misspellings all of its words are drawn and exchanged instead, as nlpaug does, with its spaces around marks: `it's`
    becomes `it ' s`. The dice differ from nlpaug's (ours come from the seed and the question), and a word is never
    exchanged for itself, which its list would allow for 153 words.
    """

    version: ClassVar[int] = 3

    p: float = 0.07
    """The share of tokens to change, marks counted as tokens, rounded up: 0.07 leaves about 85 % of the search terms as
    they are; nlpaug's default is 0.3."""
    least: int = 1
    most: int = 10
    keep_numbers: bool = True
    """Refuse wordings that lost a number; the list of nlpaug knows a few."""
    misspellings: str = NATURAL
    """`natural`; or a list that is taken as it is: `nlpaug-misspellings`, as the published study, or the path of
    another, with a word and its misspellings on each line."""
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
        rng = random.Random(seed_from(self.seed, "spelling", question.id))
        misspell = self._naturally if self.misspellings == NATURAL else self._as_listed
        text, changes = misspell(question, rng)
        refusal: Refusal | None = Refusal(kind="nothing_to_misspell", text="no word of the question can be misspelled")
        if changes:
            gate = Gate(
                min_similarity=0, keep_numbers=self.keep_numbers, keep_names=False, asks=False, is_natural=False
            )
            refusal = gate.judge([question.text], [text])[0].refused
        variant = Variant(
            question_id=question.id,
            text=text,
            variation=catalog.label(self),
            provenance={"by": "rules", "changes": changes},
        )
        return refuse(variant, refusal)

    def _naturally(self, question: Question, rng: random.Random) -> tuple[str, Changes]:
        """Words are exchanged where they stand; all else stays. One who spells every name right gets half of the other
        words right, at least."""
        text = question.text
        text = tidy(text) if text.startswith('"') else text  # The whole question may stand in the marks of a CSV file.
        # A word that comes twice is misspelled once: `hte` in every place would be one error, not many.
        found = plain_words(text)
        words = {word[0].lower(): word for word in rng.sample(found, len(found))}
        possible = [
            word for lowered, word in words.items() if misspellings.common(lowered) or misspellings.typed(lowered)
        ]
        chosen = rng.sample(
            possible, min(self.n_changes(len(tokenized(text))), math.ceil(len(found) / 2), len(possible))
        )
        changes: Changes = []
        end, made = 0, ""
        for word in sorted(chosen, key=re.Match.start):
            after = _misspelling(word[0].lower(), rng)
            after = after.capitalize() if word[0][0].isupper() else after
            changes.append([word[0], after])
            end, made = word.end(), f"{made}{text[end : word.start()]}{after}"
        return made + text[end:], changes

    def _as_listed(self, question: Question, rng: random.Random) -> tuple[str, Changes]:
        text = question.text
        tokens = tokenized(text)
        possible = {place: others for place in range(len(tokens)) if (others := self._others(tokens, place))}
        chosen = sorted(rng.sample(sorted(possible), min(self.n_changes(len(tokens)), len(possible))))
        changes: Changes = []
        for place in chosen:
            after = rng.choice(possible[place])
            changes.append([tokens[place], after])
            tokens[place] = after
        return detokenized(tokens) if changes else text, changes

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


def _misspelling(word: str, rng: random.Random) -> str:
    common, typed = misspellings.common(word), misspellings.typed(word)
    return rng.choice(common if common and (not typed or rng.random() < SHARE_OF_COMMON) else typed)


def tokenized(text: str) -> list[str]:
    """Words and single marks, white space gone."""
    return [token for token in WORD.split(text.strip()) if token.strip()]


def detokenized(tokens: Sequence[str]) -> str:
    text = " ".join(tokens)
    for pattern, replacement in DETOKENIZED:
        text = pattern.sub(replacement, text)
    return text.strip()
