"""What type of answer does the question ask for?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from shaketable.metrics.scoring import unscored
from shaketable.text.question_types import LABELS, PACKAGES, predict
from shaketable.types import Measure, Question, Record, Score


@dataclass(frozen=True, kw_only=True)
class QuestionType:
    """The place of the question's type in ABBR, DESC, ENTY, HUM, LOC, NUM, from 0 to 5; a name, not an amount.

    It belongs to the question as the dataset asks it, so all its wordings and answers have the same.
    None for a failed trial and for a question without words.
    """

    version: ClassVar[int] = 1
    numbers: ClassVar[tuple[Measure, ...]] = (Measure(name="question_type", unit="count", higher_is_better=None),)
    reads_trace: ClassVar[bool] = False
    packages: ClassVar[tuple[str, ...]] = PACKAGES
    model: str | None = None
    """The folder of a fine-tuned classifier whose labels are these types; None: the head that ships."""

    def score(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[list[Score]]:
        reasons = [self._reason(record, questions[record.trial.question_id]) for record in records]
        asked = {
            questions[record.trial.question_id].text
            for record, reason in zip(records, reasons, strict=True)
            if reason is None
        }
        texts = sorted(asked)
        types = dict(zip(texts, predict(texts, self.model), strict=True))
        scored: list[list[Score]] = []
        for record, reason in zip(records, reasons, strict=True):
            text = questions[record.trial.question_id].text
            value = float(LABELS.index(types[text])) if reason is None else None
            scored.append([Score(key=record.trial.key, metric="question_type", value=value, reason=reason)])
        return scored

    def _reason(self, record: Record, question: Question) -> str | None:
        has_words = any(character.isalnum() for character in question.text)
        return unscored(record) or (None if has_words else "the question has no words")
