from __future__ import annotations

from dataclasses import replace

import pytest
from made_records import QUESTION, record

from shaketable.metrics.same_answer import SameAnswer, says_the_same

ASKED = "What is the capital of France?"


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("Paris", "The capital of France is Paris.", True),
        ("The capital of France is Paris.", "The capital of France is Lyon.", False),
        ("Paris", "Lyon", False),
        ("Yes, it is Paris.", "No, it is Paris.", False),
        ("It lies on the river Seine in the north", "On the river Seine, in the north of it", True),
        ("I do not know.", "Paris", False),
        ("", "", True),
        ("", "Paris", False),
    ],
)
def test_answers_say_the_same_by_the_words_that_are_not_the_question_s(first, second, expected):
    assert says_the_same(first, second, ASKED) is expected
    assert says_the_same(second, first, ASKED) is expected


def answered(text, key, **changes):
    made = record(text, key=key)
    return replace(made, trial=replace(made.trial, **changes))


def test_others_are_compared_with_the_coolest_first_plain_answer():
    plain, again = answered("Ann Lee", "plain"), answered("Bob", "again", repeat=1)
    hot = answered("Bob", "hot", temperature=1.0)
    metric = SameAnswer()
    metric.prepare([hot, again, plain], {"q": QUESTION})
    scores = [
        own[0] for own in metric.score([plain, again, hot, answered("It was Ann Lee", "x", repeat=2)], {"q": QUESTION})
    ]
    assert [score.value for score in scores] == [None, 0.0, 0.0, 1.0]
    assert scores[0].reason == "it is the plain answer"


def test_without_a_plain_answer_there_is_no_number():
    metric = SameAnswer()
    metric.prepare([answered(None, "plain")], {"q": QUESTION})
    assert metric.score([answered("Bob", "b", repeat=1)], {"q": QUESTION})[0][0].reason == "no plain answer"
