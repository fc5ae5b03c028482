"""Words that mean nothing here come in between."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from shaketable.identity import seed_from
from shaketable.perturbations.altered import Target, Which, choose_targets, disturbed, insert, rewrite, sentence_rng
from shaketable.perturbations.checks import check_choice, check_count
from shaketable.text import lexicon
from shaketable.types import Edit, Evidence, Hit, Question


@dataclass(frozen=True, kw_only=True)
class RandomNoise:
    """Put `r` random words into each chosen sentence, each gap between two words as likely for each.

    Names, numbers with their unit, and reference answers are not torn apart. RAG-Ex adds 2 words to each unit.
    """

    version: ClassVar[int] = 2

    r: int = 2
    """Words for each sentence."""
    around: bool = False
    """Also `r` words before and `r` after each passage with a chosen sentence, as sentences of their own."""
    inside_names: bool = field(default=False, metadata={"in_key_when_given": True})
    """Also between the words of a name, a number and its unit, or a reference answer."""
    sentences: Which = "altered"
    lexicon: str | None = None
    """A file of one word a line, or a WordNet folder; None: the words that ship."""
    seed: int = 0

    def __post_init__(self) -> None:
        check_count("r", self.r)
        check_choice("sentences", self.sentences, Which)

    def contents(self) -> dict[str, str]:
        return lexicon.contents(self.lexicon)

    def perturb(self, questions: Sequence[Question], hits: Sequence[Sequence[Hit]]) -> list[Evidence]:
        return [self._noisy(question, own) for question, own in zip(questions, hits, strict=True)]

    def _noisy(self, question: Question, hits: Sequence[Hit]) -> Evidence:
        if self.r == 0:
            return Evidence(hits=tuple(hits))
        targets, flags = choose_targets(question, hits, self.sentences)
        edits = [
            self._between(question, target, sentence_rng(self.seed, "random_noise", question, target))
            for target in targets
        ]
        if self.around:
            edits += self._around(question, hits, targets)
        return disturbed(hits, edits, flags)

    def _between(self, question: Question, target: Target, rng: random.Random) -> Edit:
        text, noise = target.sentence.text, self._draw(rng)
        whole = [] if self.inside_names else list(_whole_spans(question, text))
        starts = [word.start() for word in re.finditer(r"\S+", text)][1:]
        possible = [gap for gap in starts if not any(start < gap < end for start, end in whole)]
        # Where there is no gap, as in one word alone, the noise goes first, so that final punctuation stays final.
        gaps = sorted(rng.choice(possible or [0]) for _ in noise)
        for gap, word in reversed(list(zip(gaps, noise, strict=True))):
            text = f"{text[:gap]}{word} {text[gap:]}"
        return rewrite(target, text, f"noise {' '.join(noise)}")

    def _around(self, question: Question, hits: Sequence[Hit], targets: Sequence[Target]) -> list[Edit]:
        ids = {target.sentence.id for target in targets}
        edits: dict[str, Edit] = {}
        for hit in hits:
            sentences = hit.passage.sentences
            if ids.isdisjoint(sentence.id for sentence in sentences):
                continue
            rng = random.Random(seed_from(self.seed, "random_noise around", question.id, sentences[0].id))
            for edit in (
                insert(" ".join(self._draw(rng)), "before", sentences[0]),
                insert(" ".join(self._draw(rng)), "after", sentences[-1]),
            ):
                edits.setdefault(edit.sentence_id, edit)
        return list(edits.values())

    def _draw(self, rng: random.Random) -> list[str]:
        words = lexicon.vocabulary(self.lexicon).words
        return [rng.choice(words) for _ in range(self.r)]


NAMES = re.compile(
    r"(?:[A-Z][\w'’.-]*|\d[\d.,:]*)(?:\s+(?:(?:of|the|de|der|den|la|von|van)\s+)*(?:[A-Z][\w'’.-]*|\d[\d.,:]*))+"
)
QUANTITIES = re.compile(r"\d[\d.,:]*\s+\w+")


def _whole_spans(question: Question, text: str) -> Iterator[tuple[int, int]]:
    """Where reference answers, names, and numbers with what they count stand."""
    answers = [r"\s+".join(map(re.escape, answer.split())) for answer in question.answers if answer.strip()]
    for pattern in (NAMES, QUANTITIES, *(re.compile(answer, re.IGNORECASE) for answer in answers)):
        yield from (match.span() for match in pattern.finditer(text))
