"""A function of an answer → a metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar

from shaketable.errors import ShaketableError
from shaketable.metrics.scoring import unscored
from shaketable.stages.own.function_part import FunctionPart, trouble
from shaketable.text.normalization import without_surrogates
from shaketable.types import Measure, Question, Record, Score

FIRST = "the answer, as text"
GIVEN = ("question", "record")
NO_VALUE = "the metric gave no value"


class FunctionMetric(FunctionPart):
    """Scores each answer alone. A failed trial has no number, and neither has an answer for which it raises; where it
    raises for all, that is an error."""

    numbers: ClassVar[tuple[Measure, ...]]
    reads_trace: ClassVar[bool]
    needs_answers: ClassVar[bool]

    def score(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[list[Score]]:
        scores, raised = [], []
        for record in records:
            question = questions[record.trial.question_id]
            reason, value = unscored(record, question.answers if self.needs_answers else None), None
            if reason is None and record.answer is not None:
                try:
                    value = self._judge(record, question)
                    reason = NO_VALUE if value is None else None
                except ShaketableError:
                    raise
                except Exception as error:  # Whatever it is, the numbers of other answers must not be lost.
                    reason = without_surrogates(f"{type(error).__name__}: {error}")[:200]
                    raised.append((error, record))
            scores.append([Score(key=record.trial.key, metric=self.name, value=value, reason=reason)])
        if raised and len(raised) == sum(record.answer is not None for record in records):
            first, failed = raised[0]
            raise trouble(self, first, f"question {failed.trial.question_id}, and for all others") from first
        return scores

    def _judge(self, record: Record, question: Question) -> float | None:
        assert record.answer is not None
        value = self.call(record.answer.text, {"question": question, "record": record})
        if value is None:
            return None
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if isinstance(value, str) or not math.isfinite(number):
            raise ShaketableError(
                f"{self.name} returned {value!r:.60} for question {question.id}. A metric returns a number, True, "
                "False, or None where it cannot tell."
            )
        return number
