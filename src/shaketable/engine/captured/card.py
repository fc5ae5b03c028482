"""What a GPU has room for, told before weights are loaded and before rows are seated."""

from __future__ import annotations

import json
import math
from pathlib import Path

import torch

KEPT_FREE = 0.1
"""Of the card's memory, for what passes need besides weights, keys and values."""


def free_bytes(device: str) -> int:
    """What can still be taken, with what PyTorch holds but does not use."""
    free, whole = torch.cuda.mem_get_info(device)
    unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return max(0, int(free + unused - KEPT_FREE * whole))


def lacks_room(folder: Path, device: str, dtype: str) -> str | None:
    """Why weights cannot be loaded there; None: they can, or their files do not tell how large they are."""
    if not torch.cuda.is_available():
        return f"device='{device}' was asked for, but PyTorch sees no CUDA device. Use device='cpu'."
    needed, free = n_weights(folder) * getattr(torch, dtype).itemsize, free_bytes(device)
    if needed <= free:
        return None
    return (
        f"{folder.name} takes {needed / 1e9:.1f} GB as {dtype}, but {device} has room for {free / 1e9:.1f} GB. Use "
        f"{'a smaller model' if dtype != 'float32' else 'dtype=bfloat16, a smaller model'} or a larger card, or close "
        "what else runs on it."
    )


def n_weights(folder: Path) -> int:
    """How many numbers the safetensors files of a folder hold, by what stands at their beginnings."""
    return sum(_n_in_file(file) for file in folder.glob("*.safetensors")) if folder.is_dir() else 0


def _n_in_file(file: Path) -> int:
    with file.open("rb") as opened:
        listed = json.loads(opened.read(int.from_bytes(opened.read(8), "little")))
    return sum(math.prod(tensor["shape"]) for name, tensor in listed.items() if name != "__metadata__")
