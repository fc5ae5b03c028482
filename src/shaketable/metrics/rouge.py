"""How many words, word pairs and word orders do the answer and the reference share?"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from shaketable.metrics.scoring import references, unscored
from shaketable.text.normalization import without_surrogates
from shaketable.types import Measure, Question, Record, Score

NUMBERS = ("rouge1", "rouge2", "rougeL")


@dataclass(frozen=True, kw_only=True)
class Rouge:
    """ROUGE-1, -2 and -L as F1: 0 to 1, higher is better.

    Compares with the sentence-form reference where a question has one, else with each accepted
    answer, keeping the best value of each number. Words are runs of a-z and 0-9, as in Google's
    rouge_score, so texts in other scripts score 0. None for a failed trial and for a question
    without reference and accepted answers.
    """

    version: ClassVar[int] = 1
    numbers: ClassVar[tuple[Measure, ...]] = (
        Measure(name="rouge1", unit="score", higher_is_better=True, maximum=1.0),
        Measure(name="rouge2", unit="score", higher_is_better=True, maximum=1.0),
        Measure(name="rougeL", unit="score", higher_is_better=True, maximum=1.0),
    )
    reads_trace: ClassVar[bool] = False
    stemming: bool = False
    """True: Porter's stemmer on words of more than three letters."""

    def score(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[list[Score]]:
        golds = [references(questions[record.trial.question_id]) for record in records]
        reasons = [unscored(record, gold) for record, gold in zip(records, golds, strict=True)]
        targets: list[str] = []
        candidates: list[str] = []
        owners: list[int] = []
        for i, (record, gold) in enumerate(zip(records, golds, strict=True)):
            if record.answer is None:
                continue
            targets += [without_surrogates(text) for text in gold]
            candidates += [without_surrogates(record.answer.text)] * len(gold)
            owners += [i] * len(gold)
        best: list[dict[str, float | None]] = [dict.fromkeys(NUMBERS) for _ in records]
        for i, values in zip(owners, self._scorer.score_batch(targets, candidates), strict=True):
            for number in NUMBERS:
                best[i][number] = max(best[i][number] or 0.0, values[number].fmeasure)
        return [
            [
                Score(key=record.trial.key, metric=number, value=value, reason=reason)
                for number, value in numbers.items()
            ]
            for record, numbers, reason in zip(records, best, reasons, strict=True)
        ]

    @functools.cached_property
    def _scorer(self) -> Any:
        from rouge_score_rs import RougeScorer

        return RougeScorer(NUMBERS, use_stemmer=self.stemming)  # type: ignore[no-untyped-call]
