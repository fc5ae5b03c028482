"""The later half of the supporting sentences goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from shaketable.perturbations.altered import choose_targets, remove, replay
from shaketable.types import Evidence, Hit, Question


@dataclass(frozen=True, kw_only=True)
class SentenceRemoval:
    """`remove_half` of TempPerturb-Eval (arXiv 2512.01183): drop the last floor(n/2) facts."""

    version: ClassVar[int] = 1

    def perturb(self, questions: Sequence[Question], hits: Sequence[Sequence[Hit]]) -> list[Evidence]:
        return [_without_later_half(question, found) for question, found in zip(questions, hits, strict=True)]


def _without_later_half(question: Question, hits: Sequence[Hit]) -> Evidence:
    targets, flags = choose_targets(question, hits)
    edits = tuple(remove(target) for target in targets)
    return Evidence(hits=replay(hits, edits), edits=edits, flags=tuple(flags))
