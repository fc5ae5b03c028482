import csv
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaketable.datasets.adaptive_rag import load_adaptive_rag, parse_printed_array
from shaketable.errors import DataError

np = pytest.importorskip("numpy")

CONTEXT = [
    {
        "idx": 0,
        "is_supporting": True,
        "paragraph_text": 'Queen Hyojeong\'s "father" {was} Hong. } { x',
        "title": "Queen",
    },
    {"idx": 1, "is_supporting": False, "paragraph_text": "Another\nqueen.", "title": "Queen"},
]
ROW = {
    "dataset": "hotpotqa",
    "qid": "a1",
    "question_text": "Who is it?",
    "type": "bridge",
    "level": "hard",
    "reference": ["Hong", "O'Hong"],
    "context": CONTEXT,
}


def write(tmp_path, text, name="nq.jsonl"):
    path = tmp_path / name
    path.write_text(text, newline="")
    return str(path)


def as_csv(tmp_path, row):
    """As pandas writes a frame whose cells hold arrays: each cell is what the array prints."""
    cells = {
        name: str(np.array(value, dtype=object)) if isinstance(value, list) else value for name, value in row.items()
    }
    path = tmp_path / "test.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, cells)
        writer.writeheader()
        writer.writerow(cells)
    return str(path)


def test_json_lines_and_printed_arrays_give_the_same_question(tmp_path):
    lines = load_adaptive_rag(write(tmp_path, json.dumps(ROW)))
    assert load_adaptive_rag(as_csv(tmp_path, ROW)) == lines
    (question,) = lines.questions
    assert (question.id, question.answers) == ("a1", ("Hong", "O'Hong"))
    assert [document.title for document in question.documents] == ["Queen", "Queen"]
    assert [question.sentence(id).text for id in question.supporting] == [CONTEXT[0]["paragraph_text"]]
    assert question.gold_titles == ("Queen",)
    tags = {"subset": "hotpotqa", "type": "bridge", "level": "hard", "n_facts": 1}
    assert question.tags == tags | {"canonical": False}  # several accepted answers, in no order


def test_files_of_adaptive_rag_itself_are_read(tmp_path):
    spans = [{"number": "", "date": {}, "spans": ["Hong"]}, {"number": "", "date": {}, "spans": ["H.", "Hong"]}]
    row = {"question_id": "a1", "question_text": "Who?", "answers_objects": spans, "contexts": CONTEXT}
    (question,) = load_adaptive_rag(write(tmp_path, json.dumps(row))).questions
    assert question.answers == ("Hong", "H.")
    assert len(question.documents) == 2


def test_closed_book_rows_need_no_context(tmp_path):
    row = {"dataset": "nq", "qid": "single_nq_dev_1", "question_text": "who", "reference": ["me"]}
    (question,) = load_adaptive_rag(write(tmp_path, json.dumps(row))).questions
    assert (question.id, question.documents, question.tags) == ("single_nq_dev_1", (), {"subset": "nq", "n_facts": 0})


def test_a_cell_with_an_array_inside_is_read():
    cell = "[{'number': '', 'spans': array(['Hong', \"O'Hong\"], dtype=object)}]"
    assert parse_printed_array(cell) == [{"number": "", "spans": ["Hong", "O'Hong"]}]


@given(st.lists(st.text(max_size=20), max_size=8))
def test_texts_come_back_as_numpy_prints_them(texts):
    # NumPy itself is the reference: the members are printed without commas, over several lines.
    assert parse_printed_array(str(np.array(texts, dtype=object))) == texts
    objects = [{"title": text, "is_supporting": True} for text in texts]
    assert parse_printed_array(str(np.array(objects, dtype=object))) == objects


def test_a_cell_that_calls_something_is_refused_not_run(tmp_path):
    cells = ["__import__('os').getcwd()", "[open('x')]", "array(", "[1 2"]
    for cell in cells:
        with pytest.raises(ValueError, match="expected a printed list"):
            parse_printed_array(cell)
    table = "qid,question_text,reference\n1,Who?,\"['Hong']\"\n2,Who?,[open('x')]\n3,Who?\n"
    loaded = load_adaptive_rag(write(tmp_path, table, "t.csv"))
    assert [rejected.where for rejected in loaded.rejected] == ["t.csv line 3 (2)", "t.csv line 4"]
    assert loaded.rejected[0].reason == "'reference' is \"[open('x')]\", expected a printed list."


def test_no_path_is_said():
    with pytest.raises(DataError, match=r"'adaptive_rag' needs a path.*AdaRAGUE"):
        load_adaptive_rag()
