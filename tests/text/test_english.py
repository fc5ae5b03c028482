"""Which texts rules for English questions leave alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaketable.text.english import not_english


@pytest.mark.parametrize(
    "text",
    [
        "Who directed the film Jaws?",
        "who sang la bamba",
        "Who wrote Los de abajo?",
        "when do live shows start on america 's got talent",
        "harry potter release date",
        "Are the violin and the cello both string instruments?",
        "In which year did Père Lachaise open?",
    ],
)
def test_english_questions_are_taken_for_english(text):
    assert not_english(text) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Was ist die Hauptstadt von Frankreich?", "does not seem to be English"),
        ("Qui a réalisé le film Les Dents de la mer ?", "does not seem to be English"),
        ("¿Quién dirigió la película Tiburón?", "does not seem to be English"),
        ("Chi ha diretto il film Lo squalo?", "does not seem to be English"),
        ("Wie heet de hoofdstad van Frankrijk?", "does not seem to be English"),
        ("Kuka ohjasi elokuvan Tappajahai?", "does not seem to be English"),
        ("谁导演了大白鲨", "not written in Latin letters"),
        ("Кто снял фильм Челюсти?", "not written in Latin letters"),
        ("", "has no words"),
        ("?! 42", "has no words"),
        (" ".join(["who"] * 500), "it has 500 words"),
    ],
)
def test_other_texts_have_a_reason(text, reason):
    assert reason in not_english(text)


@given(st.text(max_size=60))
def test_any_text_gets_an_answer(text):
    reason = not_english(text)
    assert reason is None or reason.startswith("it ")
