"""Columns are recognized by their names, else by what stands in them; what is not sure is not guessed."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from shaketable.datasets.reading.guess import ROLES, guess_columns

LONG = (
    "Some words that go on and on, as a passage of a book does, with so many of them that nobody takes it for an " * 2
)


def guessed(*rows):
    return {guess.role: guess.column for guess in guess_columns(rows) if guess.role != "tag"}


def test_usual_names_are_recognized_however_they_are_spelled():
    assert guessed({"User_Input": "Who?", "Ground Truth": "Ann", "retrieved-contexts": ["x"], "QID": "1"}) == {
        "question": "User_Input",
        "answer": "Ground Truth",
        "context": "retrieved-contexts",
        "id": "QID",
    }


def test_a_word_inside_a_name_is_enough():
    row = {"customer_question": "Who?", "bestAnswers": "Ann", "our_documents": "x"}
    assert guessed(row) == {"question": "customer_question", "answer": "bestAnswers", "context": "our_documents"}


def test_columns_without_telling_names_are_recognized_by_their_content():
    rows = [{"a": f"Who is number {n}?", "b": f"Person {n}", "c": f"{LONG} {n}"} for n in range(6)]
    assert guessed(*rows) == {"question": "a", "answer": "b", "context": "c"}
    reasons = [guess.reason for guess in guess_columns(rows)]
    assert reasons[0] == "100% of its texts end in a question mark"


def test_an_id_that_is_not_unique_is_none():
    assert "id" not in guessed({"question": "Who?", "id": "1"}, {"question": "What?", "id": "1"})


def test_numbers_of_rows_are_an_id_and_never_answers():
    rows = [{"q": f"Who is {n}?", "Reference #": n, "x": f"person {n}"} for n in range(4)]
    assert guessed(*rows) == {"question": "q", "answer": "x", "id": "Reference #"}
    counted = [{"question": f"What is 0 + {n}?", "answer": n} for n in range(4)]
    assert guessed(*counted) == {"question": "question", "answer": "answer"}
    years = [{"q": f"Who is {n}?", "year": 1990 + n} for n in range(4)]
    assert guessed(*years) == {"question": "q"}


@pytest.mark.parametrize(
    "name", ["Gold Ans", "ans", "gold", "Expected", "label", "Correct", "reference", "ground truth", "expected_reply"]
)
def test_words_for_answers_are_known(name):
    assert guessed({"question": "Who?", name: "Ann"}, {"question": "What?", name: "A ship"})["answer"] == name


@pytest.mark.parametrize(
    ("name", "values"), [("is_correct", (True, False)), ("Correct", ("yes", "no")), ("expected_length", (12, 40))]
)
def test_what_only_sounds_like_answers_is_none(name, values):
    assert "answer" not in guessed(*({"question": f"Who is {value}?", name: value} for value in (*values, *values)))


def test_objects_with_a_title_and_a_text_are_passages():
    for held in ({"title": "Ann", "text": "Ann is."}, [{"title": "Ann", "text": "Ann is."}], [{"text": "Ann is."}]):
        assert guessed({"q": "Who?", "found": held}, {"q": "What?", "found": held})["context"] == "found"
    assert guessed({"question": "Who?", "ctx": "Ann is."})["context"] == "ctx"


def test_few_values_are_a_tag_and_no_answer():
    rows = [{"question": f"Who is {n}?", "kind": "ab"[n % 2]} for n in range(8)]
    assert [(guess.role, guess.column) for guess in guess_columns(rows)] == [("question", "question"), ("tag", "kind")]


def test_numbers_are_no_questions():
    assert guessed({"question": 3, "x": "no mark"}) == {}


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
names = st.sampled_from(["question", "answer", "context", "id", "Ünïcode name", ""]) | st.text(max_size=8)


@given(st.lists(st.dictionaries(names, values, max_size=5), max_size=8))
def test_any_rows_are_guessed_without_a_complaint(rows):
    guesses = guess_columns(rows)
    roles = [guess.role for guess in guesses if guess.role != "tag"]
    assert roles == [role for role in ROLES if role in roles]
    assert len({guess.column for guess in guesses}) == len(guesses)


@pytest.mark.parametrize(("n_of_each", "role"), [(59, "tag"), (60, "type")])
def test_tag_with_enough_questions_of_each_value_is_the_type(n_of_each, role):
    rows = [{"question": f"Who is {kind} number {i}?", "kind": kind} for i in range(n_of_each) for kind in "ab"]
    assert [(guess.role, guess.column) for guess in guess_columns(rows)][1:] == [(role, "kind")]
