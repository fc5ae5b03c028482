from __future__ import annotations

from shaketable.metrics.scoring import references
from shaketable.types import Question


def test_a_sentence_form_reference_goes_before_the_short_answers() -> None:
    question = Question(id="q", text="?", answers=("Paris",), reference="It is Paris.")
    assert references(question) == ("It is Paris.",)


def test_without_a_reference_all_accepted_answers_count() -> None:
    assert references(Question(id="q", text="?", answers=("Paris", "City of Paris"))) == ("Paris", "City of Paris")


def test_an_empty_reference_is_none() -> None:
    for empty in ("", " \n"):
        assert references(Question(id="q", text="?", answers=("Paris",), reference=empty)) == ("Paris",)
