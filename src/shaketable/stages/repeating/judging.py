"""The number that repeats are ended by: worth between 0 and 1, and known as soon as an answer is there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from shaketable import catalog
from shaketable.errors import StudyError
from shaketable.factors import judges, main_metric, measure_of, numbers_of
from shaketable.protocols import JudgingMetric, Metric, PreparingMetric, TraceChoosingMetric, WeightReadingPart
from shaketable.study import SHORT
from shaketable.types import Answer, Question, Record, Study, Trial


@dataclass(frozen=True, kw_only=True)
class Judge:
    """Scores single answers by the main metric of a study."""

    metric: Metric
    number: str
    """The name of the score; a metric may give several."""
    questions: Mapping[str, Question]

    def value(self, trial: Trial, text: str | None) -> float:
        """NaN: there is no answer, or none that can be scored. By the text alone, as a resumed run has it."""
        if text is None:
            return math.nan
        [scores] = self.metric.score([Record(trial=trial, answer=Answer(text=text))], self.questions)
        value = next((score.value for score in scores if score.metric == self.number), None)
        return math.nan if value is None else float(value)


def judge_of(study: Study, questions: Mapping[str, Question]) -> Judge:
    """By the main metric; refuses one that cannot tell when to stop."""
    number = main_metric(numbers_of(study.metrics), study.main_metric)
    if number is None:
        raise StudyError("cross.repeats.until: score.metrics is empty, and some number must tell when to stop.")
    text = next(text for text in study.metrics if number in numbers_of([text]))
    metric = catalog.build("metric", text, "score.metrics")
    if problem := _problem(study, metric, number):
        raise StudyError(
            f"cross.repeats.until: the main metric is {number}, which {problem}, so it cannot tell when to stop. "
            "Choose another one of score.metrics, such as correct, with [analyze] metric = 'correct', or give a number "
            "of repeats."
        )
    return Judge(metric=metric, number=number, questions=questions)


def _problem(study: Study, metric: Metric, number: str) -> str | None:
    measure = measure_of(number)
    if measure.unit != "share" and (measure.minimum, measure.maximum) != (0.0, 1.0):
        return "is not declared to lie between 0 and 1"
    if isinstance(metric, JudgingMetric):
        return "asks a model"
    if isinstance(metric, PreparingMetric):
        return "reads all answers together"
    if isinstance(metric, WeightReadingPart):
        return "loads weights"
    if not isinstance(metric, TraceChoosingMetric) or metric.reads_trace:
        return "reads more than the answer"
    if study.reference != SHORT and not judges(number):
        return "compares with references that are written when the answers are there"
    return None
