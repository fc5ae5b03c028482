"""What was proved of a model's batches, kept in the user cache: paid once per machine, libraries and weights.

One small file per key, and another with the checks of a proof that has not come to its end. A file that cannot be read
is ignored, and a folder that cannot be written costs nothing but the time of the next proof.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from shaketable import weights
from shaketable.engine.proof import PROOF_VERSION, Checks, Invariance, Proof
from shaketable.identity import canonical, digest_text
from shaketable.types import Json

if TYPE_CHECKING:
    from shaketable.engine.prompt_reader import PromptReader

CHOOSE_KERNELS = (
    "MKL_CBWR",
    "MKL_ENABLE_INSTRUCTIONS",
    "ONEDNN_MAX_CPU_ISA",
    "DNNL_MAX_CPU_ISA",
    "ATEN_CPU_CAPABILITY",
)
"""Variables of the environment by which a user may."""


def folder() -> Path:
    return weights.home() / "proofs"


def recall(reader: PromptReader, prove: Callable[[Checks], Proof]) -> Proof:
    """The proof for this machine, these libraries and these weights: the one that is kept, or a new one."""
    facts = facts_of(reader)
    file = folder() / f"{digest_text(canonical(facts))}.json"
    proof = _load(file, facts)
    if proof is None:
        begun = file.with_suffix(".begun")
        proof = prove(_checks(begun, facts))
        with contextlib.suppress(OSError):
            _write(file, {"facts": facts, "proof": asdict(proof)})
            begun.unlink(missing_ok=True)
    return proof


def _checks(file: Path, facts: Mapping[str, Json]) -> Checks:
    """Those that an earlier process has made, and this one goes on with."""
    try:
        kept = json.loads(file.read_text("utf-8"))
        outcomes = (
            {str(name): value is True for name, value in kept["checks"].items()} if kept["facts"] == facts else {}
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        outcomes = {}

    def keep() -> None:
        with contextlib.suppress(OSError):
            _write(file, {"facts": facts, "checks": dict(outcomes)})

    return Checks(outcomes=outcomes, keep=keep)


def facts_of(reader: PromptReader) -> Mapping[str, Json]:
    """All that the choice of kernels may depend on."""
    import torch

    return {
        "proof": PROOF_VERSION,
        "machine": device_name(reader.device),
        "threads": torch.get_num_threads(),
        "kernels": {name: os.environ.get(name, "") for name in CHOOSE_KERNELS},
        "torch": torch.__version__,
        "transformers": version("transformers"),
        "engine": type(reader).__name__,
        "weights": reader.revision,
        "dtype": reader.dtype,
        "n_rows": reader.n_rows,
        "batching": reader.batching,
    }


def device_name(device: str) -> str:
    """A processor with what it can do, or a GPU."""
    if device.startswith("cuda"):
        import torch

        return f"{torch.cuda.get_device_name(device)} CUDA {torch.version.cuda}"
    wanted = ("model name", "flags", "Features", "CPU part")  # the last two are those of ARM
    info = Path("/proc/cpuinfo")
    first = info.read_text().split("\n\n")[0].splitlines() if info.is_file() else []
    said = [line for line in first if line.startswith(wanted)]
    return "\n".join([platform.machine(), platform.processor(), *said])


def _load(file: Path, facts: Mapping[str, Json]) -> Proof | None:
    try:
        kept = json.loads(file.read_text("utf-8"))
        proof = Proof(**kept["proof"])
        is_whole = kept["facts"] == facts and proof.way in get_args(Invariance) and type(proof.least_rows) is int
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return proof if is_whole else None


def _write(file: Path, content: Mapping[str, object]) -> None:
    """Whole or not at all: several processes may write at once."""
    weights.make_folder(file.parent)
    with tempfile.NamedTemporaryFile("w", dir=file.parent, delete=False, encoding="utf-8") as draft:
        json.dump(content, draft, indent=1)
    Path(draft.name).replace(file)
