"""The head that ships, folders of fine-tuned classifiers, and the script that trains both."""

import argparse
import importlib.util
from pathlib import Path

import numpy as np
import pytest

from shaketable.datasets.builtin import load_builtin
from shaketable.errors import DataError, WeightsError
from shaketable.text import question_types
from shaketable.text.question_types import LABELS, predict

TREC = Path(__file__).parents[3] / "shared" / "data" / "trec"
SCRIPT = Path(__file__).parents[2] / "scripts" / "train_question_types.py"
trec = pytest.mark.skipif(not TREC.is_dir(), reason="the folder of real data is not there")


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("train_question_types", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def share_right(found, wanted):
    return sum(a == b for a, b in zip(found, wanted, strict=True)) / len(wanted)


# --- the head that ships --------------------------------------------------------------------------


def test_the_head_is_small_and_fits_the_features():
    from safetensors.numpy import load_file

    file = Path(question_types.__file__).parents[1] / "resources" / "question_types" / question_types.HEAD
    assert file.stat().st_size < 200_000
    head = load_file(file)
    assert head["weight"].shape == (len(LABELS), 3 * 384)
    assert head["bias"].shape == (len(LABELS),)


def test_the_best_label_has_the_highest_score():
    head = {"weight": np.array([[1, 0], [0, 1]], np.float32), "bias": np.array([0, 0.5], np.float32)}
    # By hand: 1 against 0.5; 0.4 against 0.5; 0 against 1.5.
    assert question_types.best_label(np.array([[1, 0], [0.4, 0], [0, 1]], np.float32), head) == [0, 1, 1]


@pytest.mark.weights
def test_plain_questions_have_their_types():
    wanted = {
        "What does NASA stand for?": "ABBR",
        "Why is the sky blue?": "DESC",
        "What sport did Babe Ruth play?": "ENTY",
        "Who painted the Mona Lisa?": "HUM",
        "What is the capital of Australia?": "LOC",
        "In which year did Berlin become the capital?": "NUM",
    }
    assert predict(list(wanted)) == list(wanted.values())


@pytest.mark.weights
def test_no_question_has_no_type_and_odd_ones_have_one():
    assert predict([]) == []
    assert set(predict(["", "?", "who", "half \ud83d of it", "word " * 700])) <= set(LABELS)


@pytest.mark.weights
def test_the_facts_that_ship_get_the_types_they_were_written_with():
    facts = load_builtin(part="facts").questions
    written = {"number": "NUM", "place": "LOC", "person": "HUM", "entity": "ENTY"}
    found = predict([fact.text for fact in facts])
    assert share_right(found, [written[str(fact.tags["type"])] for fact in facts]) >= 0.85


@trec
@pytest.mark.weights
def test_the_head_reaches_its_accuracy_on_trec(script):
    texts, labels = script.load_trec(TREC / "TREC_10.label")
    assert len(texts) == 500
    assert share_right(predict(texts), labels) >= 0.945


# --- fine-tuned folders ---------------------------------------------------------------------------


def tiny_encoder(folder):
    """A real encoder of two narrow layers, not trained, that knows the words of these tests."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    torch.manual_seed(0)
    folder.mkdir()
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "who", "where", "when", "did", "it", "was", "?"]
    (folder / "vocab.txt").write_text("\n".join(words))
    BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    size = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    size |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    BertModel(BertConfig(vocab_size=len(words), initializer_range=0.2, **size)).save_pretrained(folder)
    return folder


def given(encoder, **settings):
    values = {"learning_rate": 5e-3, "batch": 4, "epochs": 10, "weight_decay": 0.01, "seed": 0, "device": "cpu"}
    return argparse.Namespace(encoder=str(encoder), **{**values, **settings})


def test_a_fine_tuned_encoder_learns_and_is_read_back_by_path(tmp_path, script):
    texts = [f"{word} {rest} ?" for word in ("who", "where", "when") for rest in ("did it", "was it", "it", "was")]
    labels = [label for label in ("HUM", "LOC", "NUM") for _ in range(4)]
    tokenizer, model = script.fine_tune(texts, labels, given(tiny_encoder(tmp_path / "tiny"), batch=12, epochs=30))
    model.save_pretrained(tmp_path / "types")
    tokenizer.save_pretrained(tmp_path / "types")
    assert predict(texts, model=str(tmp_path / "types")) == labels
    assert predict([texts[5], "who \ud83d"], model=str(tmp_path / "types"))[0] == "LOC"


def test_a_seed_gives_the_same_classifier_again(tmp_path, script):
    encoder = tiny_encoder(tmp_path / "tiny")
    runs = [
        script.fine_tune(["who did it ?", "where was it ?"], ["HUM", "LOC"], given(encoder, epochs=2, seed=seed))[1]
        for seed in (0, 0, 1)
    ]
    first, again, other = [model.classifier.weight.detach().numpy() for model in runs]
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_classifier_of_other_things_is_refused(tmp_path):
    from transformers import BertForSequenceClassification

    folder = tiny_encoder(tmp_path / "tiny")
    BertForSequenceClassification.from_pretrained(folder).save_pretrained(folder)
    with pytest.raises(WeightsError, match=r"are LABEL_0, LABEL_1; expected ABBR, .* --fine-tune"):
        predict(["who did it ?"], model=str(folder))


def test_a_folder_that_is_not_there_is_an_error(monkeypatch):
    monkeypatch.setenv("SHAKETABLE_OFFLINE", "1")
    with pytest.raises(WeightsError, match="no such folder"):
        predict(["who did it ?"], model="no such folder")


# --- the script -----------------------------------------------------------------------------------


def test_a_file_of_trec_is_read_with_its_quotes_and_accents(tmp_path, script):
    (tmp_path / "a.label").write_bytes(b"LOC:city Where is `` Sh\xe9-Zam '' ?\nABBR:exp What is D.C. ?\n")
    texts, labels = script.load_trec(tmp_path / "a.label")
    assert texts == ['Where is " Shé-Zam " ?', "What is D.C. ?"]
    assert labels == ["LOC", "ABBR"]


def test_an_unknown_type_names_its_line(tmp_path, script):
    (tmp_path / "a.label").write_text("LOC:city Where ?\nPLACE:x Where ?\n")
    with pytest.raises(DataError, match=r"a.label line 2: found the type 'PLACE'. Types: ABBR, "):
        script.load_trec(tmp_path / "a.label")


def test_equal_questions_stay_on_one_side(script):
    texts = [f"q{i % 50}" for i in range(100)]
    (kept, kept_labels), (back, back_labels) = script.held_back(texts, texts, 0.2)
    assert (len(kept), len(back)) == (80, 20)
    assert not set(kept) & set(back)
    assert (kept_labels, back_labels) == (kept, back)


def test_the_head_of_a_separable_problem_separates(script):
    rng = np.random.default_rng(0)
    labels = [LABELS[i % 6] for i in range(60)]
    centers = np.eye(6, dtype=np.float32)
    features = centers[np.arange(60) % 6] + rng.normal(0, 0.05, (60, 6)).astype(np.float32)
    head = script.fit_head(features, labels, 1e-5)
    assert [LABELS[i] for i in question_types.best_label(features, head)] == labels
    # Softer weights under a heavier penalty.
    assert np.abs(script.fit_head(features, labels, 1e-1)["weight"]).max() < np.abs(head["weight"]).max() / 5


@trec
@pytest.mark.slow
@pytest.mark.weights
def test_the_embedded_encoder_can_be_fine_tuned(script):
    """A few hundred questions and one epoch; the whole of it takes too long for a test."""
    texts, labels = script.load_trec(TREC / "train_5500.label")
    asked, right = script.load_trec(TREC / "TREC_10.label")
    tokenizer, model = script.fine_tune(
        texts[:800], labels[:800], given("all-MiniLM-L6-v2", learning_rate=2e-4, batch=16, epochs=2)
    )
    # A guess of the commonest type gets 138 of 500.
    assert share_right(question_types.classify(tokenizer, model, asked), right) >= 0.75
