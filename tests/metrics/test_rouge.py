from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_records import record, scores
from texts import pairs

from shaketable.metrics.rouge import NUMBERS, Rouge
from shaketable.types import Question

REFERENCE = "Both Ann Lee and Bo Chen are astronauts who flew in space."


# Worked by hand in the study's description: F1 of words, word pairs, longest common sequence.
@pytest.mark.parametrize(
    ("candidate", "expected"),
    [
        ("Ann Lee and Bo Chen both flew in space.", (0.857143, 0.631579, 0.761905)),
        ("They are astronauts.", (0.266667, 0.153846, 0.266667)),
        (REFERENCE, (1.0, 1.0, 1.0)),
        ("", (0.0, 0.0, 0.0)),
    ],
)
def test_worked_values(candidate: str, expected: tuple[float, ...]) -> None:
    found = scores(Rouge(), candidate, "Ann Lee", reference=REFERENCE)
    assert tuple(found) == NUMBERS
    assert [score.value for score in found.values()] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("stemming", [False, True])
def test_500_pairs_equal_the_rouge_score_package(stemming: bool) -> None:
    from rouge_score.rouge_scorer import RougeScorer  # Google's implementation

    texts = [*pairs(496, 6), ("", "Paris"), ("Paris", ""), ("", ""), ("running runners ran", "run runner runs")]
    assert len(texts) == 500
    questions = {str(i): Question(id=str(i), text="?", answers=(gold,)) for i, (_, gold) in enumerate(texts)}
    records = [record(text, question) for (text, _), question in zip(texts, questions.values(), strict=True)]
    oracle = RougeScorer(NUMBERS, use_stemmer=stemming)
    for (candidate, gold), found in zip(texts, Rouge(stemming=stemming).score(records, questions), strict=True):
        expected = oracle.score(gold, candidate)
        assert [score.value for score in found] == pytest.approx([expected[n].fmeasure for n in NUMBERS], abs=1e-5)


def test_each_number_takes_its_best_accepted_answer() -> None:
    # Against "b a": words 1, pairs 0, order 1/2. Against "a b c d": words 2/3, pairs 1/2, order 2/3.
    found = scores(Rouge(), "a b", "b a", "a b c d")
    assert [score.value for score in found.values()] == pytest.approx([1.0, 0.5, 2 / 3])


def test_a_failed_trial_has_three_empty_numbers_with_the_reason() -> None:
    found = scores(Rouge(), None, "Paris")
    assert [(score.value, score.reason) for score in found.values()] == [(None, "failed: timeout")] * 3


def test_a_question_without_any_gold_has_no_numbers() -> None:
    found = scores(Rouge(), "Paris")
    assert [(score.value, score.reason) for score in found.values()] == [(None, "no accepted answer")] * 3


def test_lone_surrogates_do_not_stop_the_scoring() -> None:
    assert scores(Rouge(), "Paris \ud800", "Paris")["rouge1"].value == 1.0


def test_no_records_give_no_scores() -> None:
    assert Rouge().score([], {}) == []


@given(st.text(), st.text())
def test_values_lie_between_zero_and_one(candidate: str, gold: str) -> None:
    assert all(0.0 <= score.value <= 1.0 for score in scores(Rouge(), candidate, gold).values())  # type: ignore[operator]


@given(st.lists(st.sampled_from(["ann", "lee", "bo", "1937"]), min_size=2))
def test_a_text_scores_one_against_itself(words: list[str]) -> None:
    text = " ".join(words)
    assert [score.value for score in scores(Rouge(), text, text).values()] == pytest.approx([1.0] * 3)
