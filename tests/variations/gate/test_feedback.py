"""What a model is told about a wording that was refused."""

from shaketable.variations.gate.feedback import MAX_FEEDBACK, feedback_on
from shaketable.variations.gate.refusal import Refusal


def test_a_reason_is_a_sentence_with_what_to_do():
    assert feedback_on(Refusal(kind="numbers_lost", text="numbers lost: 12")) == (
        "Numbers lost: 12. Keep every number as it is written in the question."
    )


def test_a_kind_without_advice_tells_the_reason_alone():
    assert feedback_on(Refusal(kind="of_another_package", text="too green.")) == "Too green."


def test_a_long_reason_is_cut_so_that_the_plan_knows_the_most_it_costs():
    told = feedback_on(Refusal(kind="names_lost", text="names lost: " + ", ".join(["Rome"] * 500)))
    assert len(told) == MAX_FEEDBACK
    assert told.endswith("Keep these words exactly as they are written in the question.")
