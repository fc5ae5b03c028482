from __future__ import annotations

import json
import shutil
import sys

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel, BertTokenizer

from shaketable import catalog, weights
from shaketable.errors import PackageError
from shaketable.retrievers import dense as dense_module
from shaketable.retrievers.dense import Dense, _blocks, _exact
from shaketable.types import Query, Question


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    kept = weights.home() / "weights"
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "weights").symlink_to(kept)


@pytest.fixture
def encoder(tmp_path):
    """A folder with a tiny encoder whose weights are dice: it means nothing, and says it the same way each time."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(words))
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32
    )
    BertModel(config).save_pretrained(folder)
    BertTokenizer(str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder)
    return str(folder)


def query(text):
    return Query(text=text, question=Question(id="q", text=text, answers=()))


def found(part, text, k=5):
    (hits,) = part.search([query(text)], k)
    return [(hit.passage.id, hit.score) for hit in hits]


def write(path, texts):
    path.write_text("".join(json.dumps({"title": "", "text": text}) + "\n" for text in texts), "utf-8")
    return str(path)


RNG = np.random.default_rng(3)
TEXTS = [" ".join("".join(RNG.choice(list("abcdefghij"), 4)) for _ in range(5)) for _ in range(200)]


@pytest.mark.parametrize("pooling", ["mean", "cls"])
@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_hits_are_the_nearest_vectors(tmp_path, encoder, pooling, similarity):
    texts = TEXTS[:40]
    part = Dense(corpus=write(tmp_path / "c.jsonl", texts), encoder=encoder, pooling=pooling, similarity=similarity)
    # Independent: the model itself, one text at a time.
    model, tokenizer = BertModel.from_pretrained(encoder).eval(), BertTokenizer.from_pretrained(encoder)

    def embed(text):
        with torch.inference_mode():
            states = model(**tokenizer(text.strip(), return_tensors="pt")).last_hidden_state[0].double().numpy()
        vector = states[0] if pooling == "cls" else states.mean(0)
        return vector / np.linalg.norm(vector) if similarity == "cosine" else vector

    scores = np.array([embed(text) for text in texts]) @ embed("abca fghi")
    expected = sorted(scores, reverse=True)[:5]
    assert [score for _, score in found(part, "abca fghi")] == pytest.approx(expected, abs=2e-5)
    for id, score in found(part, "abca fghi"):
        assert scores[int(id) - 1] == pytest.approx(score, abs=2e-5)


def test_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    vectors, queries = rng.normal(size=(1000, 8)).astype(np.float32), rng.normal(size=(3, 8)).astype(np.float32)
    expected = np.argsort(-(queries @ vectors.T), axis=1)[:, :7]
    for size in (3, 64, 5000):
        monkeypatch.setattr(dense_module, "ROWS_AT_ONCE", size)
        np.testing.assert_array_equal(_exact(_blocks(vectors, "cpu"), queries, 7), expected)


def test_odd_input(tmp_path, encoder):
    part = Dense(corpus=write(tmp_path / "c.jsonl", ["abc", "abc", ""]), encoder=encoder)
    assert part.search([query(""), query("  \n")], 5) == [[], []]
    assert part.search([query("abc")], 0) == [[]]
    assert [id for id, _ in found(part, "abc", k=1000)][:2] == ["1", "2"]
    assert len(found(part, "abc", k=1000)) == 3


def test_a_hit_is_the_same_alone_and_in_company(tmp_path, encoder):
    part = Dense(corpus=write(tmp_path / "c.jsonl", TEXTS), encoder=encoder)
    queries = [query(text) for text in TEXTS[:20]]
    assert part.search(queries, 3) == [part.search([one], 3)[0] for one in queries]


def test_vectors_are_made_once_for_each_content(tmp_path, encoder, monkeypatch):
    first = Dense(corpus=write(tmp_path / "c.jsonl", TEXTS), encoder=encoder)
    before = found(first, "abc")
    monkeypatch.setattr("shaketable.retrievers.vectors.Embedding._embed", None)
    copy = Dense(corpus=write(tmp_path / "copy.jsonl", TEXTS), encoder=encoder)
    assert found(copy, "abc") == before  # even the query's vector is remembered


def test_the_approximate_index_finds_nearly_all_and_scores_them_exactly(tmp_path, encoder, monkeypatch):
    monkeypatch.setattr(dense_module, "N_COARSE", 40)
    path = write(tmp_path / "c.jsonl", TEXTS)
    exact, coarse = (Dense(corpus=path, encoder=encoder, approximate=choice) for choice in ("never", "always"))
    queries = [query(text) for text in TEXTS[::5]]
    pairs = list(zip(exact.search(queries, 5), coarse.search(queries, 5), strict=True))
    shared = [len({hit.passage.id for hit in one} & {hit.passage.id for hit in two}) for one, two in pairs]
    assert np.mean(shared) / 5 > 0.8
    known = {(n, hit.passage.id): hit.score for n, (one, _) in enumerate(pairs) for hit in one}
    for n, (_, two) in enumerate(pairs):
        assert all(known.get((n, hit.passage.id), hit.score) == hit.score for hit in two)


def test_a_missing_library_is_named(tmp_path, encoder, monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    part = Dense(corpus=write(tmp_path / "c.jsonl", TEXTS), encoder=encoder, approximate="always")
    with pytest.raises(PackageError, match=r"faiss-cpu.*never"):
        found(part, "abc")


def test_the_device_is_not_part_of_a_key():
    assert catalog.spelled(Dense(device="cuda")) == catalog.spelled(Dense())


@pytest.mark.weights
def test_the_embedded_encoder_finds_what_is_meant(tmp_path):
    texts = ["The Seine flows through Paris.", "Tolstoy wrote War and Peace.", "Rice is a cereal."]
    part = Dense(corpus=write(tmp_path / "c.jsonl", texts))
    assert found(part, "Which river crosses the French capital?", k=1)[0][0] == "1"
    assert found(part, "a Russian novelist", k=1)[0][0] == "2"


@pytest.mark.gpu
def test_a_gpu_finds_the_same(tmp_path, encoder):
    path = write(tmp_path / "c.jsonl", TEXTS)
    on_cpu = found(Dense(corpus=path, encoder=encoder), TEXTS[7])
    shutil.rmtree(weights.home() / "indexes")
    on_gpu = found(Dense(corpus=path, encoder=encoder, device="cuda"), TEXTS[7])
    assert [id for id, _ in on_gpu] == [id for id, _ in on_cpu]
