from __future__ import annotations

import pytest

from shaketable.datasets.csv import load_csv
from shaketable.datasets.table import load_table
from shaketable.errors import DataError


def load(tmp_path, text):
    file = tmp_path / "questions.csv"
    file.write_text(text, encoding="utf-8")
    return load_csv(str(file))


def test_questions_with_answers_context_and_tags(tmp_path):
    loaded = load(
        tmp_path,
        'Question,Answers,context,topic\n"Who wrote Emma, the novel?",Jane Austen | Austen,"Emma is a novel. It is by '
        'Jane Austen.\n\nAusten was born in 1775.",books\n',
    )
    [question] = loaded.questions
    assert question.text == "Who wrote Emma, the novel?"
    assert question.answers == ("Jane Austen", "Austen")
    assert [document.text for document in question.documents] == [
        "Emma is a novel. It is by Jane Austen.",
        "Austen was born in 1775.",
    ]
    assert len(question.supporting) == 3 and all(question.sentence(id) for id in question.supporting)
    assert question.tags["topic"] == "books"
    assert len(loaded.corpus) == 2


def test_columns_as_other_tools_name_them(tmp_path):
    loaded = load(
        tmp_path, """query,ground_truth,contexts\nWho?,"['Ann', 'A. Lee']","['Ann did it.', ""It's late.""]"\n"""
    )
    [question] = loaded.questions
    assert (question.text, question.answers) == ("Who?", ("Ann", "A. Lee"))
    assert [document.text for document in question.documents] == ["Ann did it.", "It's late."]


def test_our_own_name_goes_before_that_of_another_tool(tmp_path):
    [question] = load(tmp_path, "question,query,answer\nWho?,who did it,[Ann]\n").questions
    assert (question.text, question.tags["query"], question.answers) == ("Who?", "who did it", ("[Ann]",))


def test_questions_alone_are_enough(tmp_path):
    loaded = load(tmp_path, "question\nWho?\nWhen?\n")
    assert [question.answers for question in loaded.questions] == [(), ()]


def test_a_byte_order_mark_of_a_spreadsheet_is_no_part_of_a_column(tmp_path):
    file = tmp_path / "questions.csv"
    file.write_bytes(b"\xef\xbb\xbfquestion,answer\r\nWho?,Ann\r\n")
    assert load_csv(str(file)).questions[0].answers == ("Ann",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("frage,answer\nWho?,Ann\n", "no column is named 'question'.*Found: 'frage', 'answer'"),
        ("question,answer\n", "found no questions below the header"),
        ("question,answer\n,\n", "found no questions below the header"),
        ("question,answer\nWho?,\n", "line 2: 'answer' is empty.*take out the whole column"),
        ("question,answer\nWho, when?,Ann\n", "line 2: found 3 cells, expected 2.*quotation marks"),
        (
            "question,answer\nWho?,Ann\nWho?,Bob\n",
            "line 3: the same question as in questions.csv line 2. Give each question its own id.",
        ),
        ("query,user_input\nWho?,Who?\n", "two columns are the question, the second is 'user_input'"),
        ("question,Question\nWho?,Who?\n", "two columns are the question"),
        ("question,answer,n_facts\nWho?,Ann,3\n", "'n_facts', which means something else"),
    ],
)
def test_what_is_wrong_is_named_with_its_line_and_what_to_do(tmp_path, text, said):
    with pytest.raises(DataError, match=said):
        load(tmp_path, text)


def test_a_missing_path_or_file_is_told(tmp_path):
    with pytest.raises(DataError, match="needs a path"):
        load_csv()
    with pytest.raises(DataError, match=r"There is no file questions\.csv"):
        load_csv(str(tmp_path / "questions.csv"))


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_columns_may_be_separated_by_semicolons_or_tabs(tmp_path, delimiter):
    [question] = load(tmp_path, "question,answer\nWho?,Ann\n".replace(",", delimiter)).questions
    assert (question.text, question.answers) == ("Who?", ("Ann",))


def test_rows_without_a_question_are_left_out_and_listed(tmp_path):
    loaded = load(tmp_path, "question,answer\nWho?,Ann\n,\n\n ,Bob\nWhen?,Now\n")
    assert [question.text for question in loaded.questions] == ["Who?", "When?"]
    assert [(row.where, row.reason) for row in loaded.rejected] == [
        ("questions.csv line 3", "the row is empty."),
        ("questions.csv line 5", "the question is empty."),
    ]


def test_table_and_csv_leave_out_the_same_rows(tmp_path):
    loaded = load(tmp_path, "question,answer\nWho?,Ann\n,\n ,Bob\nWhen?,Now\n")
    as_table = load_table(str(tmp_path / "questions.csv"))
    assert as_table.rejected == loaded.rejected
    assert [question.text for question in as_table.questions] == [question.text for question in loaded.questions]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "question\nWho?\nWo steht das Caf\xe9?\n".encode("cp1252"),
            r"questions.csv line 3: byte 16 \(0xE9\) is not UTF-8; as Windows-1252 \(Latin-1\) it reads "
            r"'Wo steht das Caf\xe9\?'.*iconv -f WINDOWS-1252",
        ),
        ("question\nWho?\n".encode("utf-16"), r"questions.csv is UTF-16.*iconv -f UTF-16"),
        (b"question\nWho \x81\x8d\x8f?\n", r"line 2: byte 4 \(0x81\) is not UTF-8\. Save the file as UTF-8\."),
    ],
)
def test_another_encoding_names_line_and_conversion(tmp_path, content, message):
    file = tmp_path / "questions.csv"
    file.write_bytes(content)
    with pytest.raises(DataError, match=message):
        load_csv(str(file))
