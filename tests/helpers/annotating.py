"""The server of `shaketable annotate`, in a thread or as a process of its own, and questions for it."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from shaketable.annotation.log import AnnotationLog, ReviewRow, RewriteRow
from shaketable.annotation.server import AnnotationHandler, AnnotationSite
from shaketable.annotation.tasks import Task
from shaketable.datasets.jsonl import load_jsonl
from shaketable.types import Question
from shaketable.viewer.server import LocalServer

QUESTIONS = [
    {"id": "jaws", "question": "Who was the director of the movie Jaws?", "answers": ["Steven Spielberg"]},
    {"id": "nile", "question": "Into which sea does the river Nile flow?", "answers": ["Mediterranean"]},
    {"id": "xss", "question": "Is <script>alert(1)</script> a tag?", "answers": ["yes"]},
]
REWRITES = {"jaws": "that shark film, who shot it", "nile": "where's the end of the Nile", "xss": "can this be html"}


def write_questions(folder: Path) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in QUESTIONS))
    return path


def load_questions(folder: Path) -> tuple[Question, ...]:
    return load_jsonl(str(write_questions(folder))).questions


@contextlib.contextmanager
def serving(path: Path, tasks: list[Task]) -> Iterator[str]:
    """The address of a server in this process."""
    log = AnnotationLog(path, RewriteRow if tasks[0].wording is None else ReviewRow)
    with LocalServer(AnnotationSite(tasks, log), AnnotationHandler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server.address
        finally:
            server.shutdown()
            thread.join()


@contextlib.contextmanager
def annotating(*words: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process and its address; killed at the end if it is still there."""
    command = [sys.executable, "-c", "from shaketable.cli import main; main()", "annotate", "--no-open"]
    with subprocess.Popen([*command, *map(str, words)], stderr=subprocess.PIPE, text=True) as process:
        try:
            said = ""
            while not (found := re.search(r"Serving (http://\S+)", said)):
                line = process.stderr.readline()
                assert line, f"it ended: {said}"
                said += line
            yield process, found[1]
        finally:
            process.kill()


def send(address: str, path: str, value: Any, **headers: str) -> tuple[int, dict[str, Any]]:
    """Status and reply; sent as the server's own page would, where the headers do not say otherwise."""
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    own = {"Origin": address.rstrip("/"), "Content-Type": "application/json"}
    request = urllib.request.Request(address.rstrip("/") + path, body, {**own, **headers})
    try:
        with urllib.request.urlopen(request) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
