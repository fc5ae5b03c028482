"""A package with a model that takes its time, as another author would offer it: workers of a cluster find it too."""

from __future__ import annotations

from pathlib import Path

MODEL = '''
import os
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from shaketable.types import Completion

waiting = deque()


@dataclass(frozen=True, kw_only=True)
class Slow:
    """Answers with the seed, one prompt after the other."""

    seconds: float = 0.005

    version: ClassVar[int] = 1
    gives: ClassVar[frozenset] = frozenset()

    def environment(self):
        Path(__file__).with_name(f"loaded-{os.getpid()}").touch()
        return {"engine": "slow", "process": os.getpid()}

    def generate(self, prompts):
        return [self._say(prompt) for prompt in prompts]

    def submit(self, ticket, prompt):
        waiting.append((ticket, prompt))

    def collect(self):
        if not waiting:
            return []
        ticket, prompt = waiting.popleft()
        return [(ticket, self._say(prompt))]

    def _say(self, prompt):
        time.sleep(self.seconds)
        return Completion(text=str(prompt.seed), finish_reason="end", n_prompt_tokens=5, n_tokens=1, seconds=0.1)
'''


def write_package(folder: Path) -> Path:
    """The folder, as it stands on the import path where the package is installed."""
    (folder / "slow_model.py").write_text(MODEL)
    info = folder / "slow_model-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: slow-model\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[shaketable.models]\nslow = slow_model:Slow\n")
    return folder
