"""A command that serves pages until Ctrl-C: started as a process, looked at once over loopback, and interrupted."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path

INTERRUPTED = 130
PROGRAM = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from shaketable.cli import main; main()"
)
"""Ctrl-C reaches it also where the tests run in the background of a shell, which lets its children ignore it."""


def serves(words: Sequence[str]) -> bool:
    """Whether a command stays until it is interrupted; `words` go without the program's name."""
    return words[0] == "view" or (words[0] == "annotate" and "--agreement" not in words)


def look_once(words: Sequence[str], folder: Path) -> tuple[int, str]:
    """The exit code after Ctrl-C, and the page it served; a browser that prints the address it gets stands in."""
    environment = {**os.environ, "BROWSER": "echo"}
    command = [sys.executable, "-c", PROGRAM, *words]
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            address = _address(process)
            with urllib.request.urlopen(address, timeout=60) as reply:
                page = reply.read().decode("utf-8")
            process.send_signal(signal.SIGINT)
            opened, _ = process.communicate(timeout=60)
            assert address in opened, f"the browser was not opened at {address}: {opened}"
            return process.returncode, page
        finally:
            process.kill()


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    printed = ""
    while not (found := re.search(r"Serving (http://\S+)", printed)):
        line = process.stderr.readline()
        assert line, f"it ended before it served anything:\n{printed}"
        printed += line
    return found[1]
