"""Linear layers whose weights are kept as oneDNN reads them, so that no product rearranges them first.

A product with few rows spends much of its time on that, and one with packed weights gave a row the same bits from two
rows on, on a processor on which the usual library needs four.
"""

from __future__ import annotations

import torch

USUAL_ROWS = 128
"""Rows that the arrangement is made for; any number may be multiplied."""


class PackedLinear(torch.nn.Module):
    """Stands in for a linear layer when nothing is trained."""

    def __init__(self, layer: torch.nn.Linear) -> None:
        super().__init__()
        self.in_features, self.out_features, self.bias = layer.in_features, layer.out_features, layer.bias
        self.packed: torch.Tensor = torch.ops.mkldnn._reorder_linear_weight(layer.weight.detach(), USUAL_ROWS)

    @property
    def weight(self) -> torch.Tensor:
        """Unpacked at every call: for those who look at it now and then."""
        return self.packed.to_dense()

    def forward(self, given: torch.Tensor) -> torch.Tensor:
        product: torch.Tensor = torch.ops.mkldnn._linear_pointwise(given, self.packed, self.bias, "none", [], "")
        return product


def pack_linear_layers(model: torch.nn.Module) -> None:
    """In place. Weights that nobody else holds, such as an embedding, are let go one by one."""
    for parent in list(model.modules()):
        for name, layer in list(parent.named_children()):
            if type(layer) is torch.nn.Linear and can_pack(layer.weight):
                setattr(parent, name, PackedLinear(layer))
    if any(isinstance(layer, PackedLinear) for layer in model.modules()):
        let_file_go(model)


def let_file_go(model: torch.nn.Module) -> None:
    """One tensor that lies in the file of weights keeps all of the file in memory."""
    for tensor in (*model.parameters(), *model.buffers()):
        tensor.data = tensor.data.clone()


def can_pack(weight: torch.Tensor) -> bool:
    """Whether oneDNN is there and multiplies such numbers on this processor."""
    if weight.device.type != "cpu" or not torch._C._has_mkldnn:
        return False
    operators = torch.ops.mkldnn
    if not hasattr(operators, "_linear_pointwise") or not hasattr(operators, "_reorder_linear_weight"):
        return False
    if weight.dtype == torch.bfloat16:
        return bool(operators._is_mkldnn_bf16_supported())
    if weight.dtype == torch.float16:
        return bool(operators._is_mkldnn_fp16_supported())
    return weight.dtype == torch.float32
