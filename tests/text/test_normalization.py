from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaketable.text import normalization as normalize


@pytest.mark.parametrize(
    ("text", "expected"),
    [(" Paris. ", "paris"), ("U.S.", "u.s"), ("Wait..", "wait."), ("STRASSE", "strasse"), ("Straße", "strasse")],
)
def test_casefold_strip_drops_outer_spaces_case_and_one_full_stop(text: str, expected: str) -> None:
    assert normalize.casefold_strip(text) == expected


# Worked by hand from the rules of the SQuAD 1.1 evaluation script.
@pytest.mark.parametrize(
    ("text", "expected"),
    [("The  Beatles!", "beatles"), ("U.S.", "us"), ("an apple a day", "apple day"), ("Theodore", "theodore"), ("", "")],
)
def test_squad_deletes_punctuation_and_articles(text: str, expected: str) -> None:
    assert normalize.squad(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It was the beatles.", ["it", "was", "beatles"]),
        ("U.S.", ["u", "s"]),
        ("“Ann’s” $5—now", ["ann", "s", "5", "now"]),
        ("Café", ["cafe\u0301"]),
        ("the", []),
    ],
)
def test_words_turn_punctuation_into_spaces(text: str, expected: list[str]) -> None:
    assert normalize.words(text) == expected


def test_composed_and_decomposed_letters_give_the_same_words() -> None:
    assert normalize.words("Caf\u00e9") == normalize.words("Cafe\u0301")


def test_an_empty_word_sequence_is_contained_nowhere() -> None:
    assert not normalize.contains_words([], ["a"])
    assert not normalize.contains_words([], [])


@given(st.lists(st.sampled_from("ab"), max_size=6), st.lists(st.sampled_from("ab"), max_size=3, min_size=1))
def test_contained_words_are_those_a_joined_search_finds(within: list[str], sought: list[str]) -> None:
    assert normalize.contains_words(sought, within) == ("".join(sought) in "".join(within))


@given(st.text())
def test_normalizing_words_and_squad_text_twice_changes_nothing_more(text: str) -> None:
    once = " ".join(normalize.words(text))
    assert " ".join(normalize.words(once)) == once


def test_lone_surrogates_become_question_marks_and_other_text_stays() -> None:
    assert normalize.without_surrogates("a\ud800b") == "a?b"
    assert normalize.without_surrogates("東京 é 🎲") == "東京 é 🎲"
