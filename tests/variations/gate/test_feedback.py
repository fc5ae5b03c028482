"""What a model is told about a wording that was refused."""

import pytest

from shaketable.variations.gate.feedback import MAX_FEEDBACK, advice_by_kind, feedback_on
from shaketable.variations.gate.refusal import Refusal


def test_a_reason_is_a_sentence_with_what_to_do():
    assert feedback_on(Refusal(kind="numbers_lost", text="numbers lost: 12")) == (
        "Numbers lost: 12. Keep every number as it is written in the question."
    )


def test_a_kind_without_advice_tells_the_reason_alone():
    assert feedback_on(Refusal(kind="of_another_package", text="too green.")) == "Too green."


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("too_easy_to_read", "reading ease 69.0, expected less than 60"),
        ("similarity_too_low", "similarity 0.43 to the original, expected 0.55 or more"),
        ("numbers_added", "numbers added: 21"),
        ("no_error_found", "the checker finds no error: harper 0.2.1"),
    ],
)
def test_figures_that_are_not_the_questions_stay_out(kind, text):
    told = feedback_on(Refusal(kind=kind, text=text))
    assert told and not any(map(str.isdigit, told))


def test_every_kind_of_refusal_with_figures_has_advice():
    assert not any(map(str.isdigit, " ".join(advice_by_kind().values())))


def test_a_long_reason_is_cut_so_that_the_plan_knows_the_most_it_costs():
    told = feedback_on(Refusal(kind="names_lost", text="names lost: " + ", ".join(["Rome"] * 500)))
    assert len(told) == MAX_FEEDBACK
    assert told.endswith("Keep these words exactly as they are written in the question.")
