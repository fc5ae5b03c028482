"""What tokens see of the strip of keys and values, and how they weigh it."""

from __future__ import annotations

from dataclasses import dataclass

import torch

N_SEGMENTS = 3
"""What several prompts begin with, the rest of a prompt, and a row's own tokens."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """Which tokens of the strip each token sees: the first so many of each of its segments."""

    starts: torch.Tensor
    """(token, segment)"""
    lengths: torch.Tensor


@dataclass(frozen=True, kw_only=True, slots=True)
class Scoring:
    scaling: float
    softcap: float | None = None
    window: int | None = None
    """How many of the last tokens are seen; None: all."""
