"""Documents are cut between sentences, the same each time, and no word is lost."""

from __future__ import annotations

import json

import hypothesis.strategies as st
import pytest
from hypothesis import given

from shaketable.errors import DataError
from shaketable.retrievers.corpus.corpora import Corpus
from shaketable.stages.starting.documents import cut_documents, cut_text, write_corpus

HANDBOOK = """Before any heading.

# Handbook

The first rule is short. The second one is too.

## Travel

Ask before you book.

```
# no heading
run it
```
"""


def test_headings_become_titles_and_code_is_no_heading():
    passages = list(cut_text(HANDBOOK, "rules/book.md", is_markdown=True))
    assert [(passage.id, passage.title) for passage in passages] == [
        ("rules/book.md/1", "book"),
        ("rules/book.md/2", "Handbook"),
        ("rules/book.md/3", "Handbook · Travel"),
    ]
    assert passages[1].sentences == ("The first rule is short.", "The second one is too.")
    assert passages[2].sentences[-1] == "``` # no heading run it ```"


def test_whole_paragraphs_are_joined_as_long_as_they_fit():
    text = "One two three.\n\nFour five six.\n\nSeven eight nine ten."
    assert [passage.sentences for passage in cut_text(text, "a.txt", max_words=6)] == [
        ("One two three.", "Four five six."),
        ("Seven eight nine ten.",),
    ]


def test_a_long_paragraph_is_cut_between_sentences_and_a_long_sentence_stays_whole():
    text = "One two three four five six. Seven eight. Nine ten eleven twelve thirteen fourteen fifteen."
    assert [passage.sentences for passage in cut_text(text, "a.txt", max_words=6)] == [
        ("One two three four five six.",),
        ("Seven eight.",),
        ("Nine ten eleven twelve thirteen fourteen fifteen.",),
    ]


@given(st.text(alphabet=st.sampled_from("ab .!?\n\r\t#`\u2028Ä"), max_size=300), st.integers(1, 12), st.booleans())
def test_no_word_is_lost_doubled_or_moved(text, max_words, is_markdown):
    passages = list(cut_text(text, "a.md", is_markdown, max_words))
    assert passages == list(cut_text(text, "a.md", is_markdown, max_words))
    kept = [word for passage in passages for sentence in passage.sentences for word in sentence.split()]
    words = text.split()
    if not is_markdown:
        assert kept == words
    else:  # What is missing stands in headings.
        rest = iter(words)
        assert all(word in rest for word in kept)
    for passage in passages:
        n_words = sum(len(sentence.split()) for sentence in passage.sentences)
        assert n_words <= max_words or len(passage.sentences) == 1


def test_a_folder_is_read_in_the_order_of_names_and_what_is_left_out_is_told(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "late.txt").write_text("Late.")
    (tmp_path / "a.md").write_text("\ufeff# Early\n\nSoon.", "utf-8")
    (tmp_path / "c.pdf").write_bytes(b"%PDF")
    (tmp_path / "empty.txt").write_text(" \n")
    (tmp_path / ".hidden.txt").write_text("Not seen.")
    cut = cut_documents(tmp_path)
    assert cut.files == ("a.md", "b/late.txt")
    assert [(passage.title, passage.sentences) for passage in cut.passages] == [
        ("Early", ("Soon.",)),
        ("late", ("Late.",)),
    ]
    assert dict(cut.left_out).keys() == {"c.pdf", "empty.txt"}
    assert "pdftotext" in dict(cut.left_out)["c.pdf"]


def test_what_is_written_is_a_corpus(tmp_path):
    (tmp_path / "a.txt").write_text("One is here. Two is there.")
    write_corpus(tmp_path / "corpus.jsonl", cut_documents(tmp_path / "a.txt").passages)
    [entry] = Corpus(name=str(tmp_path / "corpus.jsonl")).entries()
    assert (entry.id, entry.title, entry.text) == ("a.txt/1", "a", ["One is here.", "Two is there."])
    assert json.loads((tmp_path / "corpus.jsonl").read_text())["title"] == "a"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.pdf", b"%PDF", "a.pdf: PDF is not read"),
        ("a.txt", b"\xff\xfe", "is UTF-16"),
        ("a.txt", b"", "it has no words"),
    ],
)
def test_what_cannot_be_cut_says_why(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message):
        cut_documents(tmp_path / name)
