"""How a run goes on, in one line that changes in place: in a notebook, or on a terminal."""

from __future__ import annotations

import contextlib
import importlib
import sys
import time
from collections.abc import Iterator
from typing import Any

from shaketable.report.time_words import describe_left
from shaketable.stages.scheduler import Tick

SECONDS_BETWEEN = 0.5
"""Changes that follow one another faster are left out."""


class Line:
    """Shows nothing: nobody watches."""

    n_todo: int = 0
    """Trials that are to be answered."""

    def __init__(self) -> None:
        self._last = 0.0

    def say(self, words: str) -> None:
        self._last = time.monotonic()
        self._show(words)

    def tick(self, tick: Tick) -> None:
        finished = tick.n_done + tick.n_failed
        if time.monotonic() - self._last < SECONDS_BETWEEN and finished < self.n_todo:
            return
        failed = f", {tick.n_failed:,} failed" if tick.n_failed else ""
        left = f", {describe_left(tick.seconds_left, tick.seconds_range)}" if finished < self.n_todo else ""
        self.say(f"answered {finished:,} of {self.n_todo:,}{failed}{left}")

    def end(self) -> None:
        pass

    def _show(self, words: str) -> None:
        pass


class TerminalLine(Line):
    def _show(self, words: str) -> None:
        sys.stderr.write(f"\r\033[K{words[:100]}")
        sys.stderr.flush()

    def end(self) -> None:
        sys.stderr.write("\r\033[K")
        sys.stderr.flush()


class NotebookLine(Line):
    """One output of a cell, however often it changes."""

    def __init__(self) -> None:
        super().__init__()
        self._display: Any = importlib.import_module("IPython.display")
        self._handle: Any = None

    def _show(self, words: str) -> None:
        shown = self._display.Pretty(words)
        if self._handle is None:
            self._handle = self._display.display(shown, display_id=True)
        else:
            self._handle.update(shown)


@contextlib.contextmanager
def showing(is_wanted: bool | None) -> Iterator[Line]:
    """`is_wanted` of None: where somebody watches."""
    if is_wanted is False:
        line = Line()
    elif is_notebook():
        line = NotebookLine()
    else:
        line = TerminalLine() if is_wanted or sys.stderr.isatty() else Line()
    try:
        yield line
    finally:
        line.end()


def is_notebook() -> bool:
    """Whether this is the kernel of a notebook; a program that never imported IPython is none."""
    if "IPython" not in sys.modules:
        return False
    shell = importlib.import_module("IPython").get_ipython()
    return shell is not None and "IPKernelApp" in shell.config
