"""Grammar errors by rules: each kind by hand, what stays untouched, and any text at all."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from real_questions import mixed, needs_data

from shaketable.catalog import build
from shaketable.text import language
from shaketable.types import Question
from shaketable.variations.english.edits import applied
from shaketable.variations.english.learner_errors import errors_in
from shaketable.variations.grammar import SHARES, Grammar

pytestmark = pytest.mark.weights


def wrong(text, kind):
    """Every wording with one error of a kind."""
    errors = errors_in(text, list(language.parsed(text)))
    return {applied(text, [error]) for error in errors.get(kind, [])}


def made(text, **settings):
    ((variant,),) = Grammar(**settings).vary([Question(id="q", text=text, answers=("x",))])
    return variant


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("article", "What is the capital of France?", {"What is capital of France?"}),
        ("article", "Which actor owned an airline in Texas?", {
            "Which actor owned airline in Texas?", "Which actor owned a airline in Texas?",
        }),
        ("number", "How many tracks does the album have?", {"How many track does the album have?"}),
        ("tense", "Where did Mozart go?", {"Where did Mozart went?"}),
        ("tense", "When did Mozart die?", {"When did Mozart died?", "When has Mozart died?"}),
        ("tense", "Who wrote Hamlet?", {"Who did wrote Hamlet?", "Who write Hamlet?"}),
        ("tense", "Who is the king who lost Rome?", {"Who is the king who lose Rome?"}),
        ("preposition", "Who was married to Frida Kahlo?", {"Who was married with Frida Kahlo?"}),
        ("preposition", "Who was king in 1990?", {"Who was king at 1990?", "Who was king on 1990?"}),
        ("agreement", "Who plays the drums?", {"Who play the drums?"}),
        ("agreement", "Where were the games held?", {"Where was the games held?"}),
        ("verb_form", "Who left Rome after winning the war?", {"Who left Rome after win the war?"}),
        ("verb_form", "When was Hamlet written?", {"When was Hamlet wrote?"}),
        ("verb_form", "Where does Mozart live?", {"Where does Mozart lives?"}),
        ("word_order", "When was Mozart born?", {"When Mozart was born?"}),
    ],
)  # fmt: skip
def test_each_kind_of_error_is_one_that_learners_make(kind, text, expected):
    assert wrong(text, kind) == expected


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("article", "Who sang the Beatles song?"),  # Part of a name.
        ("article", "who starred in the dark knight"),  # A title in small letters.
        ("article", 'Who wrote "a room with the view of life"?'),
        ("article", "Which war did not last a week?"),  # `last week` is something else.
        ("article", "Which team won a few games?"),  # `few games` is something else.
        ("article", "Which award the singer of Help got?"),  # `which award singer` runs on.
        ("verb_form", "who starred in saving private ryan"),
        ("number", "Which countries border France?"),  # `which country` is something else.
        ("tense", "Who was the president of France?"),  # `who is` is something else.
        ("tense", "Why did Mozart not go?"),
        ("preposition", "How far is it from Rome to Paris?"),
        ("agreement", "Where does the band play?"),  # Bands take either.
        ("article", "What is long about the river Milvian Bridge crosses?"),  # `river Milvian Bridge` runs on.
        ("verb_form", "What prison does somerset county contain"),  # A name that taggers take for a verb.
        ("agreement", "What two rivers mentioned have the same source?"),
        ("tense", "who sang will you come home with dean martin"),  # A title in small letters.
        ("tense", "When did the party Rossi come from take control of Rome?"),  # Which of them `did` belongs to.
        ("article", "Who said the line we are the stuff of the night in Hamlet?"),  # What is cited stays.
        ("word_order", "Which is older, Rome or Paris?"),
        ("word_order", "What is the capital of Peru?"),
    ],
)
def test_what_would_mean_something_else_is_left_alone(kind, text):
    assert wrong(text, kind) == set()


def test_the_provenance_tells_the_errors_and_whether_a_search_sees_them():
    variant = made("When did Mozart die?", n_errors=1)
    assert variant.rejected is None
    assert variant.provenance["kinds"] in (["tense"], ["word_order"])
    assert len(variant.provenance["rules"]) == len(variant.provenance["errors"]) == 1
    assert variant.provenance["checker"].startswith("harper ")
    assert "checker_rule" in variant.provenance
    assert made("What is the capital of Peru?").provenance["changes_search_terms"] is False
    assert made("How many children did Mozart have?", n_errors=3).provenance["changes_search_terms"] is True


def test_a_rule_needs_no_checker_to_confirm_its_error():
    variant = made("What is the capital of Peru?")
    assert (variant.text, variant.rejected) == ("What is capital of Peru?", None)
    assert variant.provenance["checker_rule"] is None


def test_a_setting_says_how_many_errors():
    text = "In which year did the author of the book die?"
    for n in (1, 2, 3):
        assert len(made(text, n_errors=n).provenance["errors"]) == n
    with pytest.raises(ValueError, match="n_errors is 0, expected 1 or more"):
        Grammar(n_errors=0)


def test_a_search_sees_every_error_on_request():
    assert made("What is the capital of Peru?", seen_by_search=True).rejected == "no rule applies to this question"
    for seed in range(5):
        variant = made("When did the author of the book go?", seen_by_search=True, n_errors=1, seed=seed)
        assert variant.provenance["changes_search_terms"] is True


def test_an_error_that_the_original_has_is_not_new():
    part = build("variation", "grammar(by=\"scripted(replies=('Who is the the director of that film Jaws?',))\")")
    question = Question(id="q", text="Who is the the director of the film Jaws?", answers=("x",))
    ((variant,),) = part.vary([question])
    assert variant.rejected.startswith("the checker finds no error")


def test_kinds_are_drawn_by_their_shares():
    text = "In which year did the author of the book die?"
    asked = [Question(id=str(i), text=text, answers=("x",)) for i in range(300)]
    kinds = [kind for (v,) in Grammar(n_errors=1, min_similarity=0).vary(asked) for kind in v.provenance["kinds"]]
    possible = errors_in(text, list(language.parsed(text)))
    total = sum(SHARES[kind] for kind in possible)
    for kind in possible:  # Three standard errors of a share of 300.
        share = SHARES[kind] / total
        assert kinds.count(kind) / 300 == pytest.approx(share, abs=3 * (share * (1 - share) / 300) ** 0.5)


@pytest.mark.parametrize(
    "text", ["Rome", "?", "", "Wer war der Präsident in 1990?", "¿Dónde nació Goya?", "誰が書いた", "who " * 500]
)
def test_what_no_rule_can_read_is_refused_with_a_reason(text):
    assert made(text).rejected


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60), st.sampled_from(["", "Who wrote ", "When did the war in "]))
def test_any_text_is_reworded_or_refused(text, opening):
    variant = made(f"{opening}{text}", min_similarity=0)
    assert variant.rejected or variant.text != f"{opening}{text}"


@needs_data
@pytest.mark.slow
def test_most_real_questions_get_an_error():
    accepted = [variant for (variant,) in Grammar().vary(mixed(500)) if variant.rejected is None]
    assert len(accepted) >= 300
