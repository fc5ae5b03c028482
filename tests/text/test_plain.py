from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaketable.text.plain import bare, fold, occurs_whole, pieces, plain, title_key

MESSY = st.text() | st.text("aZé_*`~-'’“ \n\u00a0\u2028.,0123 /%&½²million 科きя̂[]()!\u0301\u00ad")
NAMES = st.lists(st.text(string.ascii_letters, min_size=2, max_size=8), min_size=1, max_size=3).map(" ".join)
NUMBERS = st.integers(0, 10**7).map(str) | st.integers(1000, 10**9).map("{:,}".format)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**North** _Sea_", "north sea"),
        ("the `North` [Sea](https://example.org/a)", "the north sea"),
        ("North\u00a0\u2009Sea\r\n", "north sea"),
        ("I don’t “know” – ﬁne", 'i don\'t "know" - fine'),
        ("1,200 and 1\u202f200 and 12,000,000", "1200 and 1200 and 12000000"),
        ("1,20 and 12,0000", "1,20 and 12,0000"),
        ("2.5 million, 3 hundred thousand", "2500000, 300000"),
        ("5 % and 5 per cent", "5 percent and 5 percent"),
        ("December 14, 1972 and 2nd May 1999", "14 december 1972 and 2 may 1999"),
        ("two of twelve, one of twenty-five", "2 of 12, one of twenty-five"),
        ("10² is not 102, 3½", "10^2 is not 102, 3 1/2"),
        ("Zürich, Ørsted, Straße, São", "zurich, orsted, strasse, sao"),
        ("U.S. and J. K. Rowling", "us. and jk. rowling"),
        ("R&B", "r and b"),
        ("yes科幻 1990年 Парижis", "yes 科幻 1990 年 париж is"),
        ("2*3 snake_case", "2*3 snake_case"),
        # A mark that is a letter of its own script stays: が is no か.
        ("が", "が"),
        ("Levi’s™", "levi's"),
    ],
)
def test_plain_text_has_one_spelling(text: str, expected: str) -> None:
    assert plain(text) == expected


@given(MESSY)
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert plain(plain(text)) == plain(text)
    assert fold(fold(text)) == fold(text)
    assert bare(bare(text)) == bare(text)


def test_folded_text_keeps_its_lines() -> None:
    assert fold("**Paris**\r\n\n Rome\u2028x") == "paris\nrome\nx"


@pytest.mark.parametrize(
    ("sought", "text"),
    [
        ("12 metres", "It is 12 metres tall."),
        ("3", "It is 3."),
        ("North Sea", "the North\nSea"),
        ("North Sea", "**North** **Sea**"),
        ("O'Brien", "It was O’Brien's."),
        ("1200", "1,200 people"),
        ("1,200", "1200"),
        ("1.5 million", "1,500,000"),
        ("Zürich", "Zurich"),
        ("Zurich", "Zürich"),
        ("Y'all", "Y'all起き.post"),
        ("巴黎", "答案是：巴黎。"),
        ("巴黎", "答案是巴黎。"),
        ("東京", "東京です"),
        ("Berlin", "Berlin's best"),
        ("U.S.", "the US army"),
        ("US", "the U.S. army"),
        ("J.K. Rowling", "J. K. Rowling"),
        ("-5", "at -5 degrees"),
        ("1990", "on 12/05/1990"),
        ("The Beatles", "Beatles"),
        ("a turkey", "roast turkey"),
        ("B52", "a B-52"),
        ("12m", "12 m"),
        ("Simon & Garfunkel", "Simon and Garfunkel"),
        ("Europe", "l'Europe"),
        ("C++", "It is C++."),
        ("!!!", "a band named !!!"),
        ("max_tokens", "It is max_tokens."),
    ],
)
def test_whole_words_and_numbers_are_found(sought: str, text: str) -> None:
    assert occurs_whole(sought, text)


@pytest.mark.parametrize(
    ("sought", "text"),
    [
        ("12 metres", "112 metres"),
        ("12", "12,000"),
        ("12", "12 000"),
        ("12", "12.5"),
        ("12", "12 million"),
        ("3", "3.5"),
        ("3", "3/4"),
        ("5", "at -5 degrees"),
        ("52", "a B52"),
        ("102", "10²"),
        ("1990", "the 1990s"),
        ("12", "the 12th"),
        ("iron", "environment"),
        ("white", "whitewashed"),
        ("Oman", "Romania"),
        ("Mali", "Somalia"),
        ("Paris", "Parisian"),
        ("Brien", "O'Brien"),
        ("don", "I don't know"),
        ("C++", "the C language"),
        ("A Smith", "John Smith"),
        ("", "anything"),
        ("  ", "anything"),
    ],
)
def test_parts_of_words_and_numbers_are_not_found(sought: str, text: str) -> None:
    assert not occurs_whole(sought, text)


@given(
    NAMES | NUMBERS,
    st.sampled_from(["**{}**", "_{}_", "`{}`", "“{}”", "'{}'", "({})", " {}.", "{}!\n", "\u00a0{}\u2003", "#{}#"]),
)
def test_marks_and_spaces_around_it_change_nothing(sought: str, around: str) -> None:
    assert occurs_whole(sought, around.format(sought))
    assert occurs_whole(sought, around.format(sought).replace(" ", "\u00a0\n"))


@given(NAMES, st.text(string.ascii_lowercase, min_size=1, max_size=3))
def test_a_word_inside_a_longer_one_is_never_found(sought: str, letters: str) -> None:
    for text in (sought + letters, letters + sought):
        assert not occurs_whole(sought, text) or sought.lower().startswith(("a ", "an ", "the "))


@given(st.integers(0, 10**7), st.integers(0, 9))
def test_a_number_inside_a_longer_one_is_never_found(number: int, digit: int) -> None:
    for text in (
        f"{number}{digit}",
        f"{digit}{number}",
        f"{number}.{digit}",
        f"{digit}.{number}",
        f"{number},{digit:03}",
        f"-{number}",
    ):
        assert not occurs_whole(str(number), text)


def test_pieces_are_words_numbers_and_single_signs_without_articles() -> None:
    assert pieces("The O’Brien’s 1,200 cafés — 東京") == ["obriens", "1200", "cafes", "東", "京"]


def test_accents_count_in_titles() -> None:
    # Two articles of Wikipedia: a footballer and a goddess.
    assert title_key("Pelé") != title_key("Pele")
    assert title_key("O’Brien  – A\u00a0Life") == title_key("o'brien - a life")


def test_a_hostile_text_is_read_at_once() -> None:
    for text in ("*_" * 50_000, "1," * 50_000, "[a](" * 30_000, "1 million " * 20_000, "a." * 50_000, "1 000" * 30_000):
        assert isinstance(plain(text), str)
        assert not occurs_whole("Paris", text)
