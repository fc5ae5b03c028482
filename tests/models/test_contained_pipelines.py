"""Pipelines that misbehave in every way, asked by a real run: one failure each, and the run goes on to its report."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from shaketable.cli.app import app
from shaketable.store import Run
from shaketable.types import Record

CODE = r"""
import asyncio, os, signal, subprocess, sys, threading, time


def answer(question):
    what = question.rstrip("?")
    if what == "prints":
        print("x" * 100_000, flush=True)
        os.write(1, b'{"text": "forged"}\n' * 100)
        os.write(2, b"\xff\xfe" * 100)
        return "printed"
    if what == "forges replies":
        for descriptor in range(3, 12):
            try:
                os.write(descriptor, b'{"text": "forged"}\n')
            except OSError:
                pass
        return "forged"
    if what == "tears replies":
        for descriptor in range(3, 12):
            try:
                os.write(descriptor, b"no end of a line")
            except OSError:
                pass
        return "torn"
    if what == "writes a number among replies":
        for descriptor in range(3, 12):
            try:
                os.write(descriptor, b"5\n")
            except OSError:
                pass
        return "torn"
    if what == "closes everything":
        os.closerange(0, 64)
        return "closed"
    if what == "kills itself":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "stops itself":
        os.kill(os.getpid(), signal.SIGSTOP)
    if what == "hangs":
        time.sleep(600)
    if what == "raises SystemExit":
        raise SystemExit("enough")
    if what == "raises KeyboardInterrupt":
        raise KeyboardInterrupt
    if what == "is cancelled":
        raise asyncio.CancelledError
    if what == "recurs":
        return answer(question)
    if what == "raises what cannot be told":
        class Odd(Exception):
            def __str__(self):
                raise ValueError("no words")
        raise Odd
    if what == "forks":
        os.fork()
        return "forked"
    if what == "forks and exits":
        if os.fork():
            os._exit(0)
        return "the child's"
    if what == "leaves a child":
        child = subprocess.Popen(["sleep", "600"])
        return f"child {child.pid}"
    if what == "leaves a detached child":
        child = subprocess.Popen(["sleep", "600"], start_new_session=True)
        return f"detached {child.pid}"
    if what == "leaves a thread":
        threading.Thread(target=time.sleep, args=(600,)).start()
        return "threaded"
    if what == "returns nothing":
        return None
    if what == "returns a number":
        return 4.5
    if what == "returns a list":
        return ["a"]
    if what == "returns a huge text":
        return "word " * 4_000_000
    if what == "returns half characters":
        return "half \ud83d of \udca9 and \x00 and \u202e"
    if what == "returns half characters with contexts":
        return {"text": "fine", "contexts": ["one \ud83d"], "tokens": 3}
    if what == "raises half characters":
        raise ValueError("half \ud83d")
    if what == "counts nonsense":
        return {"text": "x", "tokens": float("nan")}
    if what == "counts without end":
        return {"text": "x", "cost": float("inf")}
    if what == "counts too much":
        return {"text": "x", "calls": 10 ** 400}
    if what == "counts in words":
        return {"text": "x", "cost": "much"}
    if what == "returns what cannot be written":
        return {"text": "x", "contexts": [object()]}
    return "fine"
"""
ANSWERED = {
    "prints": "printed",
    "forks": "forked",
    "leaves a child": "child ",
    "leaves a detached child": "detached ",
    "leaves a thread": "threaded",
    "returns half characters": "half ",
    "returns half characters with contexts": "fine",
}
"""What still gives an answer, and how that begins."""
FAILED = {
    "forges replies": ("exited", "something else than a reply was written where its replies go"),
    "tears replies": ("exited", "something else than a reply was written where its replies go"),
    "writes a number among replies": ("exited", "something else than a reply was written where its replies go"),
    "closes everything": ("exited", "its process"),
    "kills itself": ("exited", "its process was ended by SIGKILL"),
    "stops itself": ("timeout", "it gave no answer within 5 seconds"),
    "hangs": ("timeout", "it gave no answer within 5 seconds"),
    "raises SystemExit": ("exited", "it called sys.exit('enough')"),
    "raises KeyboardInterrupt": ("pipeline", "KeyboardInterrupt"),
    "is cancelled": ("pipeline", "CancelledError"),
    "recurs": ("pipeline", "RecursionError"),
    "raises what cannot be told": ("pipeline", "Odd"),
    "forks and exits": ("exited", "its process ended with exit code 0"),
    "returns nothing": ("bad_reply", "it returned None; expected the answer as text"),
    "returns a number": ("bad_reply", "it returned float: 4.5; expected the answer as text"),
    "returns a list": ("bad_reply", "it returned list of 1: ['a']; expected the answer as text"),
    "returns a huge text": ("bad_reply", "it returned a text of 20,000,000 characters; expected at most 1,000,000"),
    "raises half characters": ("pipeline", "ValueError: half ?"),
    "counts nonsense": ("bad_reply", "its 'tokens' is float: nan; expected a number from 0"),
    "counts without end": ("bad_reply", "its 'cost' is float: inf; expected a number from 0"),
    "counts too much": ("bad_reply", "its 'calls' is int: 1000"),
    "counts in words": ("bad_reply", "its 'cost' is text of 4: 'much'; expected a number from 0"),
    "returns what cannot be written": ("bad_reply", "its contexts[0] is object"),
}
EVERY = [*ANSWERED, *FAILED, "is fine"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("contained")
    (folder / "app.py").write_text(CODE)
    questions = [{"id": f"q{i}", "question": f"{what}?", "answers": ["fine"]} for i, what in enumerate(EVERY)]
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, questions)))
    (folder / "study.toml").write_text(
        f"""
        name = "contained"
        [dataset]
        name = "jsonl"
        path = "questions.jsonl"
        [cross]
        models = ["pipeline(python='{folder / "app.py"}:answer', time_limit=5.0)"]
        methods = ["closed_book"]
        [score]
        metrics = ["contains"]
        [analyze]
        analyses = ["correctness"]
        """
    )
    done = CliRunner().invoke(
        app, ["run", str(folder / "study.toml"), "--out", str(folder / "run"), "--max-failures", "100%"]
    )
    assert "Traceback" not in done.stdout + done.stderr
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == 0, done.stderr
    return Run(folder / "run")


@pytest.fixture(scope="module")
def records(run: Run) -> dict[str, Record]:
    return {record.trial.variant.text.rstrip("?"): record for record in run.store.records()}


def test_every_question_has_a_record_and_there_is_a_report(run: Run, records: dict[str, Record]) -> None:
    assert set(records) == set(EVERY)
    assert (run.folder / "report.html").is_file()
    assert run.summary().failed == len(FAILED)


@pytest.mark.parametrize("what", FAILED)
def test_it_is_one_recorded_failure_that_says_what_happened(records: dict[str, Record], what: str) -> None:
    kind, words = FAILED[what]
    failure = records[what].failure
    assert records[what].answer is None and failure is not None
    assert (failure.kind, failure.message if words not in failure.message else words) == (kind, words)


@pytest.mark.parametrize("what", [*ANSWERED, "is fine"])
def test_it_is_answered_and_nothing_else_is_taken_for_its_answer(records: dict[str, Record], what: str) -> None:
    assert text_of(records[what]).startswith(ANSWERED.get(what, "fine"))


def test_a_child_ends_with_its_pipeline_and_a_detached_one_holds_nothing_up(
    records: dict[str, Record],
) -> None:
    child, detached = (int(text_of(records[what]).split()[1]) for what in ("leaves a child", "leaves a detached child"))
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and is_alive(child):
        time.sleep(0.05)
    assert not is_alive(child)
    if is_alive(detached):
        os.kill(detached, signal.SIGKILL)


def text_of(record: Record) -> str:
    assert record.answer is not None, record.failure
    return record.answer.text


def is_alive(pid: int) -> bool:
    """A child that nobody buried is dead too."""
    status = Path(f"/proc/{pid}/stat")
    return status.is_file() and status.read_text().rsplit(")", 1)[1].split()[0] != "Z"
