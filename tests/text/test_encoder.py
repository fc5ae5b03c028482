from __future__ import annotations

import numpy as np
import pytest
import torch

from shaketable.errors import WeightsError
from shaketable.text.encoder import Encoder, encoder

NAME = "all-MiniLM-L6-v2"
TEXTS = [
    "How do I reset my password?",
    "What are the steps to change a forgotten password?",
    "The film was a delight from start to finish.",
    "I loved that movie, all of it.",
    "A cat sleeps on the sofa.",
    "",
    "Это русский текст",
    "東京は日本の首都です",
    "word " * 300,
    "The film was a delight from start to finish.",
]


@pytest.mark.weights
def test_paraphrases_are_closer_than_unrelated_sentences() -> None:
    password, reset, film, movie, cat = encoder(NAME).embed(TEXTS[:5])
    unrelated = max(password @ film, password @ cat, film @ cat)
    assert password @ reset > unrelated + 0.3
    assert film @ movie > unrelated + 0.3


@pytest.mark.weights
def test_a_text_alone_has_the_vector_it_has_in_a_batch() -> None:
    together = encoder(NAME).embed(TEXTS)
    alone = np.concatenate([encoder(NAME).embed([text]) for text in TEXTS])
    np.testing.assert_allclose(alone, together, atol=1e-6)


@pytest.mark.weights
def test_the_token_states_of_a_text_do_not_depend_on_its_company() -> None:
    for text, found in zip(TEXTS, encoder(NAME).token_states(TEXTS, 5), strict=True):
        (alone,) = encoder(NAME).token_states([text], 5)
        # States are of length 10 or so; their directions are what is used.
        torch.testing.assert_close(
            torch.nn.functional.normalize(alone.states, dim=1),
            torch.nn.functional.normalize(found.states, dim=1),
            atol=1e-6,
            rtol=0,
        )
        assert torch.equal(alone.is_word, found.is_word)


@pytest.mark.weights
def test_vectors_are_float32_of_length_one_and_repeatable() -> None:
    first, second = encoder(NAME).embed(TEXTS), encoder(NAME).embed(TEXTS)
    assert first.dtype == np.float32
    assert first.shape == (10, 384)
    np.testing.assert_allclose(np.linalg.norm(first, axis=1), 1.0, atol=1e-6)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first[2], first[9])


@pytest.mark.weights
def test_two_empty_texts_have_similarity_one_and_no_words() -> None:
    left, right = encoder(NAME).embed(["", "  "])
    assert left @ right == pytest.approx(1.0)
    (found,) = encoder(NAME).token_states([""], 5)
    assert not found.is_word.any()


@pytest.mark.weights
def test_mean_pooling_is_the_mean_of_the_last_layer() -> None:
    (found,) = encoder(NAME).token_states([TEXTS[0]], 6)
    mean = found.states.mean(0)
    np.testing.assert_allclose(encoder(NAME).embed([TEXTS[0]])[0], (mean / mean.norm()).numpy(), atol=1e-6)
    first = found.states[0]
    np.testing.assert_allclose(encoder(NAME).embed([TEXTS[0]], "cls")[0], (first / first.norm()).numpy(), atol=1e-6)


@pytest.mark.weights
def test_a_layer_is_the_hidden_state_of_the_whole_model() -> None:
    from transformers import AutoModel, AutoTokenizer

    from shaketable import weights

    folder = weights.locate(NAME)
    inputs = AutoTokenizer.from_pretrained(folder)(TEXTS[0], return_tensors="pt")
    with torch.inference_mode():
        hidden = AutoModel.from_pretrained(folder)(**inputs, output_hidden_states=True).hidden_states
    for layer in (0, 3, 5):
        (found,) = encoder(NAME).token_states([TEXTS[0]], layer)
        torch.testing.assert_close(found.states, hidden[layer][0], atol=1e-5, rtol=0)


@pytest.mark.weights
def test_long_texts_are_cut_at_512_tokens_for_states_and_256_for_sentences() -> None:
    (found,) = encoder(NAME).token_states(["word " * 700], 5)
    assert found.states.shape == (512, 384)
    cut, longer = encoder(NAME).embed(["word " * 254, "word " * 700])
    np.testing.assert_allclose(cut, longer, atol=1e-6)


@pytest.mark.weights
def test_no_texts_give_no_vectors() -> None:
    assert encoder(NAME).embed([]).shape == (0, 384)
    assert encoder(NAME).token_states([], 5) == []


@pytest.mark.weights
def test_a_lone_surrogate_does_not_stop_the_encoder() -> None:
    assert encoder(NAME).embed(["Paris \ud800"]).shape == (1, 384)


@pytest.mark.weights
def test_a_layer_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match="has 6 layers; layer 7"):
        encoder(NAME).token_states(["a"], 7)


@pytest.mark.weights
@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_vectors_that_are_no_numbers_are_an_error(number: float) -> None:
    own = Encoder(NAME)
    with torch.no_grad():
        own._model(1).embeddings.word_embeddings.weight[:] = number
    with pytest.raises(WeightsError, match=r"'all-MiniLM-L6-v2' gave a vector that is no number"):
        own.token_states(["Paris"], 1)


def test_building_an_encoder_loads_nothing_and_is_shared() -> None:
    assert encoder("no such weights") is encoder("no such weights")
    assert isinstance(encoder("no such weights"), Encoder)


def test_missing_weights_are_an_error_on_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHAKETABLE_OFFLINE", "1")
    with pytest.raises(WeightsError):
        Encoder("no such weights").embed(["a"])


@pytest.mark.parametrize(("has_cuda", "device"), [(True, "cuda"), (False, "cpu")])
def test_the_device_auto_is_the_gpu_where_there_is_one(
    has_cuda: bool, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: has_cuda)
    assert encoder(NAME, "auto").device == device
    assert encoder(NAME, "auto") is encoder(NAME, device)
