from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_records import QUESTION, record, scores, value

from shaketable.datasets.builtin import load_builtin
from shaketable.metrics.contains import Contains
from shaketable.metrics.correct import Correct
from shaketable.types import Question

QUESTIONS = {question.id: question for question in load_builtin().questions}
JUPITER, LOIRE, SKYTREE, GHANA = "comparison-2-04", "comparison-3-03", "comparison-4-13", "comparison-3-10"
BAIKAL, COFFEE, VIVALDI, DESERTS = "comparison-2-08", "comparison-4-11", "comparison-3-05", "comparison-2-12"
PENZANCE = "bridge-3-13"


def is_right(id: str, text: str, **settings: Any) -> bool:
    return Correct(**settings).explain(text, QUESTIONS[id]).is_right


# Written by the embedded model in the demo. `contains` takes all of them for right.
@pytest.mark.parametrize(
    ("id", "text"),
    [
        (JUPITER, "The diameter of Saturn is approximately 120,000 kilometres larger than that of Jupiter."),
        (PENZANCE, "The Davy lamp was invented by Humphry Davy, not the town of Penzance mentioned in the document."),
        (LOIRE, "The Loire is indeed the river that flows through Paris."),
        (LOIRE, "The Seine is the longer and more pronounced river of the Lake of the Loire."),
        (
            SKYTREE,
            "The CN Tower is the tallest tower in Toronto, while the Tokyo Skytree is the tallest tower in Tokyo.",
        ),
        (BAIKAL, "Lake Baikal is indeed a smaller and more distant lake compared to Lake Tanganyika."),
        (COFFEE, "The plant grown for its leaves is the tea plant. The plant grown for its seeds is the coffee plant."),
        (VIVALDI, "The document states that Antonio Vivaldi was the composer of The Four Seasons."),
        (
            GHANA,
            "Kenya became independent in 1963, which is the year that Ghana became independent. The answer is: Kenya",
        ),
    ],
)
def test_an_accepted_answer_that_is_mentioned_and_not_chosen_is_wrong(id: str, text: str) -> None:
    assert is_right(id, text, choices="mentioned", negation=False)
    assert not is_right(id, text)


@pytest.mark.parametrize(
    ("id", "text"),
    [
        (JUPITER, "Jupiter"),
        (JUPITER, "The answer is: Jupiter."),
        (JUPITER, "Saturn is not larger than Jupiter."),
        (JUPITER, "Saturn is smaller than Jupiter."),
        (JUPITER, "Jupiter has a diameter of 143,000 km, while Saturn has a diameter of 120,000 km."),
        (JUPITER, "Of Saturn and Jupiter, the larger one is Jupiter."),
        (LOIRE, "The Loire is indeed the longer river, which flows from the source to the mouth of the Seine."),
        (LOIRE, "The Seine is shorter. So the answer is the Loire."),
        (BAIKAL, "Lake Baikal is twice as deep as Lake Tanganyika."),
        (VIVALDI, "Vivaldi was born in 1678 and Joseph Haydn in 1732."),
        (VIVALDI, "The composer of The Four Seasons was born first."),
        (SKYTREE, "The tower in Toronto is less than the tower in Sumida."),
    ],
)
def test_an_accepted_answer_that_is_chosen_is_right(id: str, text: str) -> None:
    assert is_right(id, text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("No.", True),
        ("No, the Sahara is in Africa, and yes, the Gobi is in Asia.", True),
        ("The Sahara and the Gobi are indeed on different continents.", True),
        ("They are not on the same continent.", True),
        ("Yes, there is no doubt about it.", False),
        ("Both are on the same continent.", False),
        ("There is no information about it.", False),
        ("The Sahara is a desert.", False),
        ("", False),
    ],
)
def test_yes_and_no_are_what_is_said_first_or_denied(text: str, expected: bool) -> None:
    assert is_right(DESERTS, text) is expected


def test_people_may_be_called_by_their_last_names() -> None:
    born_first = "comparison-2-03"  # Mozart or Bach; Bach
    assert is_right(born_first, "Bach was born before Mozart.")
    assert is_right(born_first, "Mozart was born later than Bach.")
    assert not is_right(born_first, "Mozart was born earlier than Bach.")
    assert not is_right(born_first, "Mozart was born first, then Bach.")


def test_the_reason_names_the_rule() -> None:
    metric, question = Correct(), QUESTIONS[JUPITER]
    assert metric.explain("Saturn is larger than Jupiter.", question).reason == "by `than`"
    assert (
        metric.explain("Jupiter and Saturn.", question).reason == "names the right one and the wrong one, chooses none"
    )
    assert metric.explain("Mars", question).reason == "names neither"


@pytest.mark.parametrize(
    ("text", "gold"),
    [
        ("Which band was formed first The Exies or Circus Diablo ?", "The Exies"),
        ("Was Judith S. Beck or Félix Erviti Barcelona born first?", "Judith S. Beck"),
        ("Is Rutgers University or Brown University public?", "Rutgers University"),
        ("Which band, A Silent Film or The Frames, has more members?", "The Frames"),
    ],
)
def test_the_two_are_found_in_the_wording_alone(text: str, gold: str) -> None:
    question = Question(id="q", text=text, answers=(gold,))
    [other] = [
        name
        for name in ("Circus Diablo", "Félix Erviti Barcelona", "Brown University", "A Silent Film", "The Exies")
        if name in text and name != gold
    ]
    assert Correct().explain(f"It is {gold}, not {other}.", question).is_right
    assert not Correct().explain(f"It is {other}, not {gold}.", question).is_right


def test_a_question_that_names_one_thing_is_no_choice() -> None:
    question = Question(id="q", text="Which river, canal or lake is near Delft?", answers=("Schie",))
    assert Correct().explain("Delft lies on the Schie, a river or canal.", question).is_right


def test_a_question_with_two_aliases_is_no_choice() -> None:
    answers = ("Queen Mary", "RMS Queen Mary", "Grey Ghost", "The Ship", "QM")
    question = Question(id="q", text="Known as the Stately One or the Grey Ghost, which ship is it?", answers=answers)
    assert not Correct().explain("The ship is the Titanic.", question).is_right
    assert Correct().explain("The ship is the Queen Mary.", question).is_right


def test_settings_fall_back_to_contains() -> None:
    plain = Correct(choices="mentioned", yes_no="mentioned", negation=False, in_question="mentioned")
    texts = ["Saturn is larger than Jupiter.", "not the town of Penzance", "know", "no", "Yes, no.", "", "Parisian"]
    for question in QUESTIONS.values():
        given = [record(text, question) for text in texts]
        ours, theirs = plain.score(given, QUESTIONS), Contains().score(given, QUESTIONS)
        assert [score.value for (score,) in ours] == [score.value for (score,) in theirs]


@given(st.text(string.ascii_letters + " .,'", max_size=40), st.text(string.ascii_letters + " .,'", max_size=12))
def test_an_open_question_without_negation_counts_as_in_contains(answer: str, gold: str) -> None:
    if gold.strip().casefold() not in ("yes", "no"):
        metric = Correct(negation=False, in_question="mentioned")
        assert value(metric, answer, gold) == value(Contains(), answer, gold)


def test_a_failed_trial_and_a_question_without_accepted_answers_have_no_number() -> None:
    assert (scores(Correct(), None, "Paris")["correct"].reason) == "failed: timeout"
    assert (scores(Correct(), "Paris")["correct"].reason) == "no accepted answer"


def test_records_keep_their_order_and_keys() -> None:
    found = Correct().score([record("Ann Lee", key="a"), record(None, key="b"), record("Bo", key="c")], {"q": QUESTION})
    assert [(score.key, score.value) for (score,) in found] == [("a", 1.0), ("b", None), ("c", 0.0)]


@pytest.mark.parametrize("settings", [{"choices": "named"}, {"yes_no": "first"}, {"in_question": "always"}])
def test_an_unknown_setting_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        Correct(**settings)


def test_a_model_that_repeats_itself_for_a_thousand_words_is_judged_at_once() -> None:
    # Patterns that try every split of such a text would not end.
    text = "the Loire is longer than longer than the Seine and the Seine not " * 100
    assert isinstance(is_right(LOIRE, text), bool)
    assert isinstance(is_right(LOIRE, "answer Loire is " * 300), bool)


CAPITAL = Question(id="q", text="What is the capital of France?", answers=("Paris",))
SUOMI = Question(
    id="q", text="Which country is known to its people as Suomen Tasavalta?", answers=("Finland", "Suomen Tasavalta")
)
HEIGHT = Question(id="q", text="How many metres tall is the tower?", answers=("12 metres",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Paris", True),
        ("**Paris**", True),
        ("It is not Rome but Paris.", True),
        ("Paris is not only the capital but the largest city.", True),
        ("The capital of France is Paris. It is not Rome.", True),
        ("Sure! Paris is the capital.", True),
        ("Is it Paris? I think so.", True),
        ("Rome? No, Paris.", True),
        ("Rome. Actually, it is Paris.", True),
        ("Paris. Actually, it has been the capital since 987.", True),
        ("The capital is Paris, which is not in Italy.", True),
        ("Rome. Paris is wrong.", False),
        ("Rome. It was once Paris.", False),
        ("not Paris", False),
        ("Paris? No, Rome.", False),
        ("Paris, no wait, Rome.", False),
        ("Paris is not the capital of France.", False),
        ("Paris is the wrong answer: it isn't Paris.", False),
        ("Anything other than Paris.", False),
        ("Parisian", False),
        ("Paris did not become the capital; Rome did.", False),
        ("Paris did not become the capital until 987.", True),
    ],
)
def test_what_is_denied_or_corrected_is_not_answered(text: str, expected: bool) -> None:
    assert Correct().explain(text, CAPITAL).is_right is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The country known to its people as Suomen Tasavalta is Sweden.", False),
        ("Sweden is known to its people as Suomen Tasavalta.", False),
        ("Suomen Tasavalta is a country in the north.", False),
        ("Finland is known to its people as Suomen Tasavalta.", True),
        ("Suomen Tasavalta", True),
        ("The answer is: Suomen Tasavalta.", True),
    ],
)
def test_an_answer_repeated_from_the_question_must_be_asserted(text: str, expected: bool) -> None:
    assert Correct().explain(text, SUOMI).is_right is expected


def test_a_repeated_answer_is_known_in_another_spelling() -> None:
    asked = Question(
        id="q", text="What was the first synthesised element?", answers=("Technetium", "First synthesized")
    )
    assert not Correct().explain("The first synthesized element is beryl.", asked).is_right


def test_an_alias_made_of_words_of_the_question_must_be_asserted() -> None:
    asked = Question(id="q", text="What was the language of the Norse kings?", answers=("Old Norse", "Norse language"))
    assert not Correct().explain("The Norse kings had a Norse language.", asked).is_right
    assert Correct().explain("They spoke Old Norse.", asked).is_right


@pytest.mark.parametrize(
    ("gold", "text", "expected"),
    [
        ("John Fitzgerald Kennedy", "It was John Kennedy.", True),
        ("John F. Kennedy", "It was John Kennedy.", True),
        ("John Kennedy", "It was John F. Kennedy.", True),
        ("John Fitzgerald Kennedy", "It was Robert Kennedy.", False),
        ("New South Wales", "It was Wales.", False),
    ],
)
def test_a_name_may_lack_its_middle(gold: str, text: str, expected: bool) -> None:
    assert (value(Correct(), text, gold) == 1.0) is expected


def test_an_answer_that_the_question_offers_counts_when_mentioned() -> None:
    asked = Question(id="q", text="Which is larger, the Po, the Elbe or the Rhine?", answers=("the Rhine",))
    assert Correct().explain("The Rhine is the largest.", asked).is_right


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12", True),
        ("It is twelve metres tall.", True),
        ("12m", False),
        ("112 metres", False),
        ("12.5 metres", False),
        ("12,000", False),
        ("-12", False),
    ],
)
def test_a_number_needs_no_unit_that_the_question_names(text: str, expected: bool) -> None:
    assert Correct().explain(text, HEIGHT).is_right is expected


def test_a_year_is_no_amount() -> None:
    asked = Question(id="q", text="Which war followed?", answers=("1870 War",))
    assert not Correct().explain("It began in 1870.", asked).is_right


@pytest.mark.parametrize(
    ("gold", "text", "expected"),
    [
        ("iron", "environment", False),
        ("Oman", "Romania", False),
        ("Mali", "Somalia", False),
        ("North Sea", "the North\u00a0\u00a0Sea", True),
        ("I don't know", "I don’t know.", True),
        ("Y'all", "Y'all起き.post", True),
        ("yes", "yes科幻(", True),
        ("no", "yes科幻(", False),
        ("Zürich", "Zurich", True),
        ("14 December 1972", "on December 14, 1972", True),
        ("14 December 1972", "on December 15, 1972", False),
        ("巴黎", "答案是巴黎。", True),
    ],
)
def test_words_and_numbers_are_whole_in_any_spelling(gold: str, text: str, expected: bool) -> None:
    assert (value(Correct(), text, gold) == 1.0) is expected


@given(
    st.text(string.ascii_lowercase, min_size=3, max_size=10).map(str.title),
    st.sampled_from(["**{}**", "_{}_", "`{}`", "“{}”", "'{}'", "\u00a0{}\u2003\n", "# {}", "- {}"]),
)
def test_marks_around_an_answer_never_change_the_verdict(gold: str, around: str) -> None:
    asked = Question(id="q", text="?", answers=(f"{gold} Bay",))
    for text in (f"{gold} Bay", f"It is {gold} Bay.", f"not {gold} Bay", f"It is {gold}.", f"{gold}s Bay"):
        marked = text.replace(f"{gold} Bay", around.format(f"{gold} Bay")).replace(" ", "\u00a0")
        assert Correct().explain(marked, asked).is_right == Correct().explain(text, asked).is_right


@given(
    st.text(string.ascii_lowercase, min_size=2, max_size=10), st.text(string.ascii_lowercase, min_size=1, max_size=3)
)
def test_an_answer_inside_a_longer_word_is_never_right(gold: str, letters: str) -> None:
    asked = Question(id="q", text="?", answers=(gold,))
    if gold not in ("yes", "no", "an", "the"):
        assert not Correct().explain(gold + letters, asked).is_right
        assert not Correct().explain(letters + gold, asked).is_right


@given(st.integers(0, 10**6), st.integers(0, 9))
def test_an_answer_inside_a_longer_number_is_never_right(number: int, digit: int) -> None:
    asked = Question(id="q", text="?", answers=(str(number),))
    for text in (
        f"{number}{digit}",
        f"{digit}{number}",
        f"{number}.{digit}",
        f"{number},{digit:03}",
        f"{number} million",
    ):
        assert Correct().explain(text, asked).is_right is (number == 0 and "million" in text)
