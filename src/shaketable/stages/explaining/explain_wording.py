"""The smallest rewording that turns an answer: wordings of the run and of rules, and parts of the nearest ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from shaketable import catalog
from shaketable.errors import PartError
from shaketable.factors import ORIGINAL
from shaketable.protocols import CountedVariation
from shaketable.stages.check import lacks_for_wording
from shaketable.stages.explaining.asking_anew import Asker, Asking
from shaketable.stages.explaining.changed_evidence import Changed
from shaketable.stages.explaining.explained_trial import ExplainedTrial
from shaketable.stages.explaining.set_outcomes import NOTHING, Items, Outcomes, View
from shaketable.stages.explaining.smallest_sets import find_smallest
from shaketable.stages.vary import reword
from shaketable.store.explanations import FlippingRewording, GivenAnswer, RewordingSearch
from shaketable.text.normalization import words
from shaketable.text.word_edits import WordEdit, apply_edits, word_edits
from shaketable.types import Question, Variant
from shaketable.variations.gate.reworded import RULES
from shaketable.variations.strength import word_distance

Wordings = Literal["all", "run", "none"]
"""Those of the run and of rules, those of the run alone, or none."""
MOST_SHRUNK = 3
"""Wordings, the nearest that turn the answer, of which smaller parts are looked for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    text: str
    variation: str
    distance: float


def find_candidates(explained: ExplainedTrial, wordings: Wordings) -> tuple[list[Candidate], tuple[str, ...]]:
    """Other wordings of the question, the nearest first, and why some variations made none."""
    question, asked = explained.question, explained.trial.variant
    variants: list[Variant] = list(explained.plan.variants)
    lacking: dict[str, list[str]] = {}
    if wordings == "all":
        for variation, made in _by_rules(question):
            if isinstance(made, str):
                _, is_package, command = made.rpartition(": pip install ")
                reason = f"packages are missing: pip install {command}" if is_package else made
                lacking.setdefault(reason, []).append(variation)
            else:
                variants += made
    candidates = {
        variant.text: Candidate(
            text=variant.text, variation=variant.variation, distance=word_distance(asked.text, variant.text)
        )
        for variant in reversed(variants)
        if variant.rejected is None and variant.history == asked.history and _is_fair(variant.text, asked, question)
    }
    return sorted(candidates.values(), key=lambda own: (own.distance, own.text)), tuple(
        f"{', '.join(variations)}: {reason}" for reason, variations in lacking.items()
    )


def _by_rules(question: Question) -> Iterator[tuple[str, Sequence[Variant] | str]]:
    """What each variation by rules makes of a question, or why it makes nothing here."""
    for name in catalog.known("variation"):
        try:
            variation = catalog.build("variation", name)
        except PartError:  # It needs a file.
            continue
        if name == ORIGINAL or not isinstance(variation, CountedVariation) or variation.by != RULES:
            continue
        if problem := lacks_for_wording(variation):
            yield name, problem
            continue
        for batch in reword(variation, [question]):
            yield name, [variant for _, rewording in batch for variant in rewording.variants]


def _is_fair(text: str, asked: Variant, question: Question) -> bool:
    """Whether it is another wording, and tells no accepted answer that the asked one does not tell."""
    return text.split() != asked.text.split() and not any(
        _tells(text, answer) and not _tells(asked.text, answer) for answer in question.answers
    )


def _tells(text: str, answer: str) -> bool:
    said = " ".join(words(answer))
    return bool(said) and re.search(rf"\b{re.escape(said)}\b", " ".join(words(text))) is not None


class WordingSearch:
    def __init__(self, explained: ExplainedTrial, asker: Asker, base: GivenAnswer, before: Changed | None) -> None:
        self.explained, self.asker, self.base, self.before = explained, asker, base, before
        self.asked = explained.trial.variant.text

    def run(self, wordings: Wordings, progress: Callable[[str], None]) -> RewordingSearch:
        candidates, not_tried = find_candidates(self.explained, wordings)
        # Half is kept for their parts.
        affordable = candidates[: max(self.asker.n_affordable() // 2, 1) if self.asker.n_affordable() else 0]
        progress(f"asking {len(affordable)} other wordings")
        answers = self._ask([own.text for own in affordable])
        turning = [
            (own, answer) for own, answer in zip(affordable, answers, strict=True) if self._turns(answer) is True
        ]
        best: FlippingRewording | None = None
        n_asked, n_untold = len(affordable), sum(answer.is_right is None for answer in answers)
        for n_left, (candidate, answer) in zip(range(MOST_SHRUNK, 0, -1), turning, strict=False):
            progress(f"shrinking the wording by {candidate.variation}")
            flipping, n_more, n_more_untold = self._shrink(candidate, answer, self.asker.n_affordable() // n_left)
            n_asked, n_untold = n_asked + n_more, n_untold + n_more_untold
            if best is None or flipping.edit_distance < best.edit_distance:
                best = flipping
        return RewordingSearch(
            flipping=best,
            n_wordings=len(affordable),
            n_flipping=len(turning),
            n_asked=n_asked,
            n_untold=n_untold,
            n_unaffordable=len(candidates) - len(affordable),
            not_tried=not_tried,
        )

    def _ask(self, texts: Sequence[str]) -> list[GivenAnswer]:
        return self.asker.ask([Asking(perturbation=self.before, wording=text) for text in texts])

    def _turns(self, answer: GivenAnswer) -> bool | None:
        return None if answer.is_right is None else answer.is_right != self.base.is_right

    def _shrink(self, candidate: Candidate, whole: GivenAnswer, budget: int) -> tuple[FlippingRewording, int, int]:
        """The smallest part of a rewording that turns the answer; sets asked, and those that could not be told."""
        edits = word_edits(self.asked, candidate.text)
        everything = frozenset(range(len(edits)))
        answers: dict[Items, GivenAnswer] = {everything: whole}

        def ask(sets: Sequence[Items]) -> list[bool | None]:
            asked = self._ask([_applied(self.asked, edits, items) for items in sets])
            answers.update(zip(sets, asked, strict=True))
            return [self._turns(answer) for answer in asked]

        outcomes = Outcomes(len(edits), ask, [(NOTHING, False), (everything, True)])
        smallest = find_smallest(View(outcomes), budget)
        assert smallest.items is not None, "The whole rewording turns it."
        text = candidate.text if smallest.items == everything else _applied(self.asked, edits, smallest.items)
        flipping = FlippingRewording(
            text=text,
            edits=tuple(edits[i] for i in sorted(smallest.items)),
            variation=candidate.variation,
            whole=candidate.text,
            edit_distance=round(word_distance(self.asked, text), 4),
            certainty=smallest.certainty,
            tried_up_to=smallest.tried_up_to,
            answer=answers[smallest.items],
        )
        return flipping, smallest.n_asked, smallest.n_untold


def _applied(text: str, edits: Sequence[WordEdit], items: Items) -> str:
    return apply_edits(text, [edits[i] for i in items])
