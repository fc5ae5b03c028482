"""Packed linear layers, against the products of the plain ones."""

import copy
import gc
import weakref

import pytest
import torch
from tiny import FAMILIES

from shaketable.text import packed_linear
from shaketable.text.packed_linear import PackedLinear, pack_linear_layers

WHERE_ONEDNN_IS = pytest.mark.skipif(
    not packed_linear.can_pack(torch.zeros(1, 1)), reason="oneDNN is not in this build of PyTorch"
)


def layers(model):
    return [type(module) for module in model.modules() if type(module) in (torch.nn.Linear, PackedLinear)]


@WHERE_ONEDNN_IS
@pytest.mark.parametrize("family", ["llama", "qwen2", "odd", "neox"])
@torch.inference_mode()
def test_a_packed_model_gives_the_numbers_of_the_plain_one(family):
    """With biases (qwen2, neox), odd widths and tied or own output embeddings."""
    plain = FAMILIES[family]().eval()
    packed = copy.deepcopy(plain)
    pack_linear_layers(packed)
    assert set(layers(packed)) == {PackedLinear}
    assert len(layers(packed)) == len(layers(plain))
    ids = torch.arange(40).view(2, 20)
    torch.testing.assert_close(packed(ids).logits, plain(ids).logits, atol=1e-4, rtol=1e-4)
    assert torch.equal(packed.get_output_embeddings().weight, plain.get_output_embeddings().weight)
    assert torch.equal(packed.get_input_embeddings().weight, plain.get_input_embeddings().weight)


@WHERE_ONEDNN_IS
@torch.inference_mode()
def test_bfloat16_is_packed_where_the_processor_multiplies_it():
    layer = torch.nn.Sequential(torch.nn.Linear(48, 83)).to(torch.bfloat16)
    given = torch.randn(5, 48).to(torch.bfloat16)
    expected = layer(given).float()
    pack_linear_layers(layer)
    assert isinstance(layer[0], PackedLinear) == torch.ops.mkldnn._is_mkldnn_bf16_supported()
    torch.testing.assert_close(layer(given).float(), expected, atol=2e-2, rtol=2e-2)


@WHERE_ONEDNN_IS
def test_the_plain_weights_are_let_go():
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.LayerNorm(8))
    plain = weakref.ref(model[0].weight)
    pack_linear_layers(model)
    gc.collect()
    assert plain() is None
    assert type(model[1]) is torch.nn.LayerNorm


def test_without_onednn_a_model_stays_as_it_is(monkeypatch):
    monkeypatch.setattr("torch._C._has_mkldnn", False)
    model = FAMILIES["llama"]()
    before = layers(model)
    pack_linear_layers(model)
    assert layers(model) == before
