"""A real OpenAI-compatible server for tests: llama.cpp serving the embedded weights on the loopback address."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator

from shaketable import weights

START_SECONDS = 60.0

# Runs in a process of its own: the server takes over signals and threads of its process.
SERVE = """
import sys, threading, xllamacpp
model, port = sys.argv[1], int(sys.argv[2])
settings = xllamacpp.CommonParams()
settings.model.path = model
settings.model_alias = {"smollm2"}
settings.hostnames = ["127.0.0.1"]
settings.port = port
settings.n_ctx, settings.n_parallel = 512 * 4, 4
# One thread: several wait for each other in busy loops, which is slow on a machine with other work.
settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(settings)
threading.Event().wait()
"""


@contextlib.contextmanager
def serve() -> Iterator[str]:
    """The server's base URL, for as long as the block lasts."""
    model = next(weights.locate("smollm2-gguf").glob("*.gguf"))
    port = _free_port()
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(model), str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_until_healthy(process, port)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _wait_until_healthy(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"The llama.cpp server ended with code {process.returncode} while starting.")
        # Connection refused at first, then 503 while the weights load; both raise here.
        with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2):
            return
        time.sleep(0.1)
    raise RuntimeError(f"The llama.cpp server was not healthy after {START_SECONDS:.0f} seconds.")
