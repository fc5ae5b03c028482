"""A few words become others that mean the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from shaketable.perturbations.altered import Target, Which, sentence_rng
from shaketable.perturbations.word_forms import Choose, Exchange, Lookup, WordExchange
from shaketable.text import language
from shaketable.text.lexicon import Lexicon
from shaketable.text.ranking import Documents
from shaketable.types import Hit, Question


@dataclass(frozen=True, kw_only=True)
class Synonym(WordExchange):
    """Exchange up to `m` words of each chosen sentence for a synonym, where both words have nearly always that sense.

    Stop words, names, units, numbers and words with fewer than 4 letters stay. RAG-Ex has a language model rewrite the
    sentence; here the change is exact.
    """

    version: ClassVar[int] = 2

    m: int = 1
    """Words of a sentence at most; where more could change, they are drawn."""
    important_only: bool = False
    """Take the words that are rarest in the record's documents, by idf, instead of drawing; equal ones in order."""
    sentences: Which = "altered"
    lexicon: str | None = None
    """A file with the columns of the table that ships, or a WordNet folder; None: the table that ships."""
    pipeline: str = language.PIPELINE
    """Tags the words."""
    seed: int = 0

    def lookup(self, words: Lexicon) -> Lookup:
        return words.synonyms

    def choice(self, question: Question, hits: Sequence[Hit]) -> Choose:
        documents = Documents.of([passage.text for passage in question.documents or [hit.passage for hit in hits]])

        def choose(target: Target, possible: Sequence[Exchange]) -> list[Exchange]:
            possible = [exchange for exchange in possible if exchange.before.lower() not in language.stop_words()]
            if self.important_only:
                return sorted(possible, key=lambda exchange: -documents.idf(exchange.before.casefold()))[: self.m]
            return sentence_rng(self.seed, "synonym", question, target).sample(possible, min(self.m, len(possible)))

        return choose
