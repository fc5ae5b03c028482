"""Linear layers with weights of fewer bits, and the products that a processor has for them.

The rest of a model stays float32: with attention in bfloat16 an answer had other digits alone than beside others,
although the proof with its few lengths had held.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from shaketable.text.packed_linear import PackedLinear, can_pack

LARGEST = 127
"""Levels run from minus to plus this."""
TRIED = ((1, 64), (3, 83), (64, 576))
"""Rows and widths of the products that are looked at: kernels differ by shape."""
LEAST_SCALE = torch.finfo(torch.float32).tiny
"""For rows of zeros."""


class NarrowLinear(torch.nn.Module):
    """Stands in for a linear layer when nothing is trained; takes and gives float32."""

    is_wide = False
    """For proofs: whether products are made in float32, which costs time and hides nothing."""

    def __init__(self, layer: torch.nn.Linear) -> None:
        super().__init__()
        self.in_features, self.out_features = layer.in_features, layer.out_features
        self.bias = None if layer.bias is None else layer.bias.detach().float()

    @property
    def weight(self) -> torch.Tensor:
        """In float32, made at every call."""
        raise NotImplementedError

    def product(self, given: torch.Tensor) -> torch.Tensor:
        """Without the bias."""
        raise NotImplementedError

    def forward(self, given: torch.Tensor) -> torch.Tensor:
        product = torch.nn.functional.linear(given, self.weight) if self.is_wide else self.product(given)
        return product if self.bias is None else product + self.bias


class HalfLinear(NarrowLinear):
    """In bfloat16 or float16, packed where the processor has such products."""

    def __init__(self, layer: torch.nn.Linear, dtype: torch.dtype) -> None:
        super().__init__(layer)
        self.dtype = dtype
        narrow = torch.nn.Linear(self.in_features, self.out_features, bias=False, device="meta")
        narrow.weight = torch.nn.Parameter(layer.weight.detach().to(dtype), requires_grad=False)
        self.layer = PackedLinear(narrow) if can_pack(narrow.weight) else narrow

    @property
    def weight(self) -> torch.Tensor:
        return self.layer.weight.float()

    def product(self, given: torch.Tensor) -> torch.Tensor:
        product: torch.Tensor = self.layer(given.to(self.dtype))
        return product.float()


class Int8Linear(NarrowLinear):
    """A row of numbers is rounded to eight bits by its own largest one, and integers add up to the same sum in any
    order: what a row becomes depends neither on its neighbours nor on their number. Weights are rounded by output."""

    def __init__(self, layer: torch.nn.Linear) -> None:
        super().__init__(layer)
        self.levels, scales = rounded(layer.weight.detach())
        self.scales = scales[:, 0]

    @property
    def weight(self) -> torch.Tensor:
        return self.levels * self.scales[:, None]

    def product(self, given: torch.Tensor) -> torch.Tensor:
        levels, scales = rounded(given.reshape(-1, self.in_features))
        product = (torch._int_mm(levels, self.levels.t()) * self.scales).mul_(scales)
        return product.view(*given.shape[:-1], self.out_features)


def rounded(rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Eight-bit levels, and what one level is worth in each row."""
    rows = rows.float()
    scales = (rows.abs().amax(-1, keepdim=True) / LARGEST).clamp_min_(LEAST_SCALE)
    return (rows / scales).round_().to(torch.int8), scales


def narrow_linear_layers(model: torch.nn.Module, dtype: str) -> None:
    """In place, layer by layer, so that the weights are never there twice. Embeddings, norms and the like become
    float32."""
    for module in model.modules():
        if type(module) is not torch.nn.Linear:
            for tensor in (*module.parameters(recurse=False), *module.buffers(recurse=False)):
                tensor.data = tensor.data.float() if tensor.is_floating_point() else tensor.data
    for parent in list(model.modules()):
        for name, layer in list(parent.named_children()):
            if type(layer) is torch.nn.Linear:
                narrow = Int8Linear(layer) if dtype == "int8" else HalfLinear(layer, getattr(torch, dtype))
                setattr(parent, name, narrow)


def is_narrow(model: torch.nn.Module) -> bool:
    return any(isinstance(layer, NarrowLinear) for layer in model.modules())


@contextmanager
def widened(model: torch.nn.Module) -> Iterator[None]:
    layers = [layer for layer in model.modules() if isinstance(layer, NarrowLinear)]
    for layer in layers:
        layer.is_wide = True
    try:
        yield
    finally:
        for layer in layers:
            layer.is_wide = False


def lacks_int8(device: str) -> str | None:
    """Why weights of eight bits cannot be used there; None: they can."""
    if device != "cpu":
        return f"dtype='int8' is for processors, but the device is '{device}'. Use dtype='bfloat16' there."
    if multiplies_exactly():
        return None
    return (
        "dtype='int8' was asked for, but sums of eight-bit products are cut off on this processor, which has neither "
        "AVX-512 VNNI nor the like. Use dtype='float32'."
    )


def multiplies_exactly() -> bool:
    """Whether the largest sums come out right. Older instructions add pairs of products in sixteen bits, and cut off
    what does not fit; the library uses them and says nothing."""
    for n_rows, width in TRIED:
        largest = torch.full((width, width), LARGEST, dtype=torch.int8)
        if not bool((torch._int_mm(largest[:1].repeat(n_rows, 1), largest.t()) == LARGEST * LARGEST * width).all()):
            return False
    return True
