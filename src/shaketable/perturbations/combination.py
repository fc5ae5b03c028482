"""A few of the sentences or passages stay, the others go."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from shaketable.identity import seed_from
from shaketable.perturbations.altered import Target, disturbed, remove, sentences_of
from shaketable.perturbations.checks import check_choice, check_count
from shaketable.types import Evidence, Hit, Question

Unit = Literal["sentence", "passage"]


@dataclass(frozen=True, kw_only=True)
class Combination:
    """Keep one subset of size `m`, in order. Cross several `index` values to see several subsets.

    Up to `budget` subsets are numbered in lexicographic order of positions; of more than that, `budget` different
    ones are drawn, each as likely, and `index` counts the draws.
    """

    version: ClassVar[int] = 1

    m: int = 1
    """Units that stay."""
    index: int = 0
    """Which subset, from 0."""
    budget: int = 100
    unit: Unit = "sentence"
    seed: int = 0

    def __post_init__(self) -> None:
        check_count("m", self.m, 1)
        check_count("index", self.index)
        check_count("budget", self.budget, 1)
        check_choice("unit", self.unit, Unit)
        if self.index >= self.budget:
            raise ValueError(f"index is {self.index}, expected less than the budget of {self.budget}")

    def perturb(self, questions: Sequence[Question], hits: Sequence[Sequence[Hit]]) -> list[Evidence]:
        return [self._combined(question, own) for question, own in zip(questions, hits, strict=True)]

    def _combined(self, question: Question, hits: Sequence[Hit]) -> Evidence:
        units = _units(hits, self.unit)
        n_subsets = math.comb(len(units), self.m)
        if self.m >= len(units):
            return disturbed(hits, [], ["too_few_units"])
        if n_subsets <= self.budget and self.index >= n_subsets:
            return disturbed(hits, [], ["no_such_subset"])
        number = self.index if n_subsets <= self.budget else self._drawn(question, n_subsets)
        kept = subset(len(units), self.m, number)
        kept_ids = {target.sentence.id for position in kept for target in units[position]}
        gone = [target for target in sentences_of(hits) if target.sentence.id not in kept_ids]
        return disturbed(hits, map(remove, gone), [] if gone else ["shared_sentences"])

    def _drawn(self, question: Question, n_subsets: int) -> int:
        rng = random.Random(seed_from(self.seed, "combination", question.id))
        drawn: dict[int, None] = {}
        while len(drawn) <= self.index:
            drawn[rng.randrange(n_subsets)] = None
        return list(drawn)[self.index]


def _units(hits: Sequence[Hit], unit: Unit) -> list[list[Target]]:
    if unit == "sentence":
        return [[target] for target in sentences_of(hits)]
    return [sentences_of([hit]) for hit in hits if hit.passage.sentences]


def subset(n: int, m: int, number: int) -> list[int]:
    """The subset of size m of 0 … n-1 that has this number in lexicographic order, found without listing them."""
    chosen: list[int] = []
    position = 0
    while len(chosen) < m:
        starting_here = math.comb(n - position - 1, m - len(chosen) - 1)
        if number < starting_here:
            chosen.append(position)
        else:
            number -= starting_here
        position += 1
    return chosen
