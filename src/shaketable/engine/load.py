"""One engine per process for the same weights and settings."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Literal

from shaketable.engine.captured.engine import CapturedEngine
from shaketable.engine.sweep import SweepEngine


@functools.cache
def engine(
    path: Path, device: str, dtype: str, n_rows: int, batching: Literal["exact", "free"] = "exact"
) -> SweepEngine:
    kind = CapturedEngine if device.startswith("cuda") else SweepEngine
    return kind(path, device=device, dtype=dtype, n_rows=n_rows, batching=batching)
