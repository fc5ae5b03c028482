"""Questions in the word order of other languages."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shaketable.types import Question
from shaketable.variations.non_native import NonNative

pytestmark = pytest.mark.weights


def made(text, **settings):
    ((variant,),) = NonNative(**settings).vary([Question(id="q", text=text, answers=("x",))])
    return variant


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("german", "Where did Mozart die?", "Where died Mozart?"),
        ("german", "When did Columbus discover America?", "When has Columbus discovered America?"),
        ("german", "Which writer won the Nobel Prize in 1954?", "Which writer has won the Nobel Prize in 1954?"),
        ("german", "What is the name of the river in Rome?", "How is the name of the river in Rome?"),
        ("spanish", "What is the capital of Peru?", "Which is the capital of Peru?"),
        ("spanish", "What does the word Peru mean?", "What means the word Peru?"),
        ("german", "What is the river called?", "How is the river called?"),
        ("spanish", "What is the river called?", "How is called the river?"),
        ("slavic", "Where was the author of Hamlet born?", "Where author of Hamlet was born?"),
        ("slavic", "Who is the father of the king of Spain?", "Who is father of king of Spain?"),
        ("slavic", "What did the actress in Cats win?", "What the actress in Cats won?"),  # Not: what actress.
        ("chinese", "How many tracks does Abbey Road have?", "How many track Abbey Road has?"),
        ("chinese", "Are Rome and Paris in the same country?", "Rome and Paris are in same country?"),
    ],
)
def test_each_language_has_its_own_order(language, text, expected):
    texts = {made(text, language=language, seed=seed).text for seed in range(8)}
    assert expected in texts


def test_verbs_come_before_their_subjects_in_spanish():
    texts = {made("When was Mozart born?", language="spanish", seed=seed).text for seed in range(8)}
    assert texts == {"When was born Mozart?", "When Mozart was born?"}


def test_nobody_takes_the_object_for_the_subject():
    """`Who killed Hamlet` for `Who did Hamlet kill` would be another question."""
    for language in ("german", "spanish", "slavic", "chinese"):
        variant = made("Who did Hamlet kill?", language=language)
        assert variant.rejected or variant.text == "Who Hamlet killed?"


@pytest.mark.parametrize(
    "text",
    [
        "What did European traders exchange with others?",  # Which traders?
        "What is the Silver Streak?",  # None of several.
        "What did Darwin believe were the reasons?",
        "What is the cross on the banners known as?",
    ],
)
def test_an_order_that_asks_something_else_is_no_proposal(text):
    assert made(text, language="spanish").rejected == "no rule applies to this question"


def test_the_language_is_told_and_may_be_drawn():
    drawn = {made("When did the war start?", seed=seed).provenance["language"] for seed in range(20)}
    assert drawn == {"chinese", "german", "slavic", "spanish"}
    with pytest.raises(ValueError, match="language is 'klingon', expected any or one of chinese, german"):
        NonNative(language="klingon")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Rome", "not_english"),
        ("", "not_english"),
        ("Who sang Help?", "no_rule_applies"),
        ("are rome and paris in the same country", "no_rule_applies"),
        ("Wo ist der Dom?", "not_english"),
        ("who " * 500, "not_english"),
    ],
)
def test_what_no_rule_can_turn_is_refused_with_a_reason(text, kind):
    assert made(text).refusal == kind


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60), st.sampled_from(["", "Who is the ", "When did the war in "]))
def test_any_text_is_reworded_or_refused(text, opening):
    variant = made(f"{opening}{text}", min_similarity=0)
    assert variant.rejected or variant.text != f"{opening}{text}"
