"""Probes: attention, log-probabilities and entropy of a text, as a direct computation gives them."""

import functools
from dataclasses import replace

import numpy as np
import pytest
import torch
from tiny import FAMILIES, write_model
from transformers import AutoModelForCausalLM

from shaketable import catalog, weights
from shaketable.engine import probe as probing
from shaketable.engine.kept_readings import KeptReadings
from shaketable.engine.probe import read_each
from shaketable.engine.sweep import SweepEngine
from shaketable.errors import ModelError
from shaketable.methods.rind_qfs import qfs_weights
from shaketable.methods.words import Word
from shaketable.types import Completion, Failure, Message, Probe, Prompt, Reading, Sampling

TEXTS = ("a tiny model reads letter by letter here", "w5 !", "x")
ALL = ("attention", "logprobs", "entropy", "token_ids")


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    return functools.cache(lambda family: SweepEngine(write_model(family, tmp_path_factory.mktemp(family)), n_rows=8))


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    """An engine that reads padded batches, as on a GPU: only the plain word `cpu` means one at a time."""
    made = SweepEngine(write_model("llama", tmp_path_factory.mktemp("together")), n_rows=8)
    made.device = "cpu:0"
    return made


def direct(path, ids):
    """The library's own eager attention and logits for one unpadded text."""
    model = AutoModelForCausalLM.from_pretrained(path, attn_implementation="eager")
    with torch.inference_mode():
        output = model(torch.tensor([ids]), output_attentions=True)
    return output.attentions[-1][0].numpy(), torch.log_softmax(output.logits[0], -1)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_reading_is_that_of_the_library_alone_and_among_others(engine, family):
    readings = read_each(engine(family), [Probe(text=text, wants=ALL) for text in TEXTS])
    for text, reading in zip(TEXTS, readings, strict=True):
        ids = reading.extras["token_ids"]
        attention, logprobs = direct(engine(family).path, ids)
        assert "".join(reading.tokens) == text
        assert reading.extras["attention"].dtype == np.float32
        np.testing.assert_allclose(reading.extras["attention"], attention, atol=1e-4)
        assert reading.extras["logprobs"][0] is None
        assert reading.extras["entropy"][0] is None
        for i in range(1, len(ids)):
            assert reading.extras["logprobs"][i] == pytest.approx(logprobs[i - 1, ids[i]].item(), abs=1e-4)
            entropy = -(logprobs[i - 1].exp() * logprobs[i - 1]).sum().item()
            assert reading.extras["entropy"][i] == pytest.approx(entropy, abs=1e-4)


def test_padded_batches_change_nothing_that_can_be_seen(engine, together):
    probes = [Probe(text=text * n + end, wants=ALL) for end in ("", "y", "zz") for n in (1, 2) for text in TEXTS]
    alone = read_each(engine("llama"), probes)
    for one, other in zip(alone, read_each(together, probes), strict=True):
        assert one.tokens == other.tokens
        np.testing.assert_allclose(one.extras["attention"], other.extras["attention"], atol=1e-4)
        assert one.extras["logprobs"][1:] == pytest.approx(other.extras["logprobs"][1:], abs=1e-4)
        assert one.extras["entropy"][1:] == pytest.approx(other.extras["entropy"][1:], abs=1e-4)


def test_neighbors_do_not_change_a_bit_of_a_padded_reading(together):
    probes = [Probe(text=text, wants=("attention", "logprobs")) for text in TEXTS]
    company = read_each(together, probes)
    for probe, reading in zip(probes, company, strict=True):
        together.forget()
        [alone] = read_each(together, [probe])
        assert np.array_equal(alone.extras["attention"], reading.extras["attention"])
        assert alone.extras["logprobs"] == reading.extras["logprobs"]


def test_the_same_is_read_once_for_all_who_ask(engine, monkeypatch):
    n_read, read = [], probing._read
    monkeypatch.setattr(probing, "_read", lambda engine, batch: (n_read.append(len(batch)), read(engine, batch))[1])
    engine("llama").forget()
    asked = [Probe(text=text, wants=("attention",)) for text in ("ab", "abc", "ab")]
    first = read_each(engine("llama"), asked)
    assert sum(n_read) == 2
    again = read_each(engine("llama"), [*asked, Probe(text="ab", wants=("attention", "entropy"))])
    assert sum(n_read) == 3, "what was not asked before is read"
    for i, reading in enumerate(first):
        assert np.array_equal(reading.extras["attention"], again[i].extras["attention"])
    assert np.array_equal(first[0].extras["attention"], again[3].extras["attention"])
    with pytest.raises(ValueError, match="read-only"):
        first[0].extras["attention"][0, 0, 0] = 1.0  # Another method has it too.


def test_readings_that_were_not_used_for_long_are_let_go():
    kept = KeptReadings(most_bytes=20_000)
    readings = [Reading(tokens=("x",), extras={"attention": np.zeros((2, 30, 30), np.float32)}) for _ in range(4)]
    for n, reading in enumerate(readings[:2]):
        kept.keep(((n,), 0, ("attention",)), reading)  # 7,200 bytes each, and a little for tokens
    assert kept.recall(((0,), 0, ("attention",))) is readings[0]
    kept.keep(((2,), 0, ("attention",)), readings[2])
    assert kept.recall(((1,), 0, ("attention",))) is None
    assert kept.recall(((0,), 0, ("attention",))) is readings[0]
    assert kept.n_bytes <= kept.most_bytes


def test_the_very_tokens_given_are_read(engine):
    [reading] = read_each(engine("llama"), [Probe(text="ab", wants=ALL, token_ids=(9, 4, 17))])
    attention, _ = direct(engine("llama").path, [9, 4, 17])
    assert reading.extras["token_ids"] == [9, 4, 17]
    np.testing.assert_allclose(reading.extras["attention"], attention, atol=1e-5)


def test_a_prompt_before_the_text_is_read_and_not_reported(engine):
    before = (Message(role="user", content="w5 "),)
    [reading] = read_each(engine("llama"), [Probe(text="xyz", wants=ALL, before=before, layout="plain")])
    ids = engine("llama").encode(before, "plain")
    attention, logprobs = direct(engine("llama").path, [*ids, *reading.extras["token_ids"]])
    assert reading.tokens == ("x", "y", "z")
    np.testing.assert_allclose(reading.extras["attention"], attention[:, 3:, 3:], atol=1e-5)
    for i, token in enumerate(reading.extras["token_ids"]):
        assert reading.extras["logprobs"][i] == pytest.approx(logprobs[2 + i, token].item(), abs=1e-4)


def test_after_a_beginning_mark_the_first_token_has_a_probability_too(together):
    together.tokenizer.bos_token = "<end>"
    [reading] = read_each(together, [Probe(text="xy", wants=("logprobs", "token_ids"), beginning_mark=True)])
    _, logprobs = direct(together.path, [0, *reading.extras["token_ids"]])
    assert reading.tokens == ("x", "y")
    expected = [logprobs[i, token].item() for i, token in enumerate(reading.extras["token_ids"])]
    assert reading.extras["logprobs"] == pytest.approx(expected, abs=1e-4)


def test_attention_after_a_beginning_mark_is_the_library_s_without_the_mark(together):
    """What the tokens leave of a row is the mark's, so DRAGIN's query can be weighted as in the authors' code."""
    together.tokenizer.bos_token = "<end>"
    [reading] = read_each(together, [Probe(text="w5 xyz", wants=("attention", "token_ids"), beginning_mark=True)])
    attention, _ = direct(together.path, [0, *reading.extras["token_ids"]])
    np.testing.assert_allclose(reading.extras["attention"], attention[:, 1:, 1:], atol=1e-4)
    # The word at 3 to 5 is a hit, w5 stands before it: rows 3 to 5 of the library, each over mark and w5 alone.
    rows = attention.mean(0)[3:6, :4]
    expected = (rows / rows.sum(1, keepdims=True)).mean(0)[1:].sum()
    words = [Word("w5", range(3)), Word("xyz", range(3, 6))]
    assert qfs_weights(reading.extras["attention"], words, {1}) == pytest.approx([expected, 0.0], abs=1e-4)
    assert expected < 0.999


def test_a_probe_between_two_steps_of_generation_disturbs_nothing(engine):
    def asked(text, n):
        sampling = Sampling(temperature=1.0, max_tokens=n)
        return Prompt(messages=(Message(role="user", content=text),), sampling=sampling, seed=4, layout="plain")

    one = engine("llama")
    expected = one.generate([asked("a tiny", 9), asked("w5", 3)])
    one.submit(0, asked("a tiny", 9))
    one.submit(1, asked("w5", 3))
    replies = dict(one.collect())
    read_each(one, [Probe(text="between", wants=("attention",))])
    replies.update(one.collect())
    assert [replies[i].text for i in (0, 1)] == [reply.text for reply in expected]


def test_no_probe_has_no_reading(engine):
    assert read_each(engine("llama"), []) == []


def test_texts_that_cannot_be_read_fail_alone(engine):
    empty, long, fine = read_each(engine("llama"), [Probe(text=text, wants=ALL) for text in ("", "x" * 200, "x")])
    assert (empty.kind, empty.step, empty.may_retry) == ("empty_prompt", "probe", False)
    assert long.kind == "too_long"
    assert "200 tokens" in long.message
    assert "128" in long.message
    assert isinstance(fine, Reading)


@pytest.mark.parametrize("way", ["any", "alone"])
def test_a_model_that_keeps_its_attention_to_itself_is_named(engine, way, monkeypatch):
    attention = engine("gpt2").model.get_input_embeddings()
    monkeypatch.setattr(attention, "layer_idx", 99, raising=False)
    monkeypatch.setattr(probing, "_last_attention", lambda engine: attention)
    monkeypatch.setattr(engine("gpt2"), "proof", replace(engine("gpt2").proof, way=way))
    with pytest.raises(ModelError, match=r"gives no attention weights.*Use another model or another method"):
        read_each(engine("gpt2"), [Probe(text="x", wants=("attention",))])
    [after] = read_each(engine("gpt2"), [Probe(text="x", wants=("logprobs",))])
    assert not isinstance(after, Failure)


@pytest.mark.weights
def test_neighbors_do_not_change_a_bit_of_what_the_embedded_model_reads():
    model = catalog.build("model", "smollm2")
    texts = ["Marie Curie was born in Warsaw.", "Yes", "She won two Nobel Prizes. " * 30, "w", "Oslo or Bergen?"]
    probes = [Probe(text=text, wants=ALL) for text in texts]
    for probe, reading in zip(probes, model.probe(probes), strict=True):
        model.forget()
        [alone] = model.probe([probe])
        assert np.array_equal(alone.extras.pop("attention"), reading.extras.pop("attention"))
        assert alone == reading


@pytest.mark.weights
def test_the_embedded_model_is_read_as_the_library_reads_it():
    model = catalog.build("model", "smollm2")
    text = "Marie Curie was born in Warsaw. She won two Nobel Prizes."
    [reading] = model.probe([Probe(text=text, wants=ALL)])
    attention, logprobs = direct(weights.locate("smollm2"), reading.extras["token_ids"])
    assert reading.tokens[:4] == ("Marie", " Cur", "ie", " was")
    np.testing.assert_allclose(reading.extras["attention"], attention, atol=1e-4)
    ids = reading.extras["token_ids"]
    expected = [logprobs[i, token].item() for i, token in enumerate(ids[1:])]
    assert reading.extras["logprobs"][1:] == pytest.approx(expected, abs=1e-4)


@pytest.mark.gpu
@pytest.mark.parametrize("family", ["llama", "gemma2", "gpt2"])
def test_a_gpu_reads_as_a_processor_does(engine, family):
    on_gpu = SweepEngine(engine(family).path, device="cuda", n_rows=8)
    probes = [Probe(text=text, wants=ALL) for text in TEXTS]
    for one, other in zip(read_each(engine(family), probes), read_each(on_gpu, probes), strict=True):
        np.testing.assert_allclose(one.extras["attention"], other.extras["attention"], atol=1e-4)
        assert one.extras["logprobs"][1:] == pytest.approx(other.extras["logprobs"][1:], abs=1e-3)
    reply = on_gpu.generate(
        [Prompt(messages=(Message(role="user", content="x"),), sampling=Sampling(temperature=0.0, max_tokens=2), seed=0,
                layout="plain")]
    )[0]  # fmt: skip
    assert isinstance(reply, Completion)
