"""A few words become their opposites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from shaketable.perturbations.altered import Target, Which, dice
from shaketable.perturbations.checks import check_choice, check_count
from shaketable.perturbations.word_forms import Exchange, exchange_words
from shaketable.text import language, lexicon
from shaketable.types import Evidence, Hit, Question


@dataclass(frozen=True, kw_only=True)
class Antonym:
    """Up to `m` words of each chosen sentence give way to the WordNet antonym of their first sense.

    RAG-Ex has a language model rewrite the sentence; here the change is exact and the same for everyone.
    """

    version: ClassVar[int] = 1

    m: int = 1
    """Words of a sentence at most; where more could change, they are drawn."""
    sentences: Which = "altered"
    lexicon: str | None = None
    """A WordNet folder; None: the table that ships."""
    pipeline: str = language.PIPELINE
    """Tags the words."""
    seed: int = 0

    def __post_init__(self) -> None:
        check_count("m", self.m)
        check_choice("sentences", self.sentences, Which)

    def lacks(self) -> str | None:
        return language.lacks(self.pipeline)

    def perturb(self, questions: Sequence[Question], hits: Sequence[Sequence[Hit]]) -> list[Evidence]:
        return [self._opposed(question, found) for question, found in zip(questions, hits, strict=True)]

    def _opposed(self, question: Question, hits: Sequence[Hit]) -> Evidence:
        if self.m == 0:
            return Evidence(hits=tuple(hits))
        words = lexicon.load(self.lexicon)

        def choose(target: Target, possible: Sequence[Exchange]) -> list[Exchange]:
            return dice(self.seed, "antonym", question, target).sample(possible, min(self.m, len(possible)))

        return exchange_words(
            question,
            hits,
            sentences=self.sentences,
            pipeline=self.pipeline,
            lexicon=words,
            lookup=words.antonyms,
            choose=choose,
        )
