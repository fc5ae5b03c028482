"""What was proved of the batches of a model on a machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Invariance = Literal["any", "fixed", "alone"]
"""In which batches a row has the bits that it has alone: `any`, of any number in any order; `fixed`, always of as many
rows; `alone`, in none."""

PROOF_VERSION = 6
"""Raised when the proof, or what it is about, changes: what was proved before is proved anew."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Proof:
    way: Invariance
    least_rows: int = 1
    """With `any`: rows of a product at least, idle ones among them, from which on their number changes no bit."""
    product_rows: int = 0
    """With `fixed` on a processor: rows of every product, idle ones among them. 0: the batch itself always has as many
    rows."""
    is_captured: bool = False
    """Whether steps are replayed as graphs of a GPU."""
