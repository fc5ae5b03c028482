"""The same passages in another order."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from shaketable.identity import seed_from
from shaketable.perturbations.altered import disturbed, is_gold, move
from shaketable.perturbations.checks import check_choice
from shaketable.types import Evidence, Hit, Question

Mode = Literal["reverse", "random", "gold_first", "gold_last", "gold_middle", "gold_at_edges"]


@dataclass(frozen=True, kw_only=True)
class SourceReordering:
    """Passages change their ranks and nothing else. A passage is gold when it comes from a supporting document.

    `gold_middle` puts half of the others, the smaller half if they are odd, before the gold passages.
    `gold_at_edges` puts gold passages first, last, second, last but one and so on, where models look most.
    """

    version: ClassVar[int] = 1

    mode: Mode = "reverse"
    seed: int = 0
    """For the mode `random`, which draws each order as likely, the old one too."""

    def __post_init__(self) -> None:
        check_choice("mode", self.mode, Mode)

    def perturb(self, questions: Sequence[Question], hits: Sequence[Sequence[Hit]]) -> list[Evidence]:
        return [self._reordered(question, own) for question, own in zip(questions, hits, strict=True)]

    def _reordered(self, question: Question, hits: Sequence[Hit]) -> Evidence:
        # A passage without a sentence shows nothing; it keeps its place.
        places = [i for i, hit in enumerate(hits) if hit.passage.sentences]
        if len(places) < 2:
            return disturbed(hits, [], ["too_few_passages"])
        gold = [i for i in places if is_gold(question, hits[i].passage)]
        if self.mode.startswith("gold") and not gold:
            return disturbed(hits, [], ["no_gold_passage"])
        order = self._order(question, places, gold)
        if all(hits[old].passage == hits[i].passage for old, i in zip(order, places, strict=True)):
            return disturbed(hits, [], ["order_unchanged"])
        new_ranks = {old: i + 1 for old, i in zip(order, places, strict=True)}
        return disturbed(hits, [move(hits[old], new_ranks[old]) for old in places if new_ranks[old] != old + 1])

    def _order(self, question: Question, places: list[int], gold: list[int]) -> list[int]:
        """The old places in their new order."""
        others = [i for i in places if i not in gold]
        match self.mode:
            case "reverse":
                return places[::-1]
            case "random":
                rng = random.Random(seed_from(self.seed, "source_reordering", question.id))
                return rng.sample(places, len(places))
            case "gold_first":
                return gold + others
            case "gold_last":
                return others + gold
            case "gold_middle":
                half = len(others) // 2
                return others[:half] + gold + others[half:]
            case "gold_at_edges":
                return gold[::2] + others + gold[1::2][::-1]
