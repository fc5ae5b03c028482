import gzip
import json

import polars
import pytest
from pydantic import BaseModel, ConfigDict

from shaketable.datasets.reading.rows import (
    Row,
    check_ids,
    checked,
    corpus_of,
    make_question,
    nested,
    paragraph,
    passage,
    read_rows,
    scan_rows,
    trouble,
)
from shaketable.errors import DataError
from shaketable.types import Rejected

ROWS = [{"a": 1}, {"a": "é\u2028x"}]


def write(path, content):
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def as_lines(rows):
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n"


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.json"])
@pytest.mark.parametrize("pack", [str.encode, lambda text: gzip.compress(text.encode())], ids=["plain", "gzip"])
def test_lines_and_arrays_are_told_apart_by_content(tmp_path, name, pack):
    lines = list(read_rows(write(tmp_path / name, pack("\n" + as_lines(ROWS)))))
    assert [row.value for row in lines] == ROWS
    assert [row.where for row in lines] == [f"{name} line 2", f"{name} line 3"]
    array = list(read_rows(write(tmp_path / name, pack("\ufeff" + json.dumps(ROWS, indent=1)))))
    assert [row.value for row in array] == ROWS
    assert array[1].where == f"{name} record 2"


def test_parquet_rows_are_read(tmp_path):
    polars.DataFrame({"a": [[1, 2], [3]], "b": [{"c": "x"}, {"c": "y"}]}).write_parquet(tmp_path / "t.parquet")
    rows = list(read_rows(tmp_path / "t.parquet"))
    assert rows[1] == Row(where="t.parquet row 2", value={"a": [3], "b": {"c": "y"}}, has_cells=True)


def test_a_name_that_no_file_can_have_is_told(tmp_path):
    with pytest.raises(DataError, match="it holds NUL"):
        list(read_rows(tmp_path / "a\0b" / "rows.jsonl"))


def test_what_cannot_be_read_says_where_and_what_to_do(tmp_path):
    cases = {
        "bad.jsonl": (
            '{"a": 1}\n{"a": \n',
            r"bad.jsonl line 2: broken JSON at column 7: .*one JSON object per line, in UTF-8",
        ),
        "bad.json": ('[\n{"a": 1},\n{"a" 2}]', r"bad.json: broken JSON at line 3, column 6"),
        "latin.jsonl": (b'{"a": "\xe9"}', r"latin.jsonl line 1: byte 7 is not UTF-8"),
        "cut.gz": (gzip.compress(b'{"a": 1}' * 99)[:-9], r"cut.gz is a broken gzip file"),
        "cut.parquet": (b"PAR1 nothing", r"cut.parquet is a broken Parquet file"),
    }
    for name, (content, message) in cases.items():
        with pytest.raises(DataError, match=message):
            list(read_rows(write(tmp_path / name, content)))
    with pytest.raises(DataError, match=r"There is no file none.jsonl in .*Check the dataset's path"):
        list(read_rows(tmp_path / "none.jsonl"))
    with pytest.raises(DataError, match=r"cannot be read"):
        list(read_rows(tmp_path))


class Fields(BaseModel):
    model_config = ConfigDict(extra="forbid")
    answers: list[str]
    facts: list[tuple[str, int]] = []


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({}, "q line 1: 'answers' is missing. Help."),
        ({"answers": "x"}, "q line 1: 'answers' is 'x', expected a valid list. Help."),
        (
            {"answers": [], "facts": [["A", "one"]]},
            "q line 1: 'facts[0][1]' is 'one', expected a valid integer, unable to parse string as an integer. Help.",
        ),
        (
            {"answers": [], "fact": 1},
            "q line 1: 'fact' is no known key. Did you mean 'facts'? Known keys: answers, facts. Help.",
        ),
        (
            {"anwsers": []},
            "q line 1: 'anwsers' is no known key. Did you mean 'answers'? Known keys: answers, facts. Help.",
        ),
        ([1], "q line 1: found [1], expected an object with the keys answers, facts. Help."),
    ],
)
def test_a_wrong_field_is_named_with_what_was_found(value, message):
    with pytest.raises(DataError) as error:
        checked(Row(where="q line 1", value=value), Fields, "Help.")
    assert str(error.value) == message


def test_an_id_used_twice_names_both_places():
    with pytest.raises(DataError, match="line 3: the id 'a' was already used in line 1"):
        check_ids([("line 1", "a"), ("line 2", "b"), ("line 3", "a")])


def test_empty_sentences_are_dropped_and_indices_stay():
    made = passage("Alpha", ["One. ", " ", " Three."])
    assert [(sentence.id, sentence.text) for sentence in made.sentences] == [("Alpha#0", "One."), ("Alpha#2", "Three.")]
    assert trouble([("Alpha", 2)], [made]) is None


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ([("Gamma", 0)], "the fact ['Gamma', 0] names no document; titles: Alpha, Beta"),
        ([("Alpha", 3)], "the fact ['Alpha', 3] names no sentence; 'Alpha' has the sentences 0, 2"),
        ([("Alpha", 1)], "the fact ['Alpha', 1] names no sentence; 'Alpha' has the sentences 0, 2"),
        ([("Alpha", -1)], "the fact ['Alpha', -1] names no sentence; 'Alpha' has the sentences 0, 2"),
        ([("Beta", 0), ("Alpha", 0), ("Beta", 0)], "the fact ['Beta', 0] is given twice"),
    ],
)
def test_a_fact_that_does_not_resolve_says_why(facts, reason):
    documents = [passage("Alpha", ["One.", "", "Three."]), passage("Beta", ["Four."])]
    assert trouble(facts, documents) == reason


def test_two_documents_with_one_title_are_trouble():
    assert trouble([], [passage("A", ["x"]), passage("A", ["y"])]) == "two documents are titled 'A'"


def test_one_object_over_many_lines_is_one_row(tmp_path):
    nested_object = {"data": [{"a": 1}], "version": 2}
    for indent in (None, 1):
        path = write(tmp_path / "one.json", json.dumps(nested_object, indent=indent))
        assert [row.value for row in read_rows(path)] == [nested_object]
    with pytest.raises(DataError, match=r"one.json: broken JSON at line 3, column 9"):
        list(read_rows(write(tmp_path / "one.json", '{\n "a": 1,\n "data" 2\n}')))


def test_a_broken_line_is_rejected_and_the_others_are_read(tmp_path):
    path = write(tmp_path / "rows.jsonl", b'{"a": \n{"a": 2}\n\xff\n' + b"[" * 100_000 + b'\n{"a": 5}\r\n')
    rows = list(scan_rows(path))
    assert [row.value for row in rows if isinstance(row, Row)] == [{"a": 2}, {"a": 5}]
    assert rows[4].where == "rows.jsonl line 5"
    assert [row.reason for row in rows if isinstance(row, Rejected)] == [
        "broken JSON at column 7: Expecting value.",
        "byte 0 is not UTF-8.",
        "the JSON is nested too deeply.",
    ]


def test_tables_are_read_where_a_loader_knows_them(tmp_path):
    tabbed = write(tmp_path / "dpr.tsv", 'Who?\t"[\'a\', ""b\'s""]"\r\nWhat?\t[\'c\']\r\n')
    assert list(scan_rows(tabbed, tables=True)) == [
        Row(where="dpr.tsv line 1", value=["Who?", "['a', \"b's\"]"]),
        Row(where="dpr.tsv line 2", value=["What?", "['c']"]),
    ]
    commas = write(tmp_path / "t.csv", 'qid,text\n1,"two\nlines"\n2\n3,"x"\n')
    first, short, last = scan_rows(commas, tables=True)
    assert first == Row(where="t.csv line 2", value={"qid": "1", "text": "two\nlines"}, has_cells=True)
    assert short == Rejected(where="t.csv line 4", reason="found 1 cells, expected 2 as in the header.")
    assert last == Row(where="t.csv line 5", value={"qid": "3", "text": "x"}, has_cells=True)


def test_cells_are_read_up_to_their_limit(tmp_path, monkeypatch):
    passage = "word " * 200_000
    long = write(tmp_path / "long.csv", f'qid,text\n1,"{passage}"\n')
    assert [row.value["text"] for row in scan_rows(long, header=True)] == [passage]
    monkeypatch.setattr("shaketable.datasets.reading.rows.LONGEST_CELL", 1000)
    (longer,) = scan_rows(long, header=True)
    assert longer.where == "long.csv line 2" and "more than 1,000 characters" in longer.reason


def test_members_of_a_nested_list_have_their_place():
    row = Row(where="f", value={"data": ["x", "y"]})
    assert list(nested(row, "data")) == [Row(where="f data[0]", value="x"), Row(where="f data[1]", value="y")]
    for value in ({}, {"data": 3}, "text"):
        (rejected,) = nested(Row(where="f", value=value), "data")
        assert rejected.reason.startswith("'data' is ")


def test_a_paragraph_is_known_by_its_text():
    first, second = paragraph("Paris", ["A city."]), paragraph("Paris", ["A myth."])
    assert first.title == second.title == "Paris"
    assert first.id != second.id
    assert first.sentences[0].id == f"{first.id}#0"
    question = make_question(
        id="q", text="?", answers=["a"], dataset="d", documents=[first, second], facts=[(second.id, 0)], tags={}
    )
    assert (question.supporting, question.gold_titles) == ((f"{second.id}#0",), ("Paris",))


def test_a_corpus_has_the_first_document_of_each_title():
    def question(id, *documents):
        return make_question(id=id, text=id, answers=["a"], dataset="d", documents=documents, facts=(), tags={})

    first, second, other = passage("A", ["x"]), passage("A", ["y"]), passage("B", ["z"])
    assert corpus_of([question("1", first), question("2", second, other)]) == (first, other)
