from __future__ import annotations

import json
import math
import random
from collections import Counter

import bm25s
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shaketable import catalog
from shaketable.errors import DataError, PartError
from shaketable.identity import trial_key
from shaketable.retrievers import bm25 as part_module
from shaketable.retrievers.bm25 import Bm25
from shaketable.retrievers.postings import blocks as blocks_module
from shaketable.retrievers.postings import index as index_module
from shaketable.retrievers.postings.blocks import BlockWriter, code_type
from shaketable.retrievers.postings.index import Field, write_index
from shaketable.retrievers.postings.search import candidates
from shaketable.text.search_terms import STOP_WORDS, terms
from shaketable.types import Query, Question


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path / "home"))


@pytest.fixture
def corpus(tmp_path):
    def write(rows, name="corpus.jsonl"):
        path = tmp_path / name
        path.write_text("".join(json.dumps({"title": title, "text": text}) + "\n" for title, text in rows), "utf-8")
        return str(path)

    return write


def query(text):
    return Query(text=text, question=Question(id="q", text=text, answers=()))


def found(part, text, k=10):
    (hits,) = part.search([query(text)], k)
    return [(hit.passage.id, hit.score) for hit in hits]


# --- analysis -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Stems as in Porter (1980): caresses → caress, ponies → poni, relational → relat, hopping → hop.
        ("Caresses, ponies; RELATIONAL hopping!", ["caress", "poni", "relat", "hop"]),
        ("Jupiter's moons and the dogs’ collars", ["jupit", "moon", "dog", "collar"]),
        ("It is not in the U.S. of 1,234.5 or x-ray", ["u.", "1,234.5", "x", "rai"]),
        ("the of and", []),
        ("us go", ["us", "go"]),
        ("Zoë's café", ["zoë", "café"]),
        ("", []),
    ],
)
def test_terms_are_those_of_the_english_analysis(text, expected):
    found = terms(text)
    # Lucene's own porter step 1a takes the s of "u.s"; only its place is of interest here.
    assert [term.replace("u.s", "u.") for term in found] == expected


def test_the_stop_words_are_lucenes():
    assert len(STOP_WORDS) == 33
    assert {"a", "into", "such", "their", "with"} <= STOP_WORDS
    assert not {"he", "from", "which", "has"} & STOP_WORDS


# --- scores ---------------------------------------------------------------------------------------


class Exact:
    """BM25 as its formula says: simple, in double precision, and every passage gets a score."""

    def __init__(self, texts, k1, b):
        counts = [Counter(terms(text)) for text in texts]
        lengths = np.array([count.total() for count in counts])
        self.norms = k1 * (1 - b + b * lengths / max(lengths.mean(), 1e-9))
        self.holders = {}
        for row, count in enumerate(counts):
            for term, tf in count.items():
                self.holders.setdefault(term, []).append((row, tf))

    def scores(self, text):
        sums, n = np.zeros(len(self.norms)), len(self.norms)
        for term in terms(text):
            if term in self.holders:
                rows, tf = np.array(self.holders[term]).T
                idf = math.log(1 + (n - len(rows) + 0.5) / (len(rows) + 0.5))
                sums[rows] += idf * tf / (tf + self.norms[rows])
        return sums


def exact_ranking(rows, text, k, *, k1=1.2, b=0.75, title_weight=1.0, tie_breaker=0.5, fields=None):
    titles, texts = fields or [Exact([row[field] for row in rows], k1, b) for field in (0, 1)]
    by_title, by_text = titles.scores(text) * title_weight, texts.scores(text)
    sums = (np.maximum(by_title, by_text) + tie_breaker * np.minimum(by_title, by_text)).round(10)
    best = np.argsort(-sums, kind="stable")[:k]
    return [(int(row), float(sums[row])) for row in best if sums[row] > 0]


def test_a_score_worked_by_hand(corpus):
    part = Bm25(corpus=corpus([("Rome", "river river town"), ("River", "town"), ("", "sea")]))
    # Texts: lengths 3, 1, 1, average 5/3; "river" is in 1 of 3: idf = ln(1 + 2.5/1.5) = 0.980829.
    # Row 1: tf 2, norm 1.2 (0.25 + 0.75 · 3 · 3/5) = 1.92, so 0.980829 · 2/3.92 = 0.500423.
    # Titles: lengths 1, 1, 0, average 2/3; "river" in 1 of 3. Row 2: norm 1.2 (0.25 + 0.75 · 1.5) = 1.65, so
    # 0.980829 / 2.65 = 0.370124.
    assert found(part, "rivers") == [("1", pytest.approx(0.500423, abs=1e-6)), ("2", pytest.approx(0.370124, abs=1e-6))]
    # Both fields: Rome by its title 0.370124, town by its text: idf ln(1 + 1.5/2.5) = 0.470004,
    # over 1 + 1.92 is 0.160960.
    assert dict(found(part, "Rome's town"))["1"] == pytest.approx(0.370124 + 0.5 * 0.160960, abs=1e-6)


def test_settings_do_what_they_say(corpus):
    rows = [("Rome", "river river town"), ("River", "town"), ("", "sea river")]
    path = corpus(rows)
    for values in ({"k1": 0.9, "b": 0.4}, {"title_weight": 0.0}, {"title_weight": 3.0}, {"tie_breaker": 0.0}):
        expected = exact_ranking(rows, "river town", 9, **values)
        assert found(Bm25(corpus=path, **values), "river town") == [
            (str(row + 1), pytest.approx(score)) for row, score in expected
        ]


WORDS = [
    f"{a}{b}{c}" for a in ("ba", "do", "ki", "lu", "me") for b in ("ran", "vol", "st", "g") for c in ("t", "ing", "s")
]
texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)


@settings(max_examples=40)
@given(rows=st.lists(st.tuples(texts, texts), min_size=1, max_size=30), asked=texts, k=st.integers(0, 40))
def test_the_ranking_is_that_of_exact_bm25(tmp_path_factory, rows, asked, k):
    path = tmp_path_factory.mktemp("corpus") / "c.jsonl"
    path.write_text("".join(json.dumps({"title": title, "text": text}) + "\n" for title, text in rows), "utf-8")
    expected = exact_ranking(rows, asked, k)
    made = found(Bm25(corpus=str(path)), asked, k)
    assert [int(id) - 1 for id, _ in made] == [row for row, _ in expected]
    assert [score for _, score in made] == pytest.approx([score for _, score in expected], abs=1e-9)


def zipf_rows(n, rng, n_words=20_000):
    words = [f"{rng.choice('bdfgklmnprstvz')}{rng.choice('aeiou')}{n:x}nt" for n in range(n_words)]
    weights = [1 / rank for rank in range(1, n_words + 1)]
    drawn = rng.choices(words, weights, k=70 * n)
    passages = [drawn[70 * i : 70 * i + rng.randint(20, 70)] for i in range(n)]
    return [(" ".join(words[:3]), " ".join(words[3:])) for words in passages]


def compare_rankings(corpus, n_passages, n_queries):
    rng = random.Random(5)
    rows = zipf_rows(n_passages, rng)
    asked = [" ".join(rng.sample(rng.choice(rows)[1].split(), 6)) for _ in range(n_queries)]
    fields = [Exact([row[field] for row in rows], 1.2, 0.75) for field in (0, 1)]
    made = Bm25(corpus=corpus(rows)).search([query(text) for text in asked], 10)
    for text, hits in zip(asked, made, strict=True):
        expected = exact_ranking(rows, text, 10, fields=fields)
        assert [int(hit.passage.id) - 1 for hit in hits] == [row for row, _ in expected]


@pytest.mark.parametrize("window", [1, 100, 512, 16_384])
def test_rankings_equal_exact_bm25_over_a_thousand_passages(corpus, monkeypatch, window):
    """However many passages are gone through at once."""
    monkeypatch.setattr(part_module, "WINDOW", window)
    compare_rankings(corpus, 1_000, 30)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_rankings_equal_exact_bm25_over_twenty_thousand_passages_and_two_thousand_queries(corpus):
    compare_rankings(corpus, 20_000, 2_000)


# --- the index ------------------------------------------------------------------------------------


def built(folder, passages, k1=1.2, b=0.75):
    writer = BlockWriter(folder)
    for passage in passages:
        writer.add(passage)
    writer.write_block()
    return write_index(writer, code_type(len(writer.kinds)), k1=k1, b=b), Field(folder)


def postings(field, term):
    number = field.vocabulary[term]
    places = slice(*field.starts[number : number + 2])
    return field.rows[places], field.idf[number] * field.shares[field.codes[places]]


def test_the_index_is_the_one_that_bm25s_builds(tmp_path):
    passages = [text.split() for _, text in zipf_rows(160, random.Random(1), 300)] + [[]]
    counts, own = built(tmp_path / "own", passages, k1=1.5, b=0.6)
    assert counts["n_terms"] == sum(map(len, passages))
    assert counts["n_distinct_terms"] == len({term for passage in passages for term in passage})
    theirs = bm25s.BM25(method="lucene", k1=1.5, b=0.6, dtype="float64")
    theirs.index(passages, show_progress=False)
    for number, term in enumerate(own.vocabulary):
        rows, scores = postings(own, term)
        assert (np.diff(rows) > 0).all()
        assert own.peaks[number] == scores.max()
        best = sorted(scores, reverse=True)
        assert own.floors[number].tolist() == [best[n - 1] if len(best) >= n else 0 for n in index_module.DEPTHS]
        expected = np.zeros(len(passages))
        expected[rows] = scores
        np.testing.assert_allclose(expected, theirs.get_scores([term]), rtol=1e-12)
    assert {file.name for file in (tmp_path / "own").iterdir()} == {
        "terms.txt", *(f"{name}.npy" for name in index_module.ARRAYS)
    }, "What was only needed to build it is gone."  # fmt: skip


@settings(max_examples=30)
@given(
    passages=st.lists(st.lists(st.sampled_from(WORDS), max_size=20), min_size=1, max_size=40),
    per_block=st.integers(1, 60),
    at_once=st.integers(1, 60),
)
def test_an_index_built_in_blocks_is_the_one_built_whole(tmp_path_factory, passages, per_block, at_once):
    folder = tmp_path_factory.mktemp("indexes")
    counts, whole = built(folder / "whole", passages)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks_module, "TERMS_PER_BLOCK", per_block)
        patch.setattr(index_module, "POSTINGS_AT_ONCE", at_once)
        counts_of_blocks, in_blocks = built(folder / "blocks", passages)
    assert counts == counts_of_blocks
    assert whole.vocabulary == in_blocks.vocabulary
    np.testing.assert_array_equal(whole.starts, in_blocks.starts)
    np.testing.assert_array_equal(whole.peaks, in_blocks.peaks)
    for term in whole.vocabulary:
        for one, other in zip(postings(whole, term), postings(in_blocks, term), strict=True):
            np.testing.assert_array_equal(one, other)


def test_kinds_of_postings_that_outgrow_their_numbers_get_wider_ones(tmp_path, monkeypatch):
    passages = [["a"] * n for n in range(1, 400)]  # as many lengths, so as many kinds
    _, usual = built(tmp_path / "usual", passages)
    assert usual.codes.dtype == np.uint16
    monkeypatch.setattr(blocks_module, "CODES", (np.uint8, np.uint16))
    monkeypatch.setattr(blocks_module, "TERMS_PER_BLOCK", 900)  # The first blocks have narrow numbers.
    _, widened = built(tmp_path / "widened", passages)
    assert widened.codes.dtype == np.uint16
    for one, other in zip(postings(usual, "a"), postings(widened, "a"), strict=True):
        np.testing.assert_array_equal(one, other)
    _, narrow = built(tmp_path / "narrow", passages[:200])
    assert narrow.codes.dtype == np.uint8


def test_more_passages_than_there_are_numbers_for_are_refused(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(blocks_module, "ROW", np.int8)
    assert found(Bm25(corpus=corpus([("", "one")] * 127)), "one", k=127)[-1][0] == "127"
    with pytest.raises(DataError, match=r"more than 127 passages.*Cut it"):
        found(Bm25(corpus=corpus([("", "one")] * 128, "more.jsonl")), "one")
    assert len(list((tmp_path / "home").rglob("bm25-*/manifest.json"))) == 1, "Of the refused one nothing is left."


def test_lists_that_lie_beyond_two_billion_postings_are_found(tmp_path):
    """The files have holes, so that they take no room."""
    begin = 2**31 + 5
    rows = np.memmap(tmp_path / "rows", np.int32, "w+", shape=(begin + 3,)).view(np.ndarray)
    codes = np.memmap(tmp_path / "codes", np.uint16, "w+", shape=(begin + 3,)).view(np.ndarray)
    rows[begin:], codes[begin:] = (3, 70_000, 90_000), (0, 2, 1)
    shares, none = np.array([0.25, 0.5, 0.75]), np.zeros(0)
    for mapped in (rows, codes, shares, none):
        mapped.flags.writeable = False  # as those of an index, for which the search is compiled
    found_rows, values = candidates(
        ((rows[:0], codes[:0], none), (rows, codes, shares)), np.array([begin]), np.array([begin + 3]), np.array([1]),
        np.array([2.0]), np.array([[0.0, 1.5], [0.0, 0.0]]), 0.5, 0.0, 2, 100_000, 512,
    )  # fmt: skip
    assert {row: value for row, (_, value) in zip(found_rows.tolist(), values.tolist(), strict=True)} == {
        70_000: 1.5, 90_000: 1.0,
    }  # fmt: skip


def test_a_build_that_breaks_off_leaves_no_index_and_the_next_one_is_whole(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(blocks_module, "TERMS_PER_BLOCK", 3)
    rows = [("A", "one two three"), ("B", "two three"), ("C", "three")]
    path, write_block = corpus(rows), BlockWriter.write_block

    def breaks(writer):
        if len(writer.blocks) == 1:
            raise KeyboardInterrupt
        write_block(writer)

    monkeypatch.setattr(BlockWriter, "write_block", breaks)
    with pytest.raises(KeyboardInterrupt):
        found(Bm25(corpus=path), "two")
    folders = list((tmp_path / "home" / "indexes").glob("*/*"))
    assert [folder.name.split("-")[0] for folder in folders if folder.is_dir()] == ["passages"]
    monkeypatch.setattr(BlockWriter, "write_block", write_block)
    expected = exact_ranking(rows, "two three", 9)
    assert found(Bm25(corpus=path), "two three") == [(str(row + 1), pytest.approx(score)) for row, score in expected]


def test_lengths_in_a_byte_are_those_of_lucene(tmp_path):
    writer = BlockWriter(tmp_path / "own")
    writer.kinds = np.array([1 << 32 | length for length in (0, 23, 24, 39, 40, 41, 42, 100, 1000, 70_000)])
    writer.round_lengths()
    # Worked by hand: 40 = 24 + 0b10000, 41 loses its last bit; 100 = 24 + 0b1001100; 1000 = 24 + 0b1111010000.
    expected = [0, 23, 24, 39, 40, 40, 42, 24 + 0b1001000, 24 + 0b1111000000, 24 + (0b1000 << 13)]
    assert (writer.kinds & 0xFFFFFFFF).tolist() == expected
    assert (writer.kinds >> 32).tolist() == [1] * 10


def test_with_lengths_in_a_byte_rankings_are_those_of_tantivy(corpus, tmp_path):
    """An engine that keeps them so, as Lucene does, with the same formula."""
    tantivy = pytest.importorskip("tantivy")
    from tantivy import Occur, Query

    rng = random.Random(6)
    rows = [(title, f"{text} {text}" if rng.random() < 0.3 else text) for title, text in zipf_rows(400, rng, 2000)]
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("row", fast=True)
    for name in ("title", "text"):
        builder.add_text_field(name, tokenizer_name="terms", index_option="freq")
    schema = builder.build()
    index = tantivy.Index(schema)
    index.register_tokenizer("terms", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
    writer = index.writer(15_000_000, 1)
    for row, (title, text) in enumerate(rows):
        document = tantivy.Document(title=" ".join(terms(title)), text=" ".join(terms(text)))
        document.add_unsigned("row", row)
        writer.add_document(document)
    writer.commit()
    index.reload()
    searcher, part, unlike = index.searcher(), Bm25(corpus=corpus(rows), lengths="byte"), 0
    for asked in [" ".join(rng.sample(rng.choice(rows)[1].split(), 6)) for _ in range(40)]:
        fields = [
            Query.boolean_query([
                (Occur.Should, Query.boost_query(Query.term_query(schema, name, term, "freq"), count))
                for term, count in Counter(terms(asked)).items()
            ])
            for name in ("title", "text")
        ]  # fmt: skip
        hits = searcher.search(Query.disjunction_max_query(fields, 0.5), 10, count=False).hits
        # Tantivy keeps Lucene's older factor k1 + 1, the same for all, and scores in single precision.
        own = found(part, asked)
        assert [score for score, _ in hits] == pytest.approx([2.2 * score for _, score in own], rel=1e-5)
        unlike += own != found(Bm25(corpus=part.corpus), asked)
    assert unlike > 20, "Exact lengths give other scores."


def test_a_setting_at_its_default_leaves_keys_as_they_were(corpus):
    path = corpus([("A", "one two")])
    assert "lengths" not in catalog.spelled(Bm25(corpus=path))
    assert "lengths='byte'" in catalog.spelled(Bm25(corpus=path, lengths="byte"))


def test_an_index_is_built_once_for_each_content(corpus, tmp_path, monkeypatch):
    first = Bm25(corpus=corpus([("A", "one two")]))
    assert found(first, "two")
    monkeypatch.setattr(Bm25, "_build", None)
    again = Bm25(corpus=corpus([("A", "one two")], "copy.jsonl"), tie_breaker=0.1)
    assert found(again, "two")
    with pytest.raises(TypeError):
        found(Bm25(corpus=first.corpus, k1=2.0), "two")


def test_a_changed_corpus_makes_new_keys_and_another_path_does_not(corpus):
    def key(path):
        return trial_key(catalog.spelled(Bm25(corpus=path)), "", "original", "?", 0.0, 0)

    path = corpus([("A", "one two")])
    before = key(path)
    assert key(corpus([("A", "one two")], "copy.jsonl")) == before
    assert key(corpus([("A", "one too")])) != before
    assert catalog.label(Bm25(corpus=path)) == f"bm25(corpus={path!r})"


# --- odd input ------------------------------------------------------------------------------------


def test_nothing_is_found_where_nothing_is_asked(corpus):
    part = Bm25(corpus=corpus([("A", "one two"), ("B", "")]))
    assert part.search([query(""), query("the of and"), query("zebra")], 5) == [[], [], []]
    assert part.search([query("one")], 0) == [[]]


def test_k_may_exceed_the_corpus(corpus):
    part = Bm25(corpus=corpus([("A", "one two"), ("B", "two"), ("C", "three")]))
    assert [id for id, _ in found(part, "two", k=1000)] == ["2", "1"]


def test_equal_passages_come_in_the_order_of_the_corpus(corpus):
    part = Bm25(corpus=corpus([("A", "one two")] * 3000))
    assert [id for id, _ in found(part, "two", k=4)] == ["1", "2", "3", "4"]


def test_a_corpus_without_any_title_or_term(corpus):
    assert found(Bm25(corpus=corpus([("", "two")])), "two") == [("1", pytest.approx(math.log(4 / 3) / 2.2))]
    assert found(Bm25(corpus=corpus([("", "the")], "stop.jsonl")), "the") == []


def test_wrong_settings_are_named():
    with pytest.raises(PartError, match="b and tie_breaker lie between 0 and 1"):
        catalog.build("retriever", "bm25(b=1.5)")
