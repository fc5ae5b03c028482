"""Nodes of a token tree, computed in batches with kept keys and values, against one plain pass for each."""

from __future__ import annotations

import pytest
import torch
from tiny import FAMILIES, write_model
from tokenizers import Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from transformers import PreTrainedTokenizerFast

from shaketable.engine.token_bytes import token_bytes
from shaketable.errors import ModelError
from shaketable.models import transformers as part
from shaketable.types import Message, Prompt, Sampling

SUFFIXES = [(), (5,), (5, 9), (7, 9), (5, 9, 11), (30, 31, 32, 33)]


def prompt(text: str) -> Prompt:
    message = Message(role="user", content=text)
    return Prompt(messages=(message,), sampling=Sampling(temperature=1, max_tokens=5), seed=0, layout="plain")


def plain_pass(model: part.Transformers, one: Prompt, suffix: tuple[int, ...]) -> torch.Tensor:
    ids = [*model.engine.encode(one.messages, one.layout), *suffix]
    with torch.inference_mode():
        logits = model.engine.model(torch.tensor([ids]), use_cache=False).logits[0, -1]
    return torch.log_softmax(logits.float(), -1)


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_a_node_has_the_distribution_of_a_plain_pass(family, tmp_path):
    model = part.Transformers(path=str(write_model(family, tmp_path)))
    prompts = [prompt(text) for text in ("Who wrote it, and why?", "Who wrote it, and when was that?", "xyz")]
    # Prompts that share a beginning, nodes whose parents were never asked for, and nodes asked for twice.
    model.expand([(one, [()]) for one in prompts])
    found = model.expand([(one, SUFFIXES) for one in prompts])
    again = model.expand([(prompts[0], SUFFIXES[::-1])])
    for one, lines in zip(prompts, found, strict=True):
        for suffix, line in zip(SUFFIXES, lines, strict=True):
            assert torch.allclose(line, plain_pass(model, one, suffix), atol=2e-3)
    for first, second in zip(found[0], again[0][::-1], strict=True):
        assert torch.allclose(first, second, atol=2e-3)


@pytest.mark.gpu
@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_a_gpu_finds_the_same_nodes(family, tmp_path):
    folder = str(write_model(family, tmp_path))
    asked = [(prompt(text), SUFFIXES) for text in ("Who wrote it, and why?", "Who wrote it, and when was that?", "xyz")]
    on_gpu = part.Transformers(path=folder, device="cuda").expand(asked)
    for lines, expected in zip(on_gpu, part.Transformers(path=folder).expand(asked), strict=True):
        for line, other in zip(lines, expected, strict=True):
            assert torch.allclose(line, other, atol=2e-3)


def test_each_node_is_computed_once_and_prompts_are_not_counted(tmp_path):
    model = part.Transformers(path=str(write_model("llama", tmp_path)))
    model.expand([(prompt("abc"), [(), (5,), (5, 9)])])
    assert model.continuations.n_positions == 2
    # The parent (5,) is there already; (6,) is not, and is computed on the way.
    model.expand([(prompt("abc"), [(5, 10), (6, 9)])])
    assert model.continuations.n_positions == 5


def test_prompts_that_are_not_asked_for_are_forgotten_and_their_places_used_again(tmp_path):
    model = part.Transformers(path=str(write_model("llama", tmp_path)))
    [[first]] = model.expand([(prompt("abc"), [(5,)])])
    for text in ("defg", "hijkl", "m", "abd"):
        model.expand([(prompt(text), [(5, 6, 7)]), (prompt(text * 2), [(5,)])])
    # The two asked for last, and one that the next prompts may begin like.
    assert len(model.continuations.stems) == 3
    assert model.continuations.trees.keys[0].shape[0] <= 4
    [[again]] = model.expand([(prompt("abc"), [(5,)])])
    assert torch.allclose(first, again, atol=1e-4)


@pytest.mark.parametrize("family", ["gemma2", "mistral"])
def test_a_long_prompt_is_read_in_parts_and_a_window_hides_its_beginning(family, tmp_path, monkeypatch):
    monkeypatch.setattr("shaketable.engine.continuations.TOKENS_AT_ONCE", 7)
    model = part.Transformers(path=str(write_model(family, tmp_path)))
    prompts = [prompt("A sentence that is longer than the window."), prompt("A sentence that ends.")]
    for one, lines in zip(prompts, model.expand([(one, SUFFIXES) for one in prompts]), strict=True):
        for suffix, line in zip(SUFFIXES, lines, strict=True):
            assert torch.allclose(line, plain_pass(model, one, suffix), atol=2e-3)


def test_a_pass_that_fails_leaves_nothing_half_read(tmp_path, monkeypatch):
    model = part.Transformers(path=str(write_model("llama", tmp_path)))
    one = prompt("abc")
    model.expand([(one, [()])])

    def fail(*args: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch, pytest.raises(MemoryError):
        patch.setattr(model.continuations.trees, "attend", fail)
        model.expand([(one, [(5,)])])
    [[found]] = model.expand([(one, [(5, 9)])])
    assert torch.allclose(found, plain_pass(model, one, (5, 9)), atol=2e-3)


def test_what_prompts_have_in_common_is_read_once(tmp_path, monkeypatch):
    model = part.Transformers(path=str(write_model("llama", tmp_path)))
    passes = []
    expect = model.continuations.trees.expect
    monkeypatch.setattr(
        model.continuations.trees, "expect", lambda tokens, device: (passes.append(len(tokens)), expect(tokens, device))
    )
    model.expand([(prompt("the same, one"), [()]), (prompt("the same, two!"), [()])])
    # One letter, one token: 13 of the first, then what follows "the same, " in the second.
    assert passes == [13, 4]
    model.expand([(prompt("the same, ten"), [()])])
    assert passes == [13, 4, 2]  # "t" is as in "two".


def test_bytes_of_a_byte_level_vocabulary_spell_any_text(tmp_path):
    model = part.Transformers(path=str(write_model("llama", tmp_path)))
    pieces, ends = model.token_bytes()
    text = "Sørenmark é 日本 \U0001f600 a\n b"
    ids = model.engine.tokenizer(text)["input_ids"]
    assert b"".join(pieces[i] for i in ids).decode() == text
    assert {pieces[i] for i in ends} == {b""}


def made_tokenizer(vocabulary: list[str], decoder: object) -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(BPE(vocab={piece: i for i, piece in enumerate(vocabulary)}, merges=[], byte_fallback=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoder
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>")


def test_bytes_of_a_vocabulary_with_marked_spaces():
    tokenizer = made_tokenizer(["</s>", "▁", "a", "▁b", "<0xE6>", "<0x97>", "<0xA5>"], decoders.Metaspace())
    # A logit beyond the vocabulary, as padded embeddings have them, adds nothing.
    assert token_bytes(tokenizer, 8) == [b"", b" ", b"a", b" b", b"\xe6", b"\x97", b"\xa5", b""]


def test_a_vocabulary_of_another_kind_is_refused():
    tokenizer = made_tokenizer(["</s>", "日", "a##"], decoders.WordPiece())
    with pytest.raises(ModelError, match=r"neither as bytes nor with ▁"):
        token_bytes(tokenizer, 3)
