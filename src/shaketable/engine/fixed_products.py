"""Products that always have the same shape, whatever the number of rows that are multiplied.

Where a library rounds a row otherwise in products of other shapes, rows are multiplied in pieces of always as many,
idle ones among them. In a product a row's numbers never meet another row's, so what stands beside it changes nothing
either, and any number of rows may be computed together. Between products a model treats rows one by one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import torch
from transformers.pytorch_utils import Conv1D

from shaketable.engine.narrow_weights import NarrowLinear
from shaketable.engine.row_pool import rounded_up
from shaketable.text.packed_linear import PackedLinear

PRODUCT_ROWS = 32
"""Of every product: enough for a processor to be busy with multiplying, few enough that not many are idle. Another
number would change texts."""
LAYERS = (torch.nn.Linear, PackedLinear, NarrowLinear, Conv1D)


def multiply_in_pieces(model: torch.nn.Module, n_rows: int) -> None:
    """Layers multiply so many rows at once from now on, neither fewer nor more; 0: all that are given."""
    for layer in model.modules():
        if isinstance(layer, LAYERS):
            vars(layer).pop("forward", None)
            if n_rows:
                vars(layer)["forward"] = functools.partial(_in_pieces, layer.forward, n_rows)


def _in_pieces(multiply: Callable[[torch.Tensor], torch.Tensor], n_rows: int, given: torch.Tensor) -> torch.Tensor:
    rows = given.reshape(-1, given.shape[-1])
    n_given = len(rows)
    filled = torch.nn.functional.pad(rows, (0, 0, 0, rounded_up(n_given, n_rows) - n_given))
    product = torch.cat([multiply(piece) for piece in torch.split(filled, n_rows)])
    return product[:n_given].view(*given.shape[:-1], -1)
