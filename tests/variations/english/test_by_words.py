"""Keywords and errors of grammar without a parser: what goes, what stays, and any text at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaketable import catalog, errors
from shaketable.types import Question
from shaketable.variations.english.by_words import errors_in, keywords, lost_words
from shaketable.variations.english.edits import applied

WORDS = ("who", "is", "the", "a", "of", "Jaws", "was", "director", "?", ",", "'", "did")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is the capital of Peru?", "capital of Peru"),
        ("Where was the director of film Jaws born?", "where director of film Jaws born"),
        ("When did Ada Lovelace die?", "when Ada Lovelace die"),
        ("How many moons are in the Solar System?", "how many moons are in Solar System"),
        ("Which film was released earlier, Jaws or The Birds?", None),
        ("When must the safety shoes be worn?", "when must safety shoes be worn"),
        ("Who was not the captain of the ship?", "who was not captain of ship"),
        ("What does the word the mean in a sentence?", "what does word the mean in sentence"),
        ("Who wrote The Lord of the Rings?", None),
        ("Which choir sang the hymn a cappella in Reims?", "which choir sang hymn a cappella in Reims"),
        ("Who visited the Pope a month before his death?", "who visited Pope a month before his death"),
        ("Wie hoch ist der Turm von Pisa?", None),
    ],
)
def test_only_small_words_are_dropped(text, expected):
    assert keywords(text) == expected


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("article", "What is the capital of France?", {"What is capital of France?"}),
        (
            "article",
            "Which actor lived in an airport in Texas?",
            {"Which actor lived in airport in Texas?", "Which actor lived in a airport in Texas?"},
        ),
        ("number", "How many tracks does the album have?", {"How many track does the album have?"}),
        ("number", "How many cities are in Peru?", {"How many city are in Peru?"}),
        ("tense", "When did Mozart die?", {"When did Mozart died?"}),
        ("preposition", "Who was married to Frida Kahlo?", {"Who was married with Frida Kahlo?"}),
        ("preposition", "Who was king in 1990?", {"Who was king at 1990?", "Who was king on 1990?"}),
        ("agreement", "Where were the games held?", {"Where was the games held?"}),
        ("agreement", "What does the album contain?", {"What do the album contain?"}),
        ("verb_form", "When was Hamlet written?", {"When was Hamlet wrote?"}),
    ],
)
def test_each_error_is_one_that_learners_make(kind, text, expected):
    assert {applied(text, [error]) for error in errors_in(text).get(kind, [])} == expected


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("article", "Who sang the Beatles song?"),
        ("article", "who starred in the dark knight"),
        ("article", 'Who wrote "a room with the view of life" in Rome?'),
        ("article", "Who visited the Pope a month before the war?"),
        ("agreement", "What are they called?"),
        ("agreement", "Is salt or pepper heavier?"),
        ("tense", "Why did Anna win the prize?"),
    ],
)
def test_names_quotations_and_unclear_places_stay(kind, text):
    made = {applied(text, [error]) for error in errors_in(text).get(kind, [])}
    assert all("month before" not in text or "a month before" in one for one in made)
    assert "month before" in text or not made


def test_a_word_in_another_form_is_not_lost():
    assert lost_words("When was the bridge opened?", "when bridge opened") == []
    assert lost_words("How many tracks does it have?", "How many track does it have?") == []
    assert lost_words("When was the bridge opened?", "when opened") == ["bridge"]


@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)))
def test_any_text_keeps_its_content_words(text):
    wording = keywords(text)
    assert wording is None or not lost_words(text, wording)
    for found in errors_in(text).values():
        for error in found:
            assert not lost_words(text, applied(text, [error]))


# --- the parts in a light install -----------------------------------------------------------------


@pytest.fixture
def light(monkeypatch):
    monkeypatch.setattr(errors, "is_installed", lambda module: False)


def varied(text, name, answers=("x",)):
    part = catalog.build("variation", name)
    ((variant,),) = part.vary([Question(id="q", text=text, answers=answers)])
    return variant


@pytest.mark.parametrize("name", ["spelling", "keywords", "grammar", "disfluency", "prefix_injection"])
def test_rules_need_no_package_in_a_light_install(light, name):
    assert catalog.lacks_packages("variation", catalog.build("variation", name)) is None
    variant = varied("When was the tower of London opened to the people?", name)
    assert variant.rejected is None
    assert variant.text != "When was the tower of London opened to the people?"


@pytest.mark.parametrize("name", ["keywords", "grammar", "disfluency"])
def test_wordings_checked_by_rules_say_so(light, name):
    assert varied("When was the tower of London opened?", name).provenance["check"] == "rules"


@pytest.mark.parametrize("name", ["keywords", "grammar", "disfluency"])
def test_two_installs_never_count_as_the_same_part(monkeypatch, name):
    full = catalog.spelled(catalog.build("variation", name))
    monkeypatch.setattr(errors, "is_installed", lambda module: False)
    light = catalog.spelled(catalog.build("variation", name))
    assert full != light == catalog.spelled(catalog.build("variation", f"{name}(gate='rules')"))


def test_the_full_check_still_names_its_packages(light):
    needed = catalog.lacks_packages("variation", catalog.build("variation", "keywords(gate='full')"))
    assert needed is not None and "torch" in needed
    assert catalog.lacks_packages("variation", catalog.build("variation", "formality")) is not None


def test_a_wording_that_loses_a_content_word_is_refused(light, monkeypatch):
    monkeypatch.setattr("shaketable.variations.english.by_words.keywords", lambda text: "tower of London")
    refused = varied("When was the tower of London opened?", "keywords")
    assert refused.rejected == "words lost: opened"


def test_an_unknown_gate_is_named():
    with pytest.raises(Exception, match="gate is 'off', expected one of auto, full, rules, none"):
        catalog.build("variation", "keywords(gate='off')")
