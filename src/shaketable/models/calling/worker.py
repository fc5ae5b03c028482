"""The process in which a pipeline's code runs: reads questions on its standard input, writes one reply for each.

What the code prints goes to standard error, so that it can neither tear the replies nor the parent's terminal.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.util
import inspect
import json
import os
import queue
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from shaketable.errors import at_home, did_you_mean
from shaketable.models.calling.adapters import Adapted, Refused, adapt
from shaketable.models.calling.outcome import read_outcome
from shaketable.models.calling.passages import NotUnderstood, in_list, in_shape, read_passages
from shaketable.models.endpoint.hiding import own_hide
from shaketable.types import Json

LONGEST_MESSAGE = 500


class Line:
    """Messages to and from the parent, on descriptors that the code does not know."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.out: BinaryIO = os.fdopen(os.dup(1), "wb")
        self._messages: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._n_read = 0
        requests = os.fdopen(os.dup(0), "rb")
        os.dup2(2, 1)  # What is printed must not stand among the replies.
        with Path(os.devnull).open() as nothing:
            os.dup2(nothing.fileno(), 0)
        threading.Thread(target=self._read, args=(requests,), daemon=True).start()

    def _read(self, requests: BinaryIO) -> None:
        for line in requests:
            self._messages.put(json.loads(line))
        os._exit(0)  # The parent is gone: nobody waits for an answer that is still being made.

    def receive(self) -> dict[str, Any]:
        message = self._messages.get()
        self._n_read = message["n"]
        return message

    def send(self, message: Mapping[str, Json]) -> None:
        if os.getpid() != self.pid:
            os._exit(0)  # A copy of this process that the code has forked must not answer a second time.
        self.out.write(json.dumps({**message, "to": self._n_read}).encode() + b"\n")
        self.out.flush()


def serve(line: Line, module: str, name: str, told: Sequence[str] | None) -> None:
    try:
        adapted = adapt(_load(module, name), name, told)
    except Refused as error:
        line.send({"refused": str(error)})
        return
    except SystemExit as error:
        line.send({"refused": f"{module} calls sys.exit({error.code!r}) when it is imported. {GUARD}"})
        return
    except BaseException as error:
        line.send({"refused": f"{module} cannot be imported: {_where(error, module)}{_told(error)}. Mend it first."})
        return
    line.send({"takes": list[Json](sorted(adapted.takes)), "optional": list[Json](sorted(adapted.optional))})
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    while True:
        asked = line.receive()
        line.send(_answer(line, adapted, loop, module, asked))


GUARD = "Put what runs a program under `if __name__ == '__main__':`."


def _load(module: str, name: str) -> object:
    if module.endswith(".py"):
        file = at_home(module).resolve()
        sys.path.insert(0, str(file.parent))
        spec = importlib.util.spec_from_file_location(file.stem, file)
        assert spec is not None and spec.loader is not None
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[file.stem] = loaded
        spec.loader.exec_module(loaded)
    else:
        sys.path.insert(0, str(Path.cwd()))
        loaded = importlib.import_module(module)
    found: object = loaded
    for step in name.split("."):
        if not hasattr(found, step):
            names = [known for known in vars(found) if not known.startswith("_")]
            own = [known for known in names if not inspect.ismodule(getattr(found, known))]
            raise Refused(
                f"{module} has no '{step}'.{did_you_mean(step, own)} It has {', '.join(own[:20]) or 'no names'}."
            )
        found = getattr(found, step)
    return found


def _answer(
    line: Line, adapted: Adapted, loop: asyncio.AbstractEventLoop, module: str, asked: Mapping[str, Any]
) -> dict[str, Json]:
    """What the pipeline makes of one question; whatever it does, a reply."""
    available = {**asked, "disturb": lambda passages: _disturbed(line, passages)}
    given = {name: available[name] for name in adapted.takes if name in available}
    try:
        value = adapted.call(asked["question"], given)
        if inspect.isawaitable(value):
            value = loop.run_until_complete(_awaited(value))
        return read_outcome(value)
    except NotUnderstood as error:
        return _failure("bad_reply", str(error), may_retry=False)
    except SystemExit as error:
        return _failure("exited", f"it called sys.exit({error.code!r})", may_retry=True)
    except BaseException as error:
        return _failure("pipeline", f"{_where(error, module)}{_told(error)}", may_retry=True)


async def _awaited(value: Any) -> object:
    return await value


def _disturbed(line: Line, passages: object) -> object:
    """What came back for the passages that the code handed over, in the shape it has them."""
    read = read_passages(in_list(passages), "what disturb was given")
    line.send({"disturb": [{**one, "place": i} for i, one in enumerate(read)]})
    back = line.receive()["passages"]
    return in_shape(passages, [(one["place"], one["text"]) for one in back])


def _failure(kind: str, message: str, *, may_retry: bool) -> dict[str, Json]:
    return {"failure": kind, "message": own_hide()(message)[:LONGEST_MESSAGE], "may_retry": may_retry}


def _told(error: BaseException) -> str:
    words = ""
    with contextlib.suppress(Exception):  # An error's own words may raise.
        words = str(error)
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def _where(error: BaseException, module: str) -> str:
    """The last line of the user's own file that the error came through."""
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: "
    stem = Path(module).name if module.endswith(".py") else f"{module.rpartition('.')[2]}.py"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).name == stem]
    return f"line {lines[-1]}: " if lines else ""


if __name__ == "__main__":
    module, name, told = json.loads(sys.argv[1])
    serve(Line(), module, name, told)
