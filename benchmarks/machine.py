"""The machine a benchmark ran on, for its last line."""

import os
import platform
from pathlib import Path


def describe() -> str:
    info = Path("/proc/cpuinfo")
    names = (
        [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
        if info.exists()
        else []
    )
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{names[0] if names else platform.processor()}, {cores} cores, Python {platform.python_version()}"
