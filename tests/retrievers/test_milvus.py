"""Milvus Lite, a real server on this machine. It takes seconds to start, so tests share one where they can."""

from __future__ import annotations

import json
import random
import sys

import pytest

from shaketable import catalog, weights
from shaketable.errors import PackageError, RetrieverDown
from shaketable.retrievers import milvus as milvus_module
from shaketable.retrievers.bm25 import Bm25
from shaketable.retrievers.dense import Dense
from shaketable.retrievers.milvus import Milvus, terms_text
from shaketable.types import Query, Question

pytest.importorskip("milvus_lite")
WORDS = [
    first + second + last for first in ("ba", "do", "ki", "lu") for second in ("ran", "vol", "gos") for last in "tdkmn"
]


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    kept = weights.home() / "weights"
    folder = tmp_path_factory.mktemp("home")
    (folder / "weights").symlink_to(kept)
    patch.setenv("SHAKETABLE_HOME", str(folder))
    yield folder
    patch.undo()


@pytest.fixture(scope="module")
def corpus(home):
    """Texts without titles, so that one field and two fields are the same."""
    rng = random.Random(4)
    texts = [" ".join(rng.choices(WORDS, k=rng.randint(3, 30))) for _ in range(300)] + ["", "the of"]
    path = home / "corpus.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), "utf-8")
    return str(path)


@pytest.fixture(scope="module")
def uri(home):
    return str(home / "test.db")


def queries(n):
    rng = random.Random(9)
    texts = [" ".join(rng.choices(WORDS, k=4)) for _ in range(n)]
    return [Query(text=text, question=Question(id="q", text=text, answers=())) for text in texts]


def query(text):
    return Query(text=text, question=Question(id="q", text=text, answers=()))


def test_bm25_ranks_as_the_retriever_bm25_does(corpus, uri):
    asked = queries(100)
    own = Bm25(corpus=corpus).search(asked, 10)
    theirs = Milvus(corpus=corpus, uri=uri).search(asked, 10)
    for ours, hits in zip(own, theirs, strict=True):
        # Milvus keeps Lucene's older factor k1 + 1, the same for all.
        assert [hit.score for hit in hits] == pytest.approx([2.2 * hit.score for hit in ours], rel=1e-4)
        scores = {hit.passage.id: hit.score for hit in ours}
        last = ours[-1].score
        # Equal scores may stand in any order, and at the end others may have them.
        assert {hit.passage.id for hit in hits if hit.score / 2.2 > last + 1e-4} <= scores.keys()
        assert [hit.passage.id for hit in hits if hit.passage.id in scores] == sorted(
            (hit.passage.id for hit in hits if hit.passage.id in scores),
            key=lambda id: (-round(scores[id], 4), [hit.passage.id for hit in hits].index(id)),
        )


def test_nothing_is_found_where_nothing_is_asked(corpus, uri):
    part = Milvus(corpus=corpus, uri=uri)
    assert part.search([query(""), query("the of and"), query("zebra")], 5) == [[], [], []]
    assert part.search([], 5) == []
    assert part.search([query("barant")], 0) == [[]]
    assert 0 < len(part.search([query("barant")], 1000)[0]) < 302


def test_a_lost_connection_is_an_error_that_a_later_run_can_mend(corpus, home, monkeypatch):
    monkeypatch.setattr(milvus_module, "ROWS_AT_ONCE", 50)
    part = Milvus(corpus=corpus, uri=str(home / "lost.db"))
    client, upsert, sent = part._client, part._client.upsert, []

    def breaks(name, rows, **more):
        if len(sent) == 3:
            raise ConnectionError("the line went dead")
        sent.append(rows)
        return upsert(name, rows, **more)

    monkeypatch.setattr(client, "upsert", breaks)
    with pytest.raises(RetrieverDown, match=r"lost\.db could not fill the collection: the line went dead.*run again"):
        part.search(queries(1), 5)

    again = Milvus(corpus=corpus, uri=str(home / "lost.db"))
    resumed = []
    upsert_again = again._client.upsert
    monkeypatch.setattr(
        again._client, "upsert", lambda name, rows, **more: (resumed.append(rows), upsert_again(name, rows, **more))
    )
    asked = queries(5)
    found = again.search(asked, 5)
    assert [rows[0]["row"] for rows in resumed] == [150, 200, 250, 300], "What had arrived is not sent again."
    assert [[hit.passage.id for hit in hits] for hits in found] == [
        [hit.passage.id for hit in hits] for hits in Milvus(corpus=corpus, uri=str(home / "lost.db")).search(asked, 5)
    ]


def test_a_connection_lost_between_searches_is_made_anew(corpus, uri, monkeypatch):
    part, asked = Milvus(corpus=corpus, uri=uri), queries(3)
    before = part.search(asked, 5)

    def breaks(*given, **more):
        raise ConnectionError("the line went dead")

    monkeypatch.setattr(part._client, "search", breaks)
    with pytest.raises(RetrieverDown, match="could not search: the line went dead"):
        part.search(asked, 5)
    assert part.search(asked, 5) == before


def test_a_server_that_is_down_is_named(corpus):
    part = Milvus(corpus=corpus, uri="http://127.0.0.1:9", timeout_seconds=1.0)
    with pytest.raises(RetrieverDown, match=r"127\.0\.0\.1:9 could not connect"):
        part.search(queries(1), 5)


def test_a_missing_package_is_named(corpus, monkeypatch):
    monkeypatch.setitem(sys.modules, "pymilvus", None)
    with pytest.raises(PackageError, match=r"pip install 'shaketable\[milvus\]'"):
        Milvus(corpus=corpus).search(queries(1), 5)


def test_the_address_is_not_part_of_a_key():
    assert catalog.spelled(Milvus(uri="http://host:19530")) == catalog.spelled(Milvus())
    assert catalog.label(Milvus(mode="vector")) == "milvus(mode='vector')"


def test_terms_survive_every_tokenizer():
    assert terms_text("The U.N. had 1,234.5 x-rays") == "un had 12345 x rai"


@pytest.mark.weights
def test_vectors_rank_as_the_retriever_dense_does(home, uri):
    texts = ["The Seine flows through Paris.", "Tolstoy wrote War and Peace.", "Rice is a cereal.", "Cats sleep a lot."]
    path = home / "meanings.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), "utf-8")
    asked = [query("Which river crosses the French capital?"), query("Who is a Russian novelist?"), query("the")]
    own = Dense(corpus=str(path)).search(asked, 3)
    theirs = Milvus(corpus=str(path), mode="vector", uri=uri).search(asked, 3)
    assert [hits[0].passage.id for hits in own[:2]] == ["1", "2"]
    for ours, hits in zip(own, theirs, strict=True):
        assert [hit.passage.id for hit in hits] == [hit.passage.id for hit in ours]
        assert [hit.score for hit in hits] == pytest.approx([hit.score for hit in ours], abs=1e-4)
