"""Doubles of matrix libraries that round a row otherwise when it is multiplied beside few others, or beside any.

Every row is multiplied by itself, so that the processor at hand adds nothing of its own, and then scaled by a factor
that depends on the number of rows of the product, and of products in the call, alone.
"""

import torch

from shaketable.engine.attention_parts import FUSED

LAST_DIGITS = 2.0**-20
BLOCK = 32
"""Tokens that the fused attention takes at once, at the least."""


def few_rows_differ(n_rows, n_products=1):
    """As MKL on AMD processors: products of 1, 2 and 3 rows round otherwise, from 4 on all are alike."""
    return LAST_DIGITS * max(0, 4 - n_rows)


def all_sizes_differ(n_rows, n_products=1):
    """As a library that chooses another kernel for every shape, and for every number of products in a call."""
    return LAST_DIGITS * (n_rows + 7 * n_products)


class Double:
    """Takes the place of the products in which rows of a batch meet."""

    def __init__(self, monkeypatch, error):
        self.error, self.sizes = error, set()
        self.linear, self.matmul = torch.nn.functional.linear, torch.matmul
        monkeypatch.setattr("shaketable.text.packed_linear.can_pack", lambda weight: False)
        monkeypatch.setattr("torch.nn.functional.linear", self.multiply)
        monkeypatch.setattr("torch.matmul", self.multiply_each)
        monkeypatch.setattr("shaketable.engine.side_by_side.FUSED", self.attend)

    def factor(self, n_rows, n_products=1):
        return 1 + self.error(n_rows, n_products)

    def multiply(self, given, weight, bias=None):
        rows = given.reshape(-1, given.shape[-1])
        self.sizes.add(len(rows))
        product = torch.cat([self.linear(row[None], weight, bias) for row in rows])
        return (product * self.factor(len(rows))).view(*given.shape[:-1], -1)

    def multiply_each(self, batch, other):
        """Slot by slot and group by group, (slot, group, row, width)."""
        product = [
            torch.cat([self.matmul(left[None, i], right) for i in range(len(left))])
            for left, right in zip(batch.flatten(0, 1), other.flatten(0, 1), strict=True)
        ]
        return torch.stack(product).view(*batch.shape[:3], -1) * self.factor(batch.shape[2], len(product))

    def attend(self, query, keys, values, **settings):
        # A text by itself, or a block of one: its shape is the same whatever stands beside it.
        if settings.get("is_causal") or "attn_mask" in settings:
            return FUSED(query, keys, values, **settings)
        tokens = [FUSED(query[:, :, i : i + 1], keys, values, **settings) for i in range(query.shape[2])]
        taken, score = (torch.cat(parts, 2) for parts in zip(*tokens, strict=True))
        whole, last = divmod(query.shape[2], BLOCK)
        sizes = [BLOCK] * whole * BLOCK + [last] * last
        return taken * torch.tensor([self.factor(size) for size in sizes])[:, None], score
