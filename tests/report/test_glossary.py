"""The words of a report are explained on its page and in the documentation, and no card is left out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from seen_page import see, small_run

from shaketable import report
from shaketable.report.cards import KICKERS
from shaketable.report.claim_words import describe_unshown
from shaketable.report.glossary import CARDS, NUMBERS, VERDICTS
from shaketable.report.templates import environment
from shaketable.report.words import FLOORS

PAGE = (Path(__file__).parents[2] / "docs" / "reading.md").read_text("utf-8")


def test_every_kind_of_card_is_explained():
    assert CARDS.keys() == KICKERS.keys()
    assert all(f"| {KICKERS[kind]} | {CARDS[kind]} |" in PAGE for kind in KICKERS)


@pytest.mark.parametrize("term", [*VERDICTS, *NUMBERS], ids=lambda term: term.word)
def test_a_word_is_explained_in_whole_sentences(term):
    assert term.meaning.endswith(".")
    assert f"| {term.word} | {term.meaning} |" in PAGE


def test_what_the_program_says_of_a_claim_is_among_the_words():
    words = " ".join(term.word for term in (*VERDICTS, *NUMBERS))
    assert describe_unshown(None) == "not tested"
    for said in (
        "not shown",
        "equivalent",
        "at chance level",
        "too few to claim anything",
        "would likely have been seen",
    ):
        assert said in words
    assert FLOORS


def test_a_report_explains_its_own_words(tmp_path):
    page = see(small_run(tmp_path / "run", analyses=["correctness"]))
    assert "words" in page.values("id") and "#words" in page.values("href")
    assert all(term.word in page.text for term in (*VERDICTS, *NUMBERS))
    assert "docs/statistics.md" not in page.text and "shaketable docs statistics" in page.text
    assert environment.globals["glossary"]


def test_every_sign_of_a_matrix_is_explained():
    folder = Path(report.__file__).parent
    signs = {
        sign
        for file in folder.rglob("*.py")
        for sign in re.findall(r'"([○▲▼◆≈≠] ?[^"{]+)"', file.read_text("utf-8"))
        if len(sign) < 20
    }
    assert {"○ not shown", "▼ worse"} <= signs
    assert [sign for sign in sorted(signs) if sign not in PAGE] == []
