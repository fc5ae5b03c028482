"""Linear layers with weights of eight bits: a quarter of the memory, and integer products where the processor has them.

A row of numbers is rounded to eight bits by its own largest one, and integers add up to the same sum in any order: what
a row becomes depends neither on its neighbours nor on their number. Weights are rounded likewise, by output.
"""

from __future__ import annotations

import torch

LARGEST = 127
"""Levels run from minus to plus this."""
TRIED = ((1, 64), (3, 83), (64, 576))
"""Rows and widths of the products that are looked at: kernels differ by shape."""
LEAST_SCALE = torch.finfo(torch.float32).tiny
"""For rows of zeros."""


class Int8Linear(torch.nn.Module):
    """Stands in for a linear layer when nothing is trained; takes and gives numbers of the layer's own format."""

    def __init__(self, layer: torch.nn.Linear) -> None:
        super().__init__()
        self.in_features, self.out_features, self.bias = layer.in_features, layer.out_features, layer.bias
        self.levels, scales = rounded(layer.weight.detach())
        self.scales = scales[:, 0]

    @property
    def weight(self) -> torch.Tensor:
        """What the levels stand for."""
        return self.levels * self.scales[:, None]

    def forward(self, given: torch.Tensor) -> torch.Tensor:
        levels, scales = rounded(given.reshape(-1, self.in_features))
        product = (torch._int_mm(levels, self.levels.t()) * self.scales).mul_(scales)
        if self.bias is not None:
            product += self.bias
        return product.view(*given.shape[:-1], self.out_features).to(given.dtype)


def rounded(rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Eight-bit levels, and what one level is worth in each row."""
    scales = (rows.abs().amax(-1, keepdim=True).float() / LARGEST).clamp_min_(LEAST_SCALE)
    return (rows / scales).round_().to(torch.int8), scales


def narrow_linear_layers(model: torch.nn.Module) -> None:
    """In place, layer by layer, so that the weights are never there twice. Embeddings and norms stay as they are."""
    for parent in list(model.modules()):
        for name, layer in list(parent.named_children()):
            if type(layer) is torch.nn.Linear:
                setattr(parent, name, Int8Linear(layer))


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
