"""The same words in another order, sentence by sentence."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from shaketable.perturbations.altered import (
    Which,
    choose_targets,
    disturbed,
    rewrite,
    sentence_rng,
    share_of,
    split_end,
)
from shaketable.perturbations.checks import check_choice, check_share
from shaketable.types import Edit, Evidence, Hit, Question

Mode = Literal["swap", "shuffle"]


@dataclass(frozen=True, kw_only=True)
class WordReordering:
    """`swap`: ceil(p·n/2) pairs of neighboring words change places; no word is in two pairs, so n//2 at most.
    `shuffle`: ceil(p·n) words, two at least, are dealt again among their places.

    Words are what stands between spaces; punctuation at the end of a sentence stays there. RAG-Ex swaps with p = 1.
    """

    version: ClassVar[int] = 2

    mode: Mode = "swap"
    p: float = 1.0
    sentences: Which = "altered"
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("mode", self.mode, Mode)
        check_choice("sentences", self.sentences, Which)
        check_share("p", self.p)

    def perturb(self, questions: Sequence[Question], hits: Sequence[Sequence[Hit]]) -> list[Evidence]:
        return [self._reordered(question, own) for question, own in zip(questions, hits, strict=True)]

    def _reordered(self, question: Question, hits: Sequence[Hit]) -> Evidence:
        if self.p == 0:
            return Evidence(hits=tuple(hits))
        targets, flags = choose_targets(question, hits, self.sentences)
        edits: list[Edit] = []
        for target in targets:
            text = self._reorder(target.sentence.text, sentence_rng(self.seed, "word_reordering", question, target))
            if text != target.sentence.text:
                edits.append(rewrite(target, text, self.mode))
        if len(edits) < len(targets):
            flags.append("partly_reordered" if edits else "nothing_to_reorder")
        return disturbed(hits, edits, flags)

    def _reorder(self, text: str, rng: random.Random) -> str:
        body, end = split_end(text)
        words = body.split()
        if len(words) < 2:
            return text
        reordered = iter(self._swapped(words, rng) if self.mode == "swap" else self._shuffled(words, rng))
        return re.sub(r"\S+", lambda _: next(reordered), body) + end

    def _swapped(self, words: list[str], rng: random.Random) -> list[str]:
        n_swaps = min(share_of(self.p / 2, len(words)), len(words) // 2)
        # Each choice of places for the pairs among pairs and single words is as likely.
        slots = sorted(rng.sample(range(len(words) - n_swaps), n_swaps))
        words = list(words)
        for n_before, slot in enumerate(slots):
            left = slot + n_before
            words[left], words[left + 1] = words[left + 1], words[left]
        return words

    def _shuffled(self, words: list[str], rng: random.Random) -> list[str]:
        n_dealt = max(2, share_of(self.p, len(words)))
        dealt = list(words)
        if len(set(words)) > 1:
            while dealt == words:
                places = sorted(rng.sample(range(len(words)), n_dealt))
                for i, word in zip(places, rng.sample([words[i] for i in places], n_dealt), strict=True):
                    dealt[i] = word
        return dealt
