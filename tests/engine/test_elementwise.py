"""A number's place in its tensor, and a row's in its batch, change no bit: on random small models and prompts of a few
tokens, of shapes in which vectors and products are not whole."""

import functools

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tiny import COMMON, VOCABULARY, write_letters
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    set_seed,
)
from transformers.activations import ACT2FN

from shaketable.engine.batch_invariance import decode
from shaketable.engine.elementwise import SHARE, WholeVectors, by_whole_vectors
from shaketable.engine.sweep import SweepEngine

KINDS = {"llama": (LlamaConfig, LlamaForCausalLM), "qwen2": (Qwen2Config, Qwen2ForCausalLM)}
SHORT = range(1, 9)
OPENING = tuple(range(30, 39))


@pytest.fixture
def threads():
    usual = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(usual)


@pytest.mark.parametrize("n_threads", [1, 2, 3, 5])
@pytest.mark.parametrize("name", ["silu", "gelu", "gelu_new", "gelu_pytorch_tanh", "quick_gelu", "sigmoid"])
def test_a_number_is_the_same_alone_and_in_a_tensor_that_threads_share(threads, name, n_threads):
    activation = WholeVectors(ACT2FN[name])
    rows = torch.randn(151, 4 * SHARE // 151, generator=torch.Generator().manual_seed(1)) * 3
    threads(1)
    alone = torch.cat([activation(row[None]) for row in rows])
    threads(n_threads)
    for n_rows in (1, 2, 77, 151):
        assert torch.equal(activation(rows[:n_rows]), alone[:n_rows])
    assert torch.allclose(alone, ACT2FN[name](rows.double()).float(), atol=1e-5)


def test_what_is_not_contiguous_keeps_its_shape():
    given = torch.randn(7, 11).t()
    assert torch.equal(by_whole_vectors(torch.exp, given), torch.exp(given))


def tiny_engine(folder, kind, groups, share, width, n_inner):
    """A random model of this shape; widths of heads, and of the layer between two products."""
    set_seed(groups + share + width + n_inner)
    n_heads, hidden = groups * share, groups * share * width
    if kind == "gpt2":
        shape = {"n_embd": hidden, "n_layer": 1, "n_head": n_heads, "n_inner": n_inner, "n_positions": 128}
        ends = {"vocab_size": len(VOCABULARY), "bos_token_id": 0, "eos_token_id": 0}
        model = GPT2LMHeadModel(GPT2Config(**shape, **ends, initializer_range=0.5))
    else:
        config, model_class = KINDS[kind]
        shape = {"hidden_size": hidden, "intermediate_size": n_inner, "num_hidden_layers": 1}
        model = model_class(config(**shape, num_attention_heads=n_heads, num_key_value_heads=groups, **COMMON))
    model.eval().save_pretrained(folder)
    return SweepEngine(write_letters(folder), n_rows=8)


def read_anew(engine, prompts):
    """Nothing is taken from what was read before."""
    engine.forget()
    return engine.read_prompts(prompts)


@settings(max_examples=2, deadline=None, derandomize=True)
@given(
    kind=st.sampled_from(["llama", "qwen2", "gpt2"]),
    groups=st.integers(1, 2),
    share=st.integers(1, 3),
    width=st.sampled_from([2, 6, 10, 16]),
    n_inner=st.sampled_from([5, 31, 64, 83]),
    order=st.permutations(range(2 * len(SHORT))),
)
@example(kind="llama", groups=2, share=2, width=10, n_inner=5, order=range(16))
@example(kind="qwen2", groups=2, share=3, width=6, n_inner=96, order=range(16))
@torch.inference_mode()
def test_prompts_of_a_few_tokens_have_the_same_bits_alone_and_in_every_company(
    tmp_path_factory, kind, groups, share, width, n_inner, order
):
    engine = tiny_engine(tmp_path_factory.mktemp("tiny"), kind, groups, share, width, n_inner)
    assert engine.takes_any_number
    prompts = [([*range(40, 40 + n)], 0) for n in SHORT] + [([*OPENING, *range(40, 40 + n)], 9) for n in SHORT]
    alone = [read_anew(engine, [prompt])[0] for prompt in prompts]
    once = functools.cache(lambda i, row: decode(engine, [alone[i][0]], [[row]])[0][0])
    for n_together in (2, 5, len(prompts)):
        some = list(order)[:n_together]
        for i, (read, logits) in zip(some, read_anew(engine, [prompts[i] for i in some]), strict=True):
            assert torch.equal(logits, alone[i][1])
            assert torch.equal(read.values[0], alone[i][0].values[0])
        rows = [[*range(5, 5 + 1 + n % 3)] for n in some]
        decoded = decode(engine, [alone[i][0] for i in some], rows)
        for i, own, logits in zip(some, rows, decoded, strict=True):
            assert all(torch.equal(line, once(i, row)) for row, line in zip(own, logits, strict=True))
