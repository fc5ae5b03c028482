"""What metrics promise: numbers for each record, in order, and `None` with a reason where there is nothing to judge."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from promises import ODD_TEXTS, built, odd_question, questions, record

from shaketable import catalog
from shaketable.factors import measure_of, numbers_of
from shaketable.identity import canonical
from shaketable.metrics.given import Given
from shaketable.metrics.scoring import NO_GOLD
from shaketable.protocols import GoldMetric, Metric, PreparingMetric
from shaketable.types import Question

ROUNDING = {"bertscore": 1e-6}
"""Encoders add in another order in another batch, and the last bits of a 32-bit number differ."""

each_metric = pytest.mark.parametrize("part", built("metric"))

UNANSWERABLE = Question(id="unanswerable", text="Who was the first king of Canberra?", answers=())
WITH_REFERENCE = Question(
    id="reference", text="Which came first?", answers=("Beta", "the weekly Beta"), reference="Beta came before Alpha."
)
ASKED = [*questions(), UNANSWERABLE, WITH_REFERENCE]
BY_ID = {question.id: question for question in ASKED}
ANSWERS = ("{gold}", "The answer is {gold}.", "I do not know.", "", "Qxj zvv kkrt plof wub", None)
"""Right, wordy, refusing, empty, garbled, failed."""


def records():
    return [
        record(text and text.format(gold=(*question.answers, "Nobody")[0]), question, key=f"{question.id}/{i}")
        for question in ASKED
        for i, text in enumerate(ANSWERS)
    ]


@each_metric
def test_a_metric_gives_the_same_numbers_for_each_record_in_order(part):
    given = records()
    before = canonical([given, BY_ID])
    scored = part.score(given, BY_ID)
    assert isinstance(part, Metric)
    assert len(scored) == len(given)
    names = [score.metric for score in scored[0]]
    assert names
    assert len(set(names)) == len(names)
    for one, scores in zip(given, scored, strict=True):
        assert [score.key for score in scores] == [one.trial.key] * len(names)
        assert [score.metric for score in scores] == names
    assert canonical([given, BY_ID]) == before


@each_metric
def test_a_value_is_a_finite_number_or_none_with_a_reason(part):
    for scores in part.score(records(), BY_ID):
        for score in scores:
            if score.value is None:
                assert score.reason
            else:
                assert isinstance(score.value, float)
                assert math.isfinite(score.value)
                assert score.reason is None


@each_metric
def test_a_metric_that_can_do_nothing_without_accepted_answers_declares_it(part):
    lacking = replace(WITH_REFERENCE, answers=())
    [scores] = part.score([record("Beta came before Alpha.", lacking, key="k")], {lacking.id: lacking})
    needs_answers = all(score.value is None and score.reason == NO_GOLD for score in scores)
    assert needs_answers == (isinstance(part, GoldMetric) and part.needs_answers)


@each_metric
def test_a_metric_declares_each_of_its_numbers_and_keeps_to_it(part):
    scored = part.score(records(), BY_ID)
    assert numbers_of([catalog.label(part)]) == tuple(score.metric for score in scored[0])
    for score in (score for scores in scored for score in scores if score.value is not None):
        measure = measure_of(score.metric)
        # The unit of scores that were made elsewhere is read from the data.
        assert measure.unit in (("share", "score", "count") if not isinstance(part, Given) else (None,))
        assert measure.unit != "share" or score.value in (0.0, 1.0)
        assert measure.minimum is None or score.value >= measure.minimum
        assert measure.maximum is None or score.value <= measure.maximum


@each_metric
def test_a_failed_trial_never_scores_a_number(part):
    given = [one for one in records() if one.answer is None]
    assert given
    for scores in part.score(given, BY_ID):
        assert [score.value for score in scores] == [None] * len(scores)
        assert all("timeout" in score.reason for score in scores)


@each_metric
def test_some_answers_score_differently(part):
    """A metric that says the same of all of these measures nothing."""
    given = [one for one in records() if one.answer is not None]
    if isinstance(part, PreparingMetric):
        part.prepare(given, BY_ID)
    scored = part.score(given, BY_ID)
    for numbers in zip(*scored, strict=True):
        assert len({score.value for score in numbers}) > 1


@each_metric
def test_a_number_depends_on_its_record_alone(part):
    given = records()
    scored = part.score(given, BY_ID)
    assert part.score(given, BY_ID) == scored
    assert part.score(given[::-1], BY_ID) == scored[::-1]
    assert part.score(tuple(given), BY_ID) == scored
    for one, in_a_batch in zip(given, scored, strict=True):
        (alone,) = part.score([one], {one.trial.question_id: BY_ID[one.trial.question_id]})
        for first, second in zip(alone, in_a_batch, strict=True):
            assert replace(first, value=None) == replace(second, value=None)
            assert same_number(first.value, second.value, ROUNDING.get(catalog.name_of(part), 0.0))


def same_number(first, second, rounding):
    return first == second or (None not in (first, second) and abs(first - second) <= rounding)


@each_metric
def test_a_number_depends_on_the_answer_not_on_the_trial(part):
    (one, *_) = records()
    trial = replace(one.trial, key="other", model="smollm2", temperature=2.0, repeat=7, seed=9)
    first, second = part.score([one, replace(one, trial=trial)], BY_ID)
    assert [score.value for score in first] == [score.value for score in second]


@each_metric
def test_a_metric_that_does_not_read_the_trace_needs_none(part):
    given = records()
    without = [replace(one, trace=(), answer=one.answer and replace(one.answer, hits=())) for one in given]
    reads_trace = part.score(without, BY_ID) != part.score(given, BY_ID)
    assert getattr(part, "reads_trace", True) is reads_trace, f"say reads_trace: ClassVar[bool] = {reads_trace}"


@each_metric
def test_no_record_has_no_number(part):
    assert part.score([], BY_ID) == []
    assert part.score([], {}) == []


@each_metric
@pytest.mark.parametrize("name", ODD_TEXTS)
def test_a_metric_takes_any_text(part, name):
    odd, plain = odd_question(ODD_TEXTS[name], name), questions()[0]
    pairs = [(ODD_TEXTS[name], odd), (ODD_TEXTS[name], plain), ("Paris", odd)]
    scored = part.score(
        [record(text, q, key=str(i)) for i, (text, q) in enumerate(pairs)], {odd.id: odd, plain.id: plain}
    )
    assert len(scored) == 3
    assert all(score.value is None or math.isfinite(score.value) for scores in scored for score in scores)
