"""What was proved of the batches of a model on a machine."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, field, replace
from typing import Literal

Invariance = Literal["any", "fixed", "alone"]
"""In which batches a row has the bits that it has alone: `any`, of any number in any order; `fixed`, always of as many
rows; `alone`, in none."""

PROOF_VERSION = 7
"""Raised when the proof, or what it is about, changes: what was proved before is proved anew."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Proof:
    way: Invariance
    least_rows: int = 1
    """With `any`: rows of a product at least, idle ones among them, from which on their number changes no bit."""
    product_rows: int = 0
    """With `fixed` on a processor: rows of every product, idle ones among them. 0: the batch itself always has as many
    rows."""
    retraces: bool = False
    """Whether tokens that a row has written, read again in one pass, have the bits of the steps that wrote them."""
    is_captured: bool = False
    """Whether steps are replayed as graphs of a GPU."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Checks:
    """The checks of a proof, each of which is made once: what came out before is not asked again."""

    outcomes: MutableMapping[str, bool] = field(default_factory=dict)
    keep: Callable[[], None] = lambda: None
    """Called when an outcome was added."""
    name: str = ""

    def named(self, name: str) -> Checks:
        """The same checks under a name, where several proofs are made."""
        return replace(self, name=f"{self.name}{name}: ")

    def holds(self, name: str, check: Callable[[], bool]) -> bool:
        if self.name + name not in self.outcomes:
            self.outcomes[self.name + name] = check()
            self.keep()
        return self.outcomes[self.name + name]
