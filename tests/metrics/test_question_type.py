from __future__ import annotations

from dataclasses import replace

import pytest
from made_records import record, scores

from shaketable.metrics import question_type
from shaketable.metrics.question_type import QuestionType
from shaketable.types import Question


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], str | None]]:
    """What was asked of the classifier, which here goes by the first word."""
    calls: list[tuple[list[str], str | None]] = []

    def predict(texts: list[str], model: str | None) -> list[str]:
        calls.append((texts, model))
        return [{"Who": "HUM", "Where": "LOC", "When": "NUM"}.get(text.split()[0].strip("?"), "ENTY") for text in texts]

    monkeypatch.setattr(question_type, "predict", predict)
    return calls


def test_the_value_is_the_place_of_the_type(asked: object) -> None:
    # ABBR 0, DESC 1, ENTY 2, HUM 3, LOC 4, NUM 5; made_records asks "Who did it?".
    assert scores(QuestionType(), "Ann")["question_type"].value == 3.0


def test_all_wordings_and_answers_of_a_question_have_its_type_and_it_is_asked_once(
    asked: list[tuple[list[str], str | None]],
) -> None:
    question = Question(id="q", text="Where is it?", answers=("here",))
    first = record("Lima")
    other = replace(first.trial, variant=replace(first.trial.variant, text="When?", variation="typos"), key="other")
    found = QuestionType(model="types").score([first, record("Rome"), replace(first, trial=other)], {"q": question})
    assert [score.value for (score,) in found] == [4.0, 4.0, 4.0]
    assert asked == [(["Where is it?"], "types")]


def test_a_failed_trial_and_a_question_without_words_have_none(asked: object) -> None:
    failed = scores(QuestionType(), None)["question_type"]
    assert (failed.value, failed.reason) == (None, "failed: timeout")
    ((score,),) = QuestionType().score([record("Lima")], {"q": Question(id="q", text=" ?! ", answers=("Lima",))})
    assert (score.value, score.reason) == (None, "the question has no words")


@pytest.mark.weights
def test_the_head_that_ships_is_asked_by_default() -> None:
    assert scores(QuestionType(), "Ann")["question_type"].value == 3.0
