"""Flesch reading ease, worked by hand."""

import pytest

from shaketable.variations.english.reading_ease import reading_ease, syllables


@pytest.mark.parametrize(
    ("word", "n"),
    [
        ("the", 1), ("cat", 1), ("name", 1), ("times", 1), ("asked", 1), ("wanted", 2), ("table", 2), ("water", 2),
        ("movie", 2), ("beautiful", 3), ("individual", 5), ("municipality", 6), ("ascertain", 3), ("nation", 2),
        ("changes", 2), ("causes", 2), ("who's", 1), ("1990", 4), ("region", 2),
    ],
)  # fmt: skip
def test_syllables_are_groups_of_vowels(word, n):
    # Counted by ear; a few words defeat any such rule.
    assert syllables(word) == n


def test_the_formula_is_flesch():
    # 6 words, 6 syllables, 1 sentence: 206.835 − 1.015 · 6 − 84.6 · 1.
    assert reading_ease("The cat sat on the mat.") == pytest.approx(116.145)
    # 8 words, 8 syllables, 2 sentences: 206.835 − 1.015 · 4 − 84.6.
    assert reading_ease("The cat sat there. The dog ran home.") == pytest.approx(118.175)


def test_long_words_are_harder():
    assert reading_ease("Which municipality is it?") < reading_ease("Which city is it?")


def test_a_text_without_words_is_as_easy_as_can_be():
    assert reading_ease("?!") == 206.835
