"""A few words become their opposites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from shaketable.perturbations.altered import Target, Which, sentence_rng
from shaketable.perturbations.word_forms import Choose, Exchange, Lookup, WordExchange
from shaketable.text import language
from shaketable.text.lexicon import Lexicon
from shaketable.types import Hit, Question


@dataclass(frozen=True, kw_only=True)
class Antonym(WordExchange):
    """Up to `m` words of each chosen sentence give way to the WordNet antonym of their first sense.

    RAG-Ex has a language model rewrite the sentence; here the change is exact and the same for everyone.
    """

    version: ClassVar[int] = 2

    m: int = 1
    """Words of a sentence at most; where more could change, they are drawn."""
    sentences: Which = "altered"
    lexicon: str | None = None
    """A file with the columns of the table that ships, or a WordNet folder; None: the table that ships."""
    pipeline: str = language.PIPELINE
    """Tags the words."""
    seed: int = 0

    def lookup(self, words: Lexicon) -> Lookup:
        return words.antonyms

    def choice(self, question: Question, hits: Sequence[Hit]) -> Choose:

        def choose(target: Target, possible: Sequence[Exchange]) -> list[Exchange]:
            return sentence_rng(self.seed, "antonym", question, target).sample(possible, min(self.m, len(possible)))

        return choose
