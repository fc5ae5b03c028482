"""Functions of single numbers, such as activations, so computed that a number's place in its tensor changes no bit.

A library takes numbers in vectors of its processor and the last few of a tensor, or of a thread's share of it, one by
one, with a routine that rounds otherwise. So a tensor is filled up until every share is made of whole vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

import torch
from transformers.activations import ACT2CLS

VECTOR = 64
"""Numbers of a step of a vectorized loop, with room to spare: two registers of AVX-512 in float32 have 32."""
SHARE = 32768
"""Numbers that PyTorch gives a thread at least; below that it does not divide a tensor."""
CLASSES = (
    *(given[0] if isinstance(given, tuple) else given for given in ACT2CLS.values()),
    *(getattr(torch.nn, name) for name in ("SiLU", "GELU", "Sigmoid", "Tanh", "Mish", "Softplus", "ELU", "SELU")),
)


def by_whole_vectors(function: Callable[[torch.Tensor], torch.Tensor], given: torch.Tensor) -> torch.Tensor:
    """A function of each number, on a processor with the same bits whatever stands beside it."""
    n_numbers = given.numel()
    n_over = 0 if given.is_cuda else _filled_up(n_numbers) - n_numbers
    if not n_over:
        return function(given.contiguous())
    filled = torch.nn.functional.pad(given.reshape(-1), (0, n_over))
    return function(filled)[:n_numbers].view(given.shape)


def _filled_up(n_numbers: int) -> int:
    """The next number that PyTorch divides into whole vectors: most functions go to as many threads as have at least a
    share, some to all of them, always evenly."""
    n_threads = torch.get_num_threads()
    while True:
        step = VECTOR * math.lcm(n_threads, max(1, min(n_threads, -(-n_numbers // SHARE))))
        if n_numbers % step == 0:
            return n_numbers
        n_numbers = -(-n_numbers // step) * step


class WholeVectors(torch.nn.Module):
    """Stands in for an activation."""

    def __init__(self, activation: torch.nn.Module) -> None:
        super().__init__()
        self.activation = activation

    def forward(self, given: torch.Tensor) -> torch.Tensor:
        return by_whole_vectors(cast(Callable[[torch.Tensor], torch.Tensor], self.activation), given)


def compute_by_whole_vectors(model: torch.nn.Module) -> None:
    """The model's activations, in place."""
    for parent in list(model.modules()):
        if isinstance(parent, WholeVectors):
            continue
        for name, layer in list(parent.named_children()):
            if type(layer) in CLASSES and not list(layer.parameters()):
                setattr(parent, name, WholeVectors(layer))
