"""A process of a pipeline, seen from outside: started once, asked, given up when it hangs or dies."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping
from typing import IO, Any

from shaketable.errors import PartError
from shaketable.models.calling.target import Target
from shaketable.models.endpoint.hiding import own_hide
from shaketable.types import Json

START_SECONDS = 600.0
"""For importing the pipeline's code, which may load weights."""
LOOK_EVERY_SECONDS = 0.2
"""How often a silent process is looked at: one that died may have children that keep its pipes open."""


class Ended(Exception):  # noqa: N818 (it says what is the matter)
    """The process gave no reply; it is gone."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind, self.message = kind, message


class Printed:
    """What processes printed: counted, and the last lines kept."""

    def __init__(self) -> None:
        self.n = 0
        self.last: deque[str] = deque(maxlen=20)

    @property
    def last_line(self) -> str:
        return own_hide()(self.last[-1])

    def read(self, pipe: IO[bytes]) -> None:
        while line := pipe.readline(4096):
            self.n += 1
            self.last.append(line.decode("utf-8", "replace").rstrip())


class Process:
    def __init__(self, target: Target, told: tuple[str, ...] | None, printed: Printed) -> None:
        self.printed = printed
        self._takes: frozenset[str] | None = None
        self.optional: frozenset[str] = frozenset()
        """What the pipeline takes and can do without, once it is ready."""
        self._n_asked = 0
        """Messages that were sent; a reply says to which of them it is."""
        given = json.dumps([str(target.file) if target.is_file else target.module, target.name, told])
        self._process = subprocess.Popen(
            # -P: only the worker itself puts the pipeline's folder on the import path, after its own imports.
            [sys.executable, "-P", "-u", "-m", "shaketable.models.calling.worker", given],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # An interrupt of the terminal is the parent's to handle; children die with it.
        )
        self._replies: queue.SimpleQueue[Mapping[str, Any] | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()
        assert self._process.stderr is not None
        threading.Thread(target=printed.read, args=(self._process.stderr,), daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                reply = json.loads(line)
            except ValueError:  # Torn; the last line of a process that died is cut off.
                reply = None
            self._replies.put(reply if isinstance(reply, dict) else {})
        self._replies.put(None)

    def wait_until_ready(self) -> frozenset[str]:
        """What the pipeline takes; raises PartError where it cannot be asked."""
        if self._takes is not None:
            return self._takes
        try:
            reply = self._receive(START_SECONDS)
        except Ended as error:
            raise PartError(f"While its code was imported, {error.message}.") from error
        if "refused" in reply:
            self.kill()
            raise PartError(own_hide()(str(reply["refused"])))
        self._takes, self.optional = frozenset(reply["takes"]), frozenset(reply["optional"])
        return self._takes

    def ask(self, message: Mapping[str, Json], seconds: float) -> Mapping[str, Any]:
        """Raises Ended where there is no reply in time."""
        assert self._process.stdin is not None
        self._n_asked += 1
        with contextlib.suppress(OSError):  # It died since the last reply: receiving says how.
            self._process.stdin.write(json.dumps({**message, "n": self._n_asked}).encode() + b"\n")
            self._process.stdin.flush()
        return self._receive(seconds)

    def _receive(self, seconds: float) -> Mapping[str, Any]:
        deadline = time.monotonic() + seconds
        while True:
            has_ended = self._process.poll() is not None
            left = deadline - time.monotonic()
            try:
                reply = self._replies.get(timeout=max(min(left, LOOK_EVERY_SECONDS), 0.001))
            except queue.Empty:
                if left <= 0:
                    self.kill()
                    raise Ended("timeout", f"it gave no answer within {seconds:g} seconds and was ended") from None
                if not has_ended:
                    continue
                reply = None
            if reply is None:
                raise self._ended()
            if reply.get("to") != self._n_asked:
                self.kill()
                raise Ended("exited", "something else than a reply was written where its replies go; it was ended")
            return reply

    def _ended(self) -> Ended:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        code = self._process.poll()
        self.kill()
        if code is not None and code < 0:
            how = f"its process was ended by {_name_of_signal(-code)}"
        else:
            how = f"its process ended with exit code {code}" if code is not None else "its process closed its line"
        last = f"; the last it printed: {self.printed.last_line:.200}" if self.printed.last else ""
        return Ended("exited", how + last)

    def kill(self) -> None:
        """End it and whatever it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5.0)


def _name_of_signal(number: int) -> str:
    """Not all have a name: of the real-time signals only the first and the last do."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
