"""What is fuzzed: arbitrary input, and what must hold of it."""

from __future__ import annotations

import contextlib
import functools
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faults.fuzz.texts import Make

LONGEST_SECONDS = 4.0
"""Of processor time that one case may take; none has more than 100 kB of text. A machine that others share counts
their time too."""


@dataclass(frozen=True, kw_only=True)
class Target:
    name: str
    make: Make[Any]
    """What may come in."""
    holds: Callable[[Any], None]
    """Fails where something else than a refusal in words comes out, or a wrong number."""
    warm: Callable[[], object] | None = None
    """Loads what is loaded once."""
    longest_seconds: float = LONGEST_SECONDS

    def case(self, given: Any) -> None:
        """One case, in time."""
        start = time.process_time()
        with ended_after(5 * self.longest_seconds):
            self.holds(given)
        seconds = time.process_time() - start
        assert seconds < self.longest_seconds, f"{self.name} took {seconds:.1f} s"


@contextlib.contextmanager
def ended_after(seconds: float) -> Iterator[None]:
    """A case that would take minutes is ended, after so much processor time; on the main thread alone."""

    def end(*_: object) -> None:
        raise TooSlow(f"ended after {seconds:g} s")

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


class TooSlow(Exception):  # noqa: N818 (it says what is the matter)
    pass


@functools.cache
def scratch() -> Path:
    """A folder of this process, for files that are read from disk."""
    folder = tempfile.TemporaryDirectory(prefix="fuzz-")
    scratch.kept = folder  # type: ignore[attr-defined]  # Gone when the process ends.
    return Path(folder.name)


def written(name: str, content: bytes) -> Path:
    file = scratch() / name
    file.write_bytes(content)
    return file
