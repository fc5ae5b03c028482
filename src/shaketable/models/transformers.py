"""Any causal language model in a local folder, a GGUF file, or a model-hub name at hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from shaketable.engine.local import Format, LocalModel


@dataclass(frozen=True, kw_only=True)
class Transformers(LocalModel):
    """PyTorch and transformers, with full logits. `n_rows` answers are decoded at once."""

    version: ClassVar[int] = 3

    path: str
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
