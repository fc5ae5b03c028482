from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from shaketable.datasets.builtin import load_builtin
from shaketable.errors import DataError
from shaketable.retrievers.corpus.corpora import DPR_ROWS, Corpus
from shaketable.retrievers.corpus.passages import Passages, passages_of, split_sentences

SHARED = Path(__file__).parents[4] / "shared" / "data"


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path / "home"))


def write_lines(file: Path, rows, pack=False) -> Corpus:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    file.write_bytes(gzip.compress(text.encode()) if pack else text.encode())
    return Corpus(name=str(file))


ROWS = [{"title": "Alpha", "text": "A is first. It has a leg."}, {"title": "Beta", "text": "B follows."}]


def test_the_built_in_corpus_is_that_of_the_built_in_dataset():
    passages = passages_of("builtin")
    assert tuple(passages.passage(row) for row in range(len(passages))) == load_builtin().corpus


def test_json_lines_plain_and_packed_are_one_corpus(tmp_path):
    plain = write_lines(tmp_path / "plain.jsonl", ROWS)
    packed = write_lines(tmp_path / "packed.jsonl.gz", ROWS, pack=True)
    assert list(plain.entries()) == list(packed.entries())
    assert plain.digest == packed.digest
    # Rows with a text and no id are named by their row.
    assert [entry.id for entry in plain.entries()] == ["1", "2"]


def test_the_layout_of_beir(tmp_path):
    write_lines(tmp_path / "corpus.jsonl", [{"_id": "d7", "title": "", "text": "Some text.", "metadata": {"url": "u"}}])
    assert list(Corpus(name=str(tmp_path)).entries()) == [("d7", "", "Some text.")]


def test_the_table_of_dpr_and_how_much_of_it_is_there(tmp_path, caplog):
    file = tmp_path / "psgs_w100.tsv"
    file.write_text(
        'id\ttext\ttitle\n1\t"Aaron is a ""prophet"" of\ttabs."\tAaron\n2\tMoses\t"Moses ""M."""\n', "utf-8"
    )
    passages = passages_of(str(file))
    assert list(passages) == [
        ("1", "Aaron", 'Aaron is a "prophet" of\ttabs.'),
        ("2", 'Moses "M."', "Moses"),
    ]
    assert f"holds 2 of the {DPR_ROWS:,} rows" in caplog.text
    assert DPR_ROWS == 21_015_324
    assert passages.corpus.note(DPR_ROWS) is None
    assert "more than there should be" in passages.corpus.note(DPR_ROWS + 1)


def test_sentences_are_split_when_a_passage_is_looked_at(tmp_path):
    passages = Passages(write_lines(tmp_path / "c.jsonl", ROWS))
    assert [(s.id, s.text) for s in passages.passage(0).sentences] == [("1#0", "A is first."), ("1#1", "It has a leg.")]
    assert passages.passage(0).title == "Alpha"


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Mr. Smith met J. R. R. Tolkien. He left.", ["Mr. Smith met J. R. R. Tolkien.", "He left."]),
        ('He said "Stop." Then he went.', ['He said "Stop."', "Then he went."]),
        ("Now $3.50 in the U.S. Army (est. 1775). 20 came.", ["Now $3.50 in the U.S. Army (est. 1775).", "20 came."]),
        ("Born in St. Louis, approx. 5 km away.", ["Born in St. Louis, approx. 5 km away."]),
        ("no capital. follows here", ["no capital. follows here"]),
        ("", []),
        ("  \n ", []),
    ],
)  # fmt: skip
def test_sentences_end_where_people_end_them(text, sentences):
    assert split_sentences(text) == sentences


def test_no_letter_is_lost_when_sentences_are_split():
    text = "A b c. D e (f. G). H i! 'J k.' L m n... O p"
    assert " ".join(split_sentences(text)) == text


# --- digests --------------------------------------------------------------------------------------


def test_a_digest_follows_the_content_not_the_path(tmp_path):
    first, second = write_lines(tmp_path / "a.jsonl", ROWS), write_lines(tmp_path / "b.jsonl", ROWS)
    assert first.digest == second.digest
    write_lines(tmp_path / "b.jsonl", ROWS[::-1])  # as many bytes as before
    assert first.digest != second.digest


def test_a_digest_is_remembered_for_a_file_that_does_not_change(tmp_path, monkeypatch):
    corpus = write_lines(tmp_path / "a.jsonl", ROWS)
    os.utime(tmp_path / "a.jsonl", (1_600_000_000, 1_600_000_000))
    digest = corpus.digest
    monkeypatch.setattr("hashlib.sha256", None)  # reading the file again would call it
    with pytest.raises(TypeError):
        _ = Corpus(name=str(write_lines(tmp_path / "other.jsonl", ROWS).name)).digest
    monkeypatch.undo()
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("shaketable.retrievers.corpus.corpora._open", None)
    assert corpus.digest == digest


# --- what is wrong with a corpus ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"id\ttext\ttitle\n", "is empty"),
        (b"not json\n", "c.jsonl line 1: broken JSON"),
        (b'{"text": "x"}\n["a"]\n', "c.jsonl line 2: found list"),
        (b'{"title": "T"}\n', "c.jsonl line 1: 'text' is missing"),
        (b'{"title": 3, "text": "x"}\n', "'title' is 3"),
        (b"id\ttext\ttitle\n1\tx\n", "found 2 columns"),
        (b'id\ttext\ttitle\n1\t"open' + b"\nno end" * 30_000, "Is a quote opened and not closed"),
        (b'{"text": "\xff"}\n', "line 1: broken JSON"),
        (b"\x1f\x8b\x08\x00broken", "broken gzip"),
        (b'{"id": 1, "text": "x"}\n{"id": 2, "text": "y"}\n{"id": "1", "text": "z"}\n', "1 and 3 have the same id '1'"),
    ],
)  # fmt: skip
def test_a_broken_corpus_is_named_with_its_place(tmp_path, content, message):
    (tmp_path / "c.jsonl").write_bytes(content)
    with pytest.raises(DataError, match=message):
        passages_of(str(tmp_path / "c.jsonl"))
    assert not list((tmp_path / "home").rglob("manifest.json"))


def test_a_corpus_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match=r"no corpus .*absent\.jsonl"):
        passages_of(str(tmp_path / "absent.jsonl"))
    with pytest.raises(DataError, match=r"holds no corpus\.jsonl"):
        passages_of(str(tmp_path))


def test_half_a_character_becomes_a_question_mark(tmp_path):
    (tmp_path / "c.jsonl").write_bytes(b'{"text": "half \\ud83d emoji"}\n')
    (entry,) = passages_of(str(tmp_path / "c.jsonl"))
    assert entry.text == "half ? emoji"


# --- real corpora ---------------------------------------------------------------------------------


@pytest.mark.skipif(not SHARED.is_dir(), reason="the folder of real data is not there")
@pytest.mark.parametrize(("name", "n"), [("2wikimultihopqa", 6192), ("musique", 7322)])
def test_real_corpora_are_read_whole(name, n):
    passages = passages_of(str(SHARED / f"{name}_corpus.jsonl.gz"))
    assert len(passages) == n  # as its README counts
    for row in range(0, n, 97):
        entry, passage = passages.entry(row), passages.passage(row)
        assert passage.text.split() == entry.text.split()
        assert passage.sentences
