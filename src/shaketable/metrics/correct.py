"""Is an accepted answer the one that was given, not merely mentioned?"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from shaketable.metrics.choices import Choice, Verdict, choose, drop_negated, find_choice, fold, mark
from shaketable.metrics.scoring import score_each
from shaketable.text.normalization import YES_NO, occurs
from shaketable.types import Measure, Question, Record, Score

LEADING = re.compile(r"\b(?P<word>yes|no)\b(?!\s+(?:information|mention|evidence|answer|one|longer)\b)")
DENIAL = re.compile(r"(?:\bnot|n't)\s+(?:both|from|in|located|of|on|the same|share|two)\b|\b(?:neither|different)\b")
AGREEMENT = re.compile(r"\b(?:both|same|also|indeed|all)\b")


@dataclass(frozen=True, kw_only=True)
class Correct:
    """1 if the answer given is an accepted one, else 0; higher is better.

    A question that names two things and asks for one of them is answered right by the one chosen:
    "Saturn is larger than Jupiter" mentions Jupiter and chooses Saturn. A yes/no question is answered
    by the first `yes` or `no`, else by what the answer denies. Other questions count as in
    `contains`, less accepted answers that only stand after a `not`. No model judges: the rules read
    English, and `explain` tells which of them decided. None for a failed trial and for a question
    without accepted answers.
    """

    version: ClassVar[int] = 1
    numbers: ClassVar[tuple[Measure, ...]] = (
        Measure(name="correct", unit="share", higher_is_better=True, words="correctness", title="Correct answers"),
    )
    reads_trace: ClassVar[bool] = False
    needs_answers: ClassVar[bool] = True
    choices: Literal["chosen", "mentioned"] = "chosen"
    """`mentioned`: comparison questions count as other questions do."""
    yes_no: Literal["said", "mentioned"] = "said"
    """`mentioned`: the word anywhere in the answer."""
    negation: bool = True
    """False: an accepted answer counts after a `not` too. With this and both `mentioned`, the metric is `contains`."""

    def __post_init__(self) -> None:
        if self.choices not in ("chosen", "mentioned"):
            raise ValueError(f"choices is {self.choices!r}, expected 'chosen' or 'mentioned'.")
        if self.yes_no not in ("said", "mentioned"):
            raise ValueError(f"yes_no is {self.yes_no!r}, expected 'said' or 'mentioned'.")

    def score(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[list[Score]]:
        find = functools.cache(lambda id: self._choice(questions[id]))
        return score_each(
            "correct",
            records,
            questions,
            lambda answer, question: float(self._judge(answer.text, question, find(question.id)).is_right),
            needs_answers=self.needs_answers,
        )

    def explain(self, text: str, question: Question) -> Verdict:
        """Whether a text answers a question, and the rule that decided."""
        return self._judge(text, question, self._choice(question))

    def _choice(self, question: Question) -> Choice | None:
        return find_choice(question) if self.choices == "chosen" else None

    def _judge(self, text: str, question: Question, choice: Choice | None) -> Verdict:
        golds = {gold.strip().casefold() for gold in question.answers}
        if self.yes_no == "said" and golds <= YES_NO:
            return say(text, golds)
        return self._mention(text, question) if choice is None else choose(text, choice)

    def _mention(self, text: str, question: Question) -> Verdict:
        mentioned = [gold for gold in question.answers if occurs(gold, text)]
        if not mentioned:
            return Verdict(is_right=False, reason="no accepted answer occurs")
        marked = mark(text, mentioned)
        if self.negation and "GOLD" in marked and "GOLD" not in drop_negated(marked):
            return Verdict(is_right=False, reason=f"'{mentioned[0]}' stands after a negation")
        return Verdict(is_right=True, reason=f"'{mentioned[0]}' occurs")


def say(text: str, golds: set[str]) -> Verdict:
    """Yes or no by its word, else by words that deny or agree."""
    folded = fold(text)
    if leading := LEADING.search(folded):
        return Verdict(is_right=leading["word"] in golds, reason=f"says {leading['word']}")
    if DENIAL.search(folded):
        return Verdict(is_right="no" in golds, reason="denies")
    if AGREEMENT.search(folded):
        return Verdict(is_right="yes" in golds, reason="agrees")
    return Verdict(is_right=False, reason="says neither yes nor no")
