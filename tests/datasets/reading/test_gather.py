import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaketable.datasets.reading.gather import gather, id_from, parse_printed_list, question_and_answers
from shaketable.datasets.reading.rows import Row, RowError, make_question
from shaketable.errors import DataError
from shaketable.text.plain import NORMALIZATIONS
from shaketable.types import Rejected


def made(row, unanswerable=None):
    return make_question(
        id=row.value["id"],
        text=row.value.get("text", "Who?"),
        answers=row.value["answers"],
        dataset="d",
        documents=(),
        facts=(),
        tags={"unanswerable": unanswerable},
    )


def loaded(*answer_lists, **settings):
    rows = [Row(where=f"f line {n}", value={"id": f"q{n}", "answers": a}) for n, a in enumerate(answer_lists, 1)]
    return gather(rows, lambda row: made(row, **settings), name="f", advice="Known layouts: one.")


def test_aliases_keep_their_order_and_come_once():
    (question,) = loaded(["York", " York ", "YORK", "", "City of York", "York"]).questions
    assert question.answers == ("York", "YORK", "City of York")


def test_an_answer_of_which_a_normalization_leaves_nothing_is_dropped_or_rejects_its_row():
    result = loaded(["The", "The Band"], ["."], ["the", "---"], [], [" "], ["A. A. Milne"])
    assert [question.answers for question in result.questions] == [("The Band",), ("A. A. Milne",)]
    (remark,) = result.remarks
    assert remark.where == "f line 1 (q1)"
    assert (
        remark.text == "The accepted answer 'The' was dropped: nothing is left of it under the normalization 'squad'."
    )
    assert [(rejected.where, rejected.reason) for rejected in result.rejected] == [
        ("f line 2 (q2)", "nothing is left of '.' under the normalization 'casefold_strip'."),
        ("f line 3 (q3)", "nothing is left of 'the', '---' under the normalization 'squad'."),
        ("f line 4 (q4)", "it has no accepted answer."),
        ("f line 5 (q5)", "it has no accepted answer."),
    ]


@given(st.lists(st.text(st.sampled_from("aeht .'-_A1é"), max_size=6), max_size=5))
def test_every_answer_that_stays_can_be_compared_and_every_other_is_accounted_for(answers):
    try:
        result = loaded(answers, ["Paris"])
    except DataError:
        pytest.fail("a good row stands beside it")
    kept = [question for question in result.questions if question.id == "q1"]
    stay = {answer for question in kept for answer in question.answers}
    given_answers = {answer.strip() for answer in answers} - {""}
    assert all(normalize(answer).strip() for answer in stay for normalize in NORMALIZATIONS.values())
    if kept:
        assert len(given_answers - stay) == len(result.remarks)
    else:
        assert len(result.rejected) == 1


def test_an_unanswerable_question_has_no_answers():
    (question,) = loaded(["what it would have been"], unanswerable=True).questions
    assert question.answers == ()


def test_where_nothing_is_left_the_first_reason_and_the_layouts_are_said():
    rows = [Rejected(where="f line 1", reason="broken JSON at column 2: x."), Row(where="f line 2", value={})]

    def refuse(row):
        raise RowError("'id' is missing.")

    message = "f: no question is left of 2. First, f line 1: broken JSON at column 2: x. Known layouts: one."
    with pytest.raises(DataError) as error:
        gather(rows, refuse, name="f", advice="Known layouts: one.")
    assert str(error.value) == message


def test_a_second_row_with_one_id_is_rejected():
    rows = [Row(where=f"f line {n}", value={"id": "same", "answers": ["a1"]}) for n in (1, 2)]
    result = gather(rows, made, name="f", advice="")
    assert len(result.questions) == 1
    assert result.rejected == (Rejected(where="f line 2 (same)", reason="the id 'same' was already used in f line 1."),)


@given(st.lists(st.text()))
def test_a_printed_list_is_read_back(answers):
    assert parse_printed_list(repr(answers)) == answers
    assert question_and_answers(["Who?", repr(answers)]) == ("Who?", answers)


@pytest.mark.parametrize("text", ["", "Paris", "['a'", "{'a': 1}", "[1]", "__import__('os')", "[" * 5000])
def test_what_is_no_printed_list_says_so(text):
    with pytest.raises(RowError, match="expected a printed list"):
        parse_printed_list(text)


def test_a_line_with_three_cells_is_no_question():
    with pytest.raises(RowError, match="found 3 cells"):
        question_and_answers(["Who?", "['a']", "x"])


def test_an_id_comes_from_the_text_alone():
    assert id_from(" Who? ") == id_from("Who?") != id_from("who?")
