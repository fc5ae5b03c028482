"""Is the answer the one that the system gives when it is asked plainly?"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from shaketable.metrics.scoring import unscored
from shaketable.text.normalization import YES_NO
from shaketable.text.plain import pieces
from shaketable.text.search_terms import STOP_WORDS
from shaketable.types import Measure, Question, Record, Score

System = tuple[str, str, str | None, str]
"""Model, method, retriever and question."""
ALIKE = 0.5
"""From this token F1 on, what two longer answers say beside the question counts as the same."""


@dataclass(frozen=True, kw_only=True)
class SameAnswer:
    """1 if an answer says what the system itself says when asked plainly, else 0; higher is better.

    For questions without accepted answers. Plainly is in the original wording, with undisturbed evidence, at the lowest
    temperature, for the first time; that answer has no number. Words of the question and words that say little do not
    count; of what is left, one answer must contain the other, or share half with it (token F1). None for a failed
    trial, or where the plain one failed.
    """

    version: ClassVar[int] = 2
    numbers: ClassVar[tuple[Measure, ...]] = (
        Measure(
            name="same_answer",
            unit="share",
            higher_is_better=True,
            words="agreement with its own plain answer",
            title="Answers as when asked plainly",
        ),
    )
    reads_trace: ClassVar[bool] = False

    @functools.cached_property
    def plain(self) -> dict[System, Record]:
        """What others are compared with, as far as it is known."""
        return {}

    def prepare(self, records: Iterable[Record], questions: Mapping[str, Question]) -> None:
        for record in records:
            trial = record.trial
            is_plain = trial.variant.variation == "original" and trial.perturbation in (None, "unchanged")
            known = self.plain.get(_system(record))
            if is_plain and (known is None or _rank(record) < _rank(known)):
                self.plain[_system(record)] = record

    def score(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[list[Score]]:
        return [[self._score(record, questions[record.trial.question_id])] for record in records]

    def _score(self, record: Record, question: Question) -> Score:
        plain = self.plain.get(_system(record))
        reason = unscored(record)
        if reason is None and (plain is None or plain.answer is None):
            reason = "no plain answer"
        elif reason is None and plain is not None and plain.trial.key == record.trial.key:
            reason = "it is the plain answer"
        value = None
        if reason is None and plain is not None and plain.answer is not None and record.answer is not None:
            value = float(says_the_same(plain.answer.text, record.answer.text, question.text))
        return Score(key=record.trial.key, metric="same_answer", value=value, reason=reason)


def says_the_same(first: str, second: str, question: str) -> bool:
    """Whether two answers to a question say the same, by their words."""
    if pieces(first) == pieces(second):
        return True
    one, other = telling_words(first, question), telling_words(second, question)
    if YES_NO & one != YES_NO & other:
        return False
    if not one or not other:
        return one == other
    shared = len(one & other)
    return shared == min(len(one), len(other)) or 2 * shared / (len(one) + len(other)) >= ALIKE


def telling_words(answer: str, question: str) -> set[str]:
    """What an answer says beside its question; all of its words where that is nothing."""
    every = set(pieces(answer))
    return every - set(pieces(question)) - (STOP_WORDS - YES_NO) or every


def _system(record: Record) -> System:
    trial = record.trial
    return trial.model, trial.method, trial.retriever, trial.question_id


def _rank(record: Record) -> tuple[float, int]:
    return record.trial.temperature, record.trial.repeat
