"""What the last digit of a product may depend on, and where a worker's machine differs from the driver's."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.metadata import version

from shaketable.engine.proof_cache import CHOOSE_KERNELS, device_name
from shaketable.types import Json

CARRIED = ("SHAKETABLE_OFFLINE", *CHOOSE_KERNELS)
"""Variables that workers take over from the driver. Keys are not among them: Ray would write them into its logs."""


def describe_machine() -> dict[str, Json]:
    """Of this process; PyTorch is loaded for it."""
    import torch

    return {
        "processor": device_name("cpu"),
        "GPU": torch.cuda.get_device_name() if torch.cuda.is_available() else "none",
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "transformers": version("transformers"),
    }


def carried_variables() -> dict[str, str]:
    return {name: os.environ[name] for name in CARRIED if name in os.environ}


def note_differences(driver: Mapping[str, Json], worker: Mapping[str, Json]) -> str:
    """In words, for the environment of a worker's records; empty: what is proved there holds here."""
    differing = [name for name in driver if worker and worker.get(name) != driver[name]]
    if not differing:
        return ""
    told = [name if name == "processor" else f"{name} ({worker.get(name)}, not {driver[name]})" for name in differing]
    return (
        f"Answered by a worker that differs from the machine of the driver: {', '.join(told)}. A trial answered there "
        "may differ from this one in a last digit, and so now and then in a word."
    )
