"""Somebody's table, whatever its layout: the columns that a study names become questions; nothing is lost unsaid."""

from __future__ import annotations

import json
from pathlib import Path

import polars
import pytest

from shaketable.datasets.table import load_table
from shaketable.errors import DataError

COLUMNS = {"question": "Frage", "answer": "Antwort", "context": "Text", "id": "Nr"}
ROWS = [
    {"Nr": 1, "Frage": "Wo?", "Antwort": "Paris | City of Light", "Text": "It is in Paris. It is old.", "Art": "ort"},
    {"Nr": 2, "Frage": "Wer?", "Antwort": "Jane Austen", "Text": "She wrote it.", "Art": "person"},
]


def write(file: Path, rows: list[dict[str, object]] = ROWS) -> str:
    match file.suffix:
        case ".parquet":
            polars.DataFrame(rows).write_parquet(file)
        case ".jsonl":
            file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        case _:
            mark = {".csv": ",", ".ssv": ";", ".tsv": "\t"}[file.suffix]
            lines = [rows[0].keys(), *(row.values() for row in rows)]
            file.write_text("".join(mark.join(f'"{cell}"' for cell in line) + "\n" for line in lines), "utf-8")
    return str(file)


@pytest.mark.parametrize("suffix", ["csv", "ssv", "tsv", "jsonl", "parquet"])
def test_the_same_rows_are_the_same_questions_in_every_layout(tmp_path, suffix):
    loaded = load_table(write(tmp_path / f"rows.{suffix}"), columns=COLUMNS, tags=["Art"])
    first, second = loaded.questions
    assert (first.id, first.text, first.answers, first.tags["Art"]) == ("1", "Wo?", ("Paris", "City of Light"), "ort")
    assert [sentence.text for sentence in first.documents[0].sentences] == ["It is in Paris.", "It is old."]
    assert first.supporting == ("1/1#0", "1/1#1")
    assert (second.id, second.answers, loaded.rejected) == ("2", ("Jane Austen",), ())


@pytest.mark.parametrize(
    ("value", "answers"),
    [
        ("Paris", ("Paris",)),
        (["Paris", "City of Light"], ("Paris", "City of Light")),
        ("['Paris', 'City of Light']", ("Paris", "City of Light")),
        ({"text": ["Paris"], "answer_start": [3]}, ("Paris",)),
        ({"value": "Paris", "aliases": ["City of Light"], "type": "x"}, ("Paris", "City of Light")),
        (1889, ("1889",)),
        (1889.0, ("1889",)),
        (True, ("yes", "true")),
    ],
)
def test_an_answer_is_read_whatever_its_type(tmp_path, value, answers):
    path = write(tmp_path / "rows.jsonl", [{"question": "Which one?", "answer": value}])
    assert load_table(path).questions[0].answers == answers


@pytest.mark.parametrize(
    ("value", "passages"),
    [
        ("One.\n\nTwo.", [("Context 1", "One."), ("Context 2", "Two.")]),
        (["One.", "Two."], [("Context 1", "One."), ("Context 2", "Two.")]),
        ([{"title": "A", "text": "One."}], [("A", "One.")]),
        ({"title": ["A", "B"], "sentences": [["One."], ["Two."]]}, [("A", "One."), ("B", "Two.")]),
        ([["A", ["One."]]], [("A", "One.")]),
        ([{"page_content": "One."}], [("Context 1", "One.")]),
        (None, []),
    ],
)
def test_passages_are_read_whatever_their_shape(tmp_path, value, passages):
    path = write(tmp_path / "rows.jsonl", [{"question": "Which one?", "answer": "it is", "context": value}])
    documents = load_table(path).questions[0].documents
    assert [(document.title, document.sentences[0].text) for document in documents] == passages


def test_a_column_inside_an_object_is_named_by_its_path(tmp_path):
    path = write(tmp_path / "rows.jsonl", [{"q": {"words": "Where is it?"}, "a": {"said": {"short": "here"}}}])
    question = load_table(path, columns={"question": "q.words", "answer": "a.said.short"}).questions[0]
    assert (question.text, question.answers) == ("Where is it?", ("here",))


def test_rows_that_cannot_be_asked_are_left_out_and_listed(tmp_path):
    rows = [*ROWS, {**ROWS[0], "Nr": 3, "Frage": ""}, {**ROWS[0], "Nr": 4, "Antwort": " "}, {**ROWS[0], "Nr": 1}]
    loaded = load_table(write(tmp_path / "rows.csv", rows), columns=COLUMNS)
    assert len(loaded.questions) == 2
    assert [(row.where, row.reason) for row in loaded.rejected] == [
        ("rows.csv line 4", "the question is empty."),
        ("rows.csv line 5", "it has no accepted answer."),
        ("rows.csv line 6", "the id '1' was already used in rows.csv line 2."),
    ]


def test_without_a_column_of_answers_questions_have_none(tmp_path):
    loaded = load_table(write(tmp_path / "rows.csv"), columns={"question": "Frage"})
    assert [question.answers for question in loaded.questions] == [(), ()]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, r"no column is named 'question'.*Found: Nr, Frage"),
        ({"columns": {"question": "Frag"}}, r"dataset.columns.question: .*'Frag'. Did you mean 'Frage'\?"),
        ({"columns": {"questoin": "Frage"}}, r"unknown key 'questoin'\. Did you mean 'question'\?"),
        ({"columns": COLUMNS, "tags": ["Arten"]}, r"dataset.tags: .*'Arten'. Did you mean 'Art'\?"),
    ],
)
def test_a_wrong_column_is_named_with_those_there_are(tmp_path, settings, message):
    with pytest.raises(DataError, match=message):
        load_table(write(tmp_path / "rows.csv"), **settings)


def test_two_columns_of_one_name_are_refused(tmp_path):
    (tmp_path / "rows.csv").write_text("question,answer,answer\nWho?,a,b\n")
    with pytest.raises(DataError, match="two columns are named 'answer'"):
        load_table(str(tmp_path / "rows.csv"))


def test_a_folder_of_splits_is_read_like_a_dataset_of_the_hub(tmp_path):
    for split in ("train", "validation"):
        write(tmp_path / f"{split}-00000-of-00001.parquet", [{**ROWS[0], "Frage": f"From {split}?"}])
    assert load_table(str(tmp_path), columns=COLUMNS).questions[0].text == "From validation?"
    assert load_table(str(tmp_path), split="train", columns=COLUMNS).questions[0].text == "From train?"


def test_a_dataset_of_the_hub_is_listed_and_only_its_split_is_fetched(tmp_path, monkeypatch):
    huggingface_hub = pytest.importorskip("huggingface_hub")
    names = ["README.md", "data/train-0.parquet", "data/validation-0.parquet"]
    (tmp_path / "data").mkdir()
    write(tmp_path / "data/validation-0.parquet")
    asked = {}

    def snapshot_download(name, **settings):
        asked.update(settings, name=name)
        return str(tmp_path)

    monkeypatch.setenv("SHAKETABLE_OFFLINE", "0")
    monkeypatch.setattr(huggingface_hub.HfApi, "list_repo_files", lambda self, name, repo_type: names)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    loaded = load_table(hub="someone/questions", columns=COLUMNS)
    assert [question.text for question in loaded.questions] == ["Wo?", "Wer?"]
    assert (asked["name"], asked["allow_patterns"]) == ("someone/questions", ["data/validation-0.parquet"])


def test_a_hub_out_of_reach_is_one_sentence(monkeypatch):
    pytest.importorskip("huggingface_hub")
    monkeypatch.setenv("SHAKETABLE_OFFLINE", "1")
    with pytest.raises(DataError, match=r"'someone/questions' could not be read .*SHAKETABLE_OFFLINE is set"):
        load_table(hub="someone/questions")


def test_without_a_path_it_says_what_to_give():
    with pytest.raises(DataError, match=r"needs a path: path = 'questions.parquet', or hub = 'owner/name'"):
        load_table()


def test_column_type_is_the_type_of_questions(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text("q,kind\nWho?,person\nWhen?,date\nWhat?,\n", "utf-8")
    loaded = load_table(str(file), columns={"question": "q", "type": "kind"})
    assert [question.tags.get("type") for question in loaded.questions] == ["person", "date", None]
