"""Libraries draw no bars and print no warnings of their own across what a command says, on a terminal or not."""

import os
import pty
import select
import subprocess
import sys
import termios

import pytest

from shaketable.cli import QUIET

BARS = """
import warnings
from tqdm import tqdm
from tqdm.auto import tqdm as automatic

def answer(question):
    return "Paris"

for _ in tqdm(range(3), desc="Loading weights"):
    pass
for _ in automatic(range(3), desc="Fetching files"):
    pass
"""


def on_a_terminal(command, folder):
    """What a command shows on a terminal of its own, and its exit code."""
    parent, child = pty.openpty()
    termios.tcsetwinsize(child, (24, 80))
    # A command that ran in this process has silenced it, and all that it starts.
    loud = {name: value for name, value in os.environ.items() if name not in QUIET}
    process = subprocess.Popen(command, stdin=child, stdout=child, stderr=child, cwd=folder, env=loud, close_fds=True)
    os.close(child)
    shown = b""
    output = select.poll()  # It takes descriptors above 1,023, which a long test run may reach.
    output.register(parent, select.POLLIN)
    while process.poll() is None or output.poll(100):
        if not output.poll(100):
            continue
        try:
            shown += os.read(parent, 65536)
        except OSError:
            break
    os.close(parent)
    return shown.decode("utf-8", "replace"), process.wait(60)


def command(code):
    """A process that begins as the command does, up to what `app` would do."""
    return [
        sys.executable,
        "-c",
        f"import shaketable.cli.app as home, shaketable.cli\nhome.app = {code}\nshaketable.cli.main()",
    ]


@pytest.mark.parametrize(
    "code",
    [
        "lambda prog_name: exec(open('bars.py').read())",
        "lambda prog_name: __import__('subprocess').check_call([__import__('sys').executable, 'bars.py'])",
    ],
    ids=["here", "in-a-child"],
)
def test_bars_of_libraries_are_not_drawn_on_a_terminal(code, tmp_path):
    pytest.importorskip("tqdm")
    (tmp_path / "bars.py").write_text(BARS)
    shown, exit_code = on_a_terminal(command(code), tmp_path)
    assert (shown, exit_code) == ("", 0)
    # The same without the command draws them, so that there is something to silence.
    drawn, _ = on_a_terminal([sys.executable, "bars.py"], tmp_path)
    assert "Loading weights" in drawn and "Fetching files" in drawn


@pytest.mark.slow
@pytest.mark.weights
def test_loading_weights_draws_no_bar_in_python_either(tmp_path):
    code = (
        "from shaketable.engine.checkpoint import Checkpoint; from shaketable import weights; "
        "from transformers.utils import logging; "
        "path = weights.locate('smollm2'); "
        "Checkpoint(path, device='cpu', dtype='float32'); assert logging.is_progress_bar_enabled()"
    )
    shown, exit_code = on_a_terminal([sys.executable, "-c", code], tmp_path)
    assert exit_code == 0, shown
    assert "Loading" not in shown and "%" not in shown
