"""Declarative, imperative and readability by rules: a few by hand, 500 real ones by independent checks."""

import re

import pytest
from real_questions import mixed, needs_data

from shaketable.catalog import build
from shaketable.text import language
from shaketable.types import Question

pytestmark = pytest.mark.weights
ASKED = [
    Question(id="a", text="Who directed Jaws?", answers=("x",)),
    Question(id="b", text="When did Mandela write his book?", answers=("x",)),
    Question(id="c", text="Name the Greek dish of vine leaves.", answers=("x",)),
]


def texts(name, asked=ASKED):
    return [variant.text for (variant,) in build("variation", name).vary(asked)]


def test_a_declarative_states_the_wish_to_know():
    first, second, third = texts("declarative")
    assert first.endswith(" who directed Jaws.")
    assert second.endswith(" when Mandela wrote his book.")
    assert re.fullmatch("I (would like|want|need) you to name the Greek dish of vine leaves.", third)


def test_an_imperative_is_a_command():
    first, second, third = texts("imperative")
    assert first.endswith(" who directed Jaws.")
    assert second.endswith(" when Mandela wrote his book.")
    assert third in ("Please name the Greek dish of vine leaves.", "Kindly name the Greek dish of vine leaves.")


def test_what_cannot_be_turned_is_quoted():
    asked = [Question(id="q", text="He plays for a team that comes from which city?", answers=("x",))]
    (stated,), (ordered,) = texts("declarative", asked), texts("imperative", asked)
    assert stated.startswith(("I ", "This is what I "))
    assert not ordered.startswith("I ")
    assert stated.endswith(': "He plays for a team that comes from which city?"')
    assert ordered.endswith(': "He plays for a team that comes from which city?"')


@pytest.mark.parametrize(
    ("name", "question", "unwanted"),
    [
        ("readability", "What is the last name of the man?", "designation"),
        ("readability", "Which high school did he attend?", "educational institution"),
        ("readability", "Who won the championship in Rome?", "individual"),
    ],
)
def test_set_phrases_stay_whole(name, question, unwanted):
    for seed in range(4):
        (made,) = texts(f"{name}(seed={seed})", [Question(id="q", text=question, answers=("x",))])
        assert unwanted not in made


def test_another_seed_opens_otherwise():
    drawn = {tuple(texts(f"declarative(seed={seed})")) for seed in range(6)}
    assert len(drawn) > 3


def test_a_wording_that_is_not_hard_enough_is_refused():
    ((variant,),) = build("variation", "readability(max_ease=-200.0, min_similarity=0.0)").vary(ASKED[:1])
    assert re.fullmatch(r"reading ease -?[\d.]+, expected less than -200.0", variant.rejected)


def test_a_text_without_words_is_kept_and_not_asked():
    ((variant,),) = build("variation", "imperative").vary([Question(id="q", text=" ?", answers=("x",))])
    assert variant.rejected == "it has no words"


# --- 500 real questions ---------------------------------------------------------------------------


def main_clause(text):
    """The words of the sentence that the variation wrote: the last one."""
    *_, last = re.split(r"(?<=[a-z\d)\"][.?]) (?=(?:I|It|This|Tell|Please|Let|Find|Answer|Give) )", text)
    return last


def ends_as_said(text):
    """With a full stop, or with a question after a colon, in quotation marks unless it has both kinds of its own."""
    return text.endswith(".") or bool(re.search(r": (?:[\"“].*[\"”]|.*[\"“”].*)$", text))


def is_statement(text):
    """A subject before the finite verb at the root, and a full stop: read from tags and dependencies alone."""
    sentence = language.parsed(main_clause(text))
    start = [word.tag_ for word in sentence[:3]]
    return ends_as_said(text) and start[0] in ("PRP", "DT") and start[1] in ("VBP", "MD", "VBZ", "VBD")


def is_order(text):
    """A bare verb in front, after `please` at most, without a subject."""
    sentence = [word for word in language.parsed(main_clause(text)) if word.lower_ != "please"]
    verb = sentence[0]
    subjects = [child for child in verb.children if child.dep_ == "nsubj" and child.i < verb.i]
    return ends_as_said(text) and verb.tag_ in ("VB", "VBP") and not subjects


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize(("name", "check"), [("declarative", is_statement), ("imperative", is_order)])
def test_500_real_questions_get_the_sentence_type(name, check):
    asked = mixed(500)
    made = [variant for (variant,) in build("variation", name).vary(asked)]
    accepted = [pair for pair in zip(made, asked, strict=True) if pair[0].rejected is None]
    assert len(accepted) >= 475
    assert all(variant.text != question.text for variant, question in accepted)
    assert [variant.text for variant, _ in accepted if not check(variant.text)] == []


@needs_data
@pytest.mark.slow
@pytest.mark.parametrize("name", ["spelling"])
def test_500_real_questions_pass_the_gate(name):
    asked = mixed(500)
    made = [variant for (variant,) in build("variation", name).vary(asked)]
    accepted = [pair for pair in zip(made, asked, strict=True) if pair[0].rejected is None]
    assert len(accepted) >= 475, [variant.rejected for variant in made if variant.rejected]
    assert all(variant.text != question.text for variant, question in accepted)
