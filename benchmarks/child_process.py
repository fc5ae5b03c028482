"""A piece of a benchmark in a process of its own, so that its memory is its own."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any


def run_child(script: str, task: str, folder: Path) -> dict[str, Any]:
    """What `tasks[task](folder)` of a script gives, with seconds (clock, processor) and memory in MB (peak, and what
    is no mapped file at the end)."""
    done = subprocess.run([sys.executable, script, "--child", task, str(folder)], stdout=subprocess.PIPE, check=True)
    measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return measured


def is_child(tasks: Mapping[str, Callable[[Path], Mapping[str, Any]]]) -> bool:
    """Whether this process is such a child; then its task is done and told."""
    if sys.argv[1:2] != ["--child"]:
        return False
    task, folder = sys.argv[2:]
    started, used = time.perf_counter(), time.process_time()
    told = tasks[task](Path(folder))
    seconds, used = time.perf_counter() - started, time.process_time() - used
    print(json.dumps({"seconds": seconds, "processor": used, **memory(), **told}))
    return True


def memory() -> dict[str, float]:
    status = Path("/proc/self/status")
    if not status.exists():
        return {"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
    lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
    names = {"peak": "VmHWM", "own": "RssAnon"}
    return {name: int(lines[key].split()[0]) / 1024 for name, key in names.items()}


def size(folder: Path) -> float:
    """MB of the files of a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
