"""Answers to one question → right or wrong, by the most of their repeats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shaketable import catalog
from shaketable.factors import judging_metric, numbers_of
from shaketable.protocols import Metric, PreparingMetric
from shaketable.store.explanations import GivenAnswer
from shaketable.types import Question, Record, Study

SAME_ANSWER = "same_answer"


class Judge:
    """Answers → right or wrong, by the number of the run that tells it; else whether they say what the first says."""

    def __init__(self, study: Study, metrics: Sequence[str]) -> None:
        names = numbers_of(metrics)
        number = judging_metric(names, study.main_metric if study.main_metric in names else None)
        self.number = None if number == SAME_ANSWER else number
        """None: answers are compared with the first."""
        texts = [text for text in metrics if self.number in numbers_of([text])]
        self.metric: Metric = catalog.build("metric", texts[0] if texts else SAME_ANSWER)

    @property
    def identity(self) -> str:
        return catalog.spelled(self.metric) if self.number else SAME_ANSWER

    def compare_with(self, first: Record, question: Question) -> None:
        """From now on, where nothing tells right from wrong."""
        self.number = None
        self.metric = catalog.build("metric", SAME_ANSWER)
        assert isinstance(self.metric, PreparingMetric)
        trial = first.trial
        plain = replace(trial, variant=replace(trial.variant, variation="original"), perturbation=None)
        self.metric.prepare([replace(first, trial=plain)], {question.id: question})

    def judge(self, records: Sequence[Record], question: Question) -> list[bool | None]:
        wanted = self.number or SAME_ANSWER
        values = [
            next((score.value for score in scores if score.metric == wanted), None)
            for scores in self.metric.score(records, {question.id: question})
        ]
        return [None if value is None else value >= 0.5 for value in values]


def summarize_repeats(records: Sequence[Record], verdicts: Sequence[bool | None]) -> GivenAnswer:
    """By the most verdicts; where as many say the one as the other, it cannot be told."""
    n_right, n_wrong = (sum(verdict is value for verdict in verdicts) for value in (True, False))
    is_right = None if n_right == n_wrong else n_right > n_wrong
    paired = list(zip(records, verdicts, strict=True))
    shown = next((record for record, verdict in paired if verdict is is_right), records[0] if records else None)
    if shown is None:
        return GivenAnswer(text="", is_right=None, failure="It was not asked: the limit of calls was reached.")
    return GivenAnswer(
        text=shown.answer.text if shown.answer else "",
        is_right=is_right,
        failure=shown.failure.message if shown.failure else None,
    )
