import json
import re
from pathlib import Path

import pytest

from shaketable.datasets.jsonl import load_jsonl
from shaketable.errors import DataError

ROW = {
    "id": 7,
    "question": "Which was founded first?",
    "answers": ["Beta"],
    "documents": [{"title": "Alpha", "sentences": ["A0.", "A1."]}, {"title": "Beta", "text": "B0. B1."}],
    "facts": [["Alpha", 1], ["Beta", 0]],
}
PLAIN = {"question": "Who?", "answers": ["Me"]}


def write(tmp_path, *rows):
    path = tmp_path / "nq.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return str(path)


def test_a_full_row_becomes_a_question(tmp_path):
    row = {**ROW, "type": "comparison", "tags": {"source": "desk", "year": 2024}, "reference": "Beta was first."}
    (question,) = load_jsonl(write(tmp_path, row)).questions
    assert (question.id, question.dataset, question.reference) == ("7", "jsonl", "Beta was first.")
    assert question.tags == {"type": "comparison", "n_facts": 2, "source": "desk", "year": 2024}
    # Beta came as one text, and its fact means all of it.
    assert question.supporting == ("Alpha#1", "Beta#0", "Beta#1")
    assert [question.sentence(id).text for id in ("Beta#0", "Beta#1")] == ["B0.", "B1."]


def test_a_fact_that_names_a_sentence_of_one_text_is_an_error(tmp_path):
    row = {**ROW, "facts": [["Beta", 1]]}
    with pytest.raises(DataError, match=r"the fact \['Beta', 1\] names a sentence of a document that came as one text"):
        load_jsonl(write(tmp_path, row))


def test_an_id_is_made_from_the_text_wherever_the_row_stands(tmp_path):
    alone = load_jsonl(write(tmp_path, PLAIN)).questions[0]
    second = load_jsonl(write(tmp_path, ROW, PLAIN)).questions[1]
    assert alone == second
    assert re.fullmatch("[0-9a-f]{16}", alone.id)


def test_an_unanswerable_question_has_no_answers(tmp_path):
    (question,) = load_jsonl(write(tmp_path, {"question": "Who?", "tags": {"unanswerable": True}})).questions
    assert question.answers == ()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"question": "Who?", "answers": []},
            "'answers' is empty. Give an accepted answer, or tag the question 'unanswerable'.",
        ),
        ({"question": "Who?"}, "'answers' is empty. Give an accepted answer, or tag the question 'unanswerable'."),
        ({**PLAIN, "answers": [" "]}, "'answers' holds an empty text. Take it out."),
        (
            {**PLAIN, "tags": {"unanswerable": True}},
            "tagged 'unanswerable' with 1 answers. Leave out the tag or the answers.",
        ),
        ({**PLAIN, "question": ""}, "'question' is empty. Give the question's text."),
        (
            {**PLAIN, "answers": "Me"},
            "'answers' is 'Me', expected a valid list. `shaketable docs data` shows the layout.",
        ),
        (
            {**PLAIN, "anwsers": []},
            "'anwsers' is no known key. Did you mean 'answers'? Known keys: id, question, answers, type, level, tags, "
            "documents, facts, reference. `shaketable docs data` shows the layout.",
        ),
        (
            {**ROW, "facts": [["Alpha", 5]]},
            "the fact ['Alpha', 5] names no sentence; 'Alpha' has the sentences 0, 1. "
            "Facts are [title, sentence index from 0]. `shaketable docs data` shows the layout.",
        ),
        (
            {**ROW, "facts": [["Gamma", 0]]},
            "the fact ['Gamma', 0] names no document; titles: Alpha, Beta. "
            "Facts are [title, sentence index from 0]. `shaketable docs data` shows the layout.",
        ),
        (
            {**PLAIN, "documents": [{"title": "Alpha"}]},
            "the document 'Alpha' needs either 'sentences' or 'text'. `shaketable docs data` shows the layout.",
        ),
        (
            {**PLAIN, "documents": [{"title": "Alpha", "txt": "x"}]},
            "'documents[0].txt' is no known key. `shaketable docs data` shows the layout.",
        ),
        (
            {**PLAIN, "tags": {"type": "x"}},
            "'tags' holds 'type'. Write type and level beside 'question'; n_facts is counted.",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, row, message):
    with pytest.raises(DataError) as error:
        load_jsonl(write(tmp_path, {**ROW, "id": "good"}, row))
    assert str(error.value) == f"nq.jsonl line 2: {message}"


def test_doubled_ids_an_empty_file_and_no_path_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"nq.jsonl line 2: the id '7' was already used in nq.jsonl line 1"):
        load_jsonl(write(tmp_path, ROW, ROW))
    with pytest.raises(DataError, match=r"nq.jsonl: found no questions"):
        load_jsonl(write(tmp_path))
    with pytest.raises(DataError, match=r"needs a path"):
        load_jsonl()


def test_a_file_of_another_layout_names_its_columns_and_the_rows_to_read(tmp_path):
    rows = [
        {"key": 1, "set": "capitals", "asked": "What is the capital of Peru?", "accepted": ["Lima"], "score": 0.3},
        {"key": 1, "set": "rivers", "asked": "Which river flows through Lima?", "accepted": ["Rímac"], "score": 0.5},
    ]
    columns = {"id": "key", "question": "asked", "answers": "accepted"}
    loaded = load_jsonl(write(tmp_path, *rows), columns=columns, rows={"set": "rivers"})
    assert [(q.id, q.text, q.answers) for q in loaded.questions] == [("1", rows[1]["asked"], ("Rímac",))]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"columns": {"query": "asked"}}, "dataset.columns: 'query' is no key of ours. Keys: id, question, answers"),
        ({"columns": {"question": "aksed"}}, "line 1: 'aksed' is missing. Did you mean 'asked'"),
        ({"rows": {"sett": "x"}}, "line 1: 'sett' is missing. Did you mean 'set'"),
        ({"rows": {"set": "x"}}, "no row has {'set': 'x'}. Check dataset.rows."),
    ],
)
def test_columns_and_rows_that_are_not_there_are_named(tmp_path, settings, message):
    path = write(tmp_path, {"set": "rivers", "asked": "Which river flows through Lima?"})
    with pytest.raises(DataError, match=re.escape(message)):
        load_jsonl(path, **settings)


def test_the_documented_rows_load(tmp_path):
    text = (Path(__file__).parents[2] / "docs" / "data.md").read_text()
    blocks = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    rows = [json.loads(line) for block in blocks for line in block.splitlines()]
    # Rows of answers made elsewhere stand on the same page.
    questions = load_jsonl(write(tmp_path, *(row for row in rows if "answer" not in row))).questions
    assert [len(question.answers) for question in questions] == [1, 2, 0]
    assert questions[1].supporting == ("Alpha#0", "Beta#0")
