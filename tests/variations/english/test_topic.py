"""Which question points at what it is about, and with which word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaketable.variations.english.topic import find_topic, point_at_topic


@pytest.mark.parametrize(
    ("question", "topic", "pointing"),
    [
        ("Who directed Jaws?", "Jaws", "Who directed it?"),
        ("Who wrote The Magic Mountain?", "The Magic Mountain", "Who wrote it?"),
        ("Where was Marie Curie born?", "Marie Curie", "Where was this person born?"),
        ("Who is Niels Bohr's father?", "Niels Bohr", "Who is this person's father?"),
        ("What is the capital of Kenya?", "Kenya", "What is its capital?"),
        ("Where did the director of film Stalker die?", "the film Stalker", "Where did the director of this film die?"),
        ('Who is the author of "A Long Way"?', "A Long Way", "Who is its author?"),
        ("When was the Eiffel Tower built?", "Eiffel Tower", "When was it built?"),
    ],
)
def test_a_sure_shape_points_at_its_one_name(question, topic, pointing):
    found = point_at_topic(question)
    assert (found.topic, found.text) == (topic, pointing)


@pytest.mark.parametrize(
    "question",
    [
        "Who is older, Jaws or King Kong?",
        "What is the state capital of Alaska?",
        "Who wrote the hit song Murray Head is known for?",
        "who directed jaws",
        "What did Niels Bohr tell Albert Einstein?",
        "How many lions guard the column?",
        "",
    ],
)
def test_what_is_not_sure_is_left_alone(question):
    assert point_at_topic(question) is None


def test_the_topic_of_a_conversation_is_the_first_name():
    assert find_topic("What did Niels Bohr tell Albert Einstein?") == "Niels Bohr"
    assert find_topic("how many lions guard it") is None


@given(st.text(max_size=200))
def test_any_text_gives_a_pointing_question_without_its_topic_or_none(text):
    found = point_at_topic(text)
    assert found is None or (found.text != text and found.topic)
