"""Weights in fewer bits: what the products become, and that a row's text stays its own in each format."""

import dataclasses
import gc
import weakref
from pathlib import Path

import pytest
import torch
from rounding import Double, few_rows_differ
from tiny import FAMILIES, write_model
from transformers import AutoModelForCausalLM

from shaketable import catalog, weights
from shaketable.engine import narrow_weights
from shaketable.engine.batch_invariance import decode
from shaketable.engine.narrow_weights import (
    HalfLinear,
    Int8Linear,
    NarrowLinear,
    lacks_int8,
    multiplies_exactly,
    narrow_linear_layers,
    rounded,
)
from shaketable.engine.proof import Proof
from shaketable.engine.sweep import SweepEngine
from shaketable.errors import ModelError, PartError
from shaketable.types import Message, Prompt, Sampling

WHERE_IT_CAN = pytest.mark.skipif(not multiplies_exactly(), reason="this processor cuts sums of eight-bit products off")
NARROW = ["bfloat16", pytest.param("int8", marks=WHERE_IT_CAN)]
TEXTS = ("a tiny model reads letter by letter here", "Ann Lee built it, did she?", "The station opened in 1931.")


def prompts(texts=TEXTS, layout="plain"):
    return [
        Prompt(
            messages=(Message(role="user", content=text),),
            sampling=Sampling(temperature=temperature, max_tokens=6),
            seed=seed,
            layout=layout,
            wants=("logprobs",),
        )
        for text in texts
        for temperature in (0.0, 1.5)
        for seed in range(2)
    ]


def answered(engine, asked):
    """Texts, and the log-probabilities with all their digits."""
    return [(reply.text, reply.extras["logprobs"]) for reply in engine.generate(asked)]


def assert_rows_stay_their_own(engine, asked):
    together = answered(engine, asked)
    assert len({text for text, _ in together}) > 1
    assert answered(engine, asked[::-1]) == together[::-1]
    for i in (0, 3, 7):
        assert answered(engine, [asked[i]]) == [together[i]]


def test_rows_are_rounded_by_their_own_largest_number():
    """By hand: one level is 254 / 127 = 2 in the first row and 1.27 / 127 = 0.01 in the second."""
    levels, scales = rounded(
        torch.tensor([[254.0, -127.0, 2.9, 0.0], [1.27, -0.5, 0.004, 0.006], [0.0, 0.0, 0.0, 0.0]])
    )
    assert levels.tolist() == [[127, -64, 1, 0], [127, -50, 0, 1], [0, 0, 0, 0]]
    torch.testing.assert_close(scales[:2, 0], torch.tensor([2.0, 0.01]))


@WHERE_IT_CAN
@torch.inference_mode()
def test_a_product_of_eight_bits_is_that_of_the_rounded_numbers():
    """Against the same product in 64 bits; the widths leave tails, and there is a bias."""
    layer = torch.nn.Linear(83, 45)
    given = torch.randn(2, 7, 83) * torch.tensor([1.0, 300.0])[:, None, None]
    narrow = Int8Linear(layer)
    levels, scales = rounded(given)
    expected = (levels * scales).double() @ narrow.weight.double().t() + layer.bias.double()
    product = narrow(given)
    assert product.shape == (2, 7, 45)
    torch.testing.assert_close(product.double(), expected, atol=1e-4, rtol=1e-5)
    assert (narrow.weight - layer.weight).abs().max() <= layer.weight.abs().max() / 254 + 1e-6


@WHERE_IT_CAN
@torch.inference_mode()
def test_a_row_of_eight_bits_has_the_same_bits_beside_any_number_of_others():
    narrow, rows = Int8Linear(torch.nn.Linear(83, 45)), torch.randn(150, 83)
    whole = narrow(rows)
    for n_rows in range(1, 150):
        assert torch.equal(narrow(rows[:n_rows]), whole[:n_rows]), n_rows


def test_the_wide_weights_are_let_go_and_the_embedding_stays():
    model = FAMILIES["neox"]()
    layer, embedding = weakref.ref(model.get_output_embeddings().weight), model.get_input_embeddings().weight
    narrow_linear_layers(model, "int8")
    gc.collect()
    assert layer() is None
    assert torch.nn.Linear not in {type(module) for module in model.modules()}
    assert model.get_input_embeddings().weight is embedding


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="only Linux tells what a process holds")
@pytest.mark.parametrize("dtype", ["float32", *NARROW])
def test_the_file_of_the_weights_is_let_go(dtype, tmp_path):
    """Else its pages stay in memory beside what was made of them."""
    engine = SweepEngine(write_model("llama", tmp_path), dtype=dtype)
    gc.collect()
    assert engine.model is not None
    assert str(tmp_path) not in Path("/proc/self/maps").read_text()


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("family", ["llama", "qwen2", "neox"])
def test_a_row_keeps_its_text_in_any_batch(family, dtype, tmp_path):
    engine = SweepEngine(write_model(family, tmp_path), dtype=dtype, n_rows=16)
    assert_rows_stay_their_own(engine, prompts())
    assert engine.environment()["dtype"] == dtype


@pytest.mark.slow
@pytest.mark.weights
@pytest.mark.parametrize("dtype", NARROW)
def test_the_embedded_model_keeps_its_text_in_any_batch(dtype):
    engine = SweepEngine(weights.locate("smollm2"), dtype=dtype, n_rows=16)
    assert_rows_stay_their_own(engine, prompts(("When did it open?", "Name a river."), layout="chat"))
    with torch.inference_mode():
        [(read, _)] = engine.read_prompts([([(7 * i) % 49_000 for i in range(53)], 0)])
        expected = decode(engine, [read], [[3]])[0][0]
        sizes = (2, 3, 5, 31, 64) if engine.invariance == "any" else (2, 64)
        for size in sizes:
            assert torch.equal(decode(engine, [read], [[*range(10, 9 + size), 3]])[0][-1], expected), size


def rounding_library(path):
    """The library's model with what goes into its linear layers and comes out of them rounded to bfloat16."""
    model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)
    for layer in model.modules():
        if isinstance(layer, torch.nn.Linear):
            layer.weight = torch.nn.Parameter(layer.weight.detach().bfloat16().float())
            layer.register_forward_pre_hook(lambda layer, given: (given[0].bfloat16().float(),))
            layer.register_forward_hook(lambda layer, given, product: product.bfloat16().float())
    return model


@pytest.mark.slow
@pytest.mark.weights
@torch.inference_mode()
def test_greedy_bfloat16_is_the_librarys_or_turns_where_the_library_nearly_ties():
    """The library's own bfloat16 rounds between linear layers too, and writes other texts. Beside one that rounds where
    we do, only the order of sums is left: a near tie may turn, and is one for the library too."""
    engine = SweepEngine(weights.locate("smollm2"), dtype="bfloat16", n_rows=16)
    library = rounding_library(weights.locate("smollm2"))
    for text in ("What is the capital of France?", "Name a river.", "One, two, three,"):
        asked = (Message(role="user", content=text),)
        ids = engine.encode(asked, "chat")
        made = library.generate(torch.tensor([ids]), do_sample=False, max_new_tokens=12)[0, len(ids) :].tolist()
        sampling = Sampling(temperature=0.0, max_tokens=12)
        [reply] = engine.generate([Prompt(messages=asked, sampling=sampling, seed=0, wants=("token_ids",))])
        own = list(reply.extras["token_ids"])
        turn = next((i for i, (a, b) in enumerate(zip(own, made, strict=False)) if a != b), None)
        if turn is None:
            assert reply.text == engine.text_of(made)
            continue
        logits = library(torch.tensor([ids + made[:turn]])).logits[0, -1]
        assert logits[made[turn]] - logits[own[turn]] <= 0.25, (text, turn)


def test_a_last_bit_that_narrow_layers_round_away_is_seen_by_the_proof(monkeypatch, tmp_path):
    """Layers that round everything away: what differs between them shows beside wide ones alone."""
    Double(monkeypatch, few_rows_differ)
    monkeypatch.setattr(
        HalfLinear, "product", lambda layer, given: given.new_zeros(*given.shape[:-1], layer.out_features)
    )
    engine = SweepEngine(write_model("llama", tmp_path), dtype="bfloat16", n_rows=16)
    assert dataclasses.replace(engine.proof, retraces=False) == Proof(way="any", least_rows=4)
    assert not any(layer.is_wide for layer in engine.model.modules() if isinstance(layer, NarrowLinear))


# --- the setting ------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["smollm2", "transformers(path='x')"])
def test_another_format_is_another_system(part):
    usual = catalog.build("model", part)
    assert usual.dtype == "float32"
    spelled = {catalog.spelled(usual)}
    for dtype in ("bfloat16", "int8"):
        narrow = catalog.build(
            "model", part.replace(")", f", dtype='{dtype}')") if "(" in part else f"{part}(dtype='{dtype}')"
        )
        assert f"dtype='{dtype}'" in catalog.label(narrow)
        spelled.add(catalog.spelled(narrow))
    assert len(spelled) == 3


def test_an_unknown_format_is_refused_with_those_there_are():
    with pytest.raises(
        PartError, match="smollm2: 'dtype' is 'int4'; input should be 'float32', 'bfloat16', 'float16' or"
    ):
        catalog.build("model", "smollm2(dtype='int4')")


def test_eight_bits_are_refused_before_a_run_where_sums_are_cut_off(monkeypatch, tmp_path):
    """A double of older instructions: one side has no sign, and pairs of products are added in sixteen bits."""

    def cut_off(rows, columns):
        products = torch.nn.functional.pad((rows.int() + 128)[:, :, None] * columns.int(), (0, 0, 0, rows.shape[1] % 2))
        pairs = products.unflatten(1, (-1, 2)).sum(2).clamp(-(2**15), 2**15 - 1)
        return (pairs.sum(1) - 128 * columns.int().sum(0)).int()

    small = torch.tensor([[1, -2, 3]], dtype=torch.int8)
    assert cut_off(small, small.t()).item() == 14
    monkeypatch.setattr(torch, "_int_mm", cut_off)
    assert not narrow_weights.multiplies_exactly()
    model = catalog.build("model", f"transformers(path={str(write_model('llama', tmp_path))!r}, dtype='int8')")
    assert "are cut off on this processor" in model.lacks()
    with pytest.raises(ModelError, match="cut off on this processor"):
        model.generate(prompts()[:1])


def test_eight_bits_are_for_processors():
    assert lacks_int8("cuda") == (
        "dtype='int8' is for processors, but the device is 'cuda'. Use dtype='bfloat16' there."
    )
