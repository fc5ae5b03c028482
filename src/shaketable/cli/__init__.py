"""Words → one stage call → words."""

import os
import signal
import sys
from types import FrameType

from shaketable.errors import INTERRUPTED

QUIET = {"TQDM_DISABLE": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1", "TRANSFORMERS_VERBOSITY": "error"}
"""Libraries draw bars of their own across ours, also those that a pipeline or a worker loads: the processes
that a command starts take these variables over. Who sets one to something else is obeyed."""


def main() -> None:
    """The command `shaketable`. Imported when it is called: pytest reads its plugin from this folder."""
    try:
        for name, value in QUIET.items():
            os.environ.setdefault(name, value)
        signal.signal(signal.SIGTERM, _interrupt)
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # Set by the package, while it was imported.
            signal.signal(signal.SIGINT, signal.default_int_handler)
        # Memory of a data frame that is let go returns to the system at once: of a large run, a third.
        os.environ.setdefault("_RJEM_MALLOC_CONF", "dirty_decay_ms:0,muzzy_decay_ms:0")
        from shaketable.cli.app import app

        app(prog_name="python -m shaketable" if sys.argv[0].endswith("__main__.py") else "shaketable")
    except KeyboardInterrupt:  # Also while libraries are imported, which takes a second.
        sys.stderr.write("Interrupted.\n")
        sys.exit(INTERRUPTED)


def _interrupt(signal_number: int, frame: FrameType | None) -> None:
    """A service manager's word to stop ends a command as Ctrl-C does: what is finished is stored."""
    raise KeyboardInterrupt


__all__ = ["main"]
