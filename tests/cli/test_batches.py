"""Batches by the command line: killed at any moment it goes on, and each request is paid once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from batch_endpoint import BatchEndpoint
from typer.testing import CliRunner

import shaketable
from shaketable.cli.app import app

ROWS = [
    {
        "id": str(n),
        "question": f"What is the capital of land {n}?",
        "answers": [f"City {n}"],
        "documents": [{"title": f"Land {n}", "sentences": [f"City {n} is the capital of land {n}."]}],
        "facts": [[f"Land {n}", 0]],
    }
    for n in range(6)
]


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[BatchEndpoint]:
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    made = BatchEndpoint()
    yield made
    made.close()


class Line:
    """The command, run on one study into one folder."""

    def __init__(self, endpoint: BatchEndpoint, folder: Path, methods: str = "closed_book", more: str = "") -> None:
        self.endpoint, self.folder = endpoint, folder
        (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
        model = f"openai(model='m', base_url='{endpoint.url}', batch=True, batch_poll_seconds=0.05{more})"
        (folder / "study.toml").write_text(
            f"""name = "batches"
dataset = {{ name = "jsonl", path = "{folder / "questions.jsonl"}" }}
cross = {{ models = ["{model}"], methods = ["{methods}"], temperatures = [0.0, 1.0], repeats = 2 }}
score = {{ metrics = ["contains"] }}
analyze = {{ analyses = [] }}
"""
        )

    def _words(self, *options: str) -> list[str]:
        return ["run", str(self.folder / "study.toml"), "--out", str(self.folder / "run"), *options]

    def start(self, *options: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", "from shaketable.cli import main; main()", *self._words(*options)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *options: str) -> tuple[int, str]:
        """To its end, in this process."""
        done = CliRunner().invoke(app, self._words(*options))
        return done.exit_code, done.output

    def signal_at(self, number: int, event: str | None, sent: signal.Signals, *options: str) -> tuple[int, str]:
        """The process gets a signal when the endpoint hears of something for the n-th time from now, before the
        process has heard back; None: of anything."""
        heard = [0]

        def at(heard_of: str) -> None:
            heard[0] += event in (None, heard_of)
            if heard[0] == number and event in (None, heard_of):
                os.kill(process.pid, sent)
                if sent is signal.SIGKILL:
                    process.wait(30)  # What the endpoint says now, nobody hears.

        self.endpoint.at = at
        process = self.start(*options)
        output, _ = process.communicate(timeout=120)
        self.endpoint.at = lambda heard_of: None
        return process.returncode, output

    @property
    def summary(self) -> Any:
        return shaketable.Run(self.folder / "run").summary()

    def assert_whole(self, n_requests: int) -> None:
        assert (self.summary.done, self.summary.failed, self.summary.state) == (24, 0, "finished")
        assert len(self.endpoint.paid) == n_requests and set(self.endpoint.paid.values()) == {1}
        assert sum(batch.shown["status"] == "completed" for batch in self.endpoint.batches.values()) == len(
            self.endpoint.batches
        )


def test_a_run_killed_at_the_worst_moment_pays_each_request_once(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    """The endpoint has created the batch, and nobody was told its id."""
    line = Line(endpoint, tmp_path)
    code, output = line.signal_at(1, "created", signal.SIGKILL)
    assert code == -signal.SIGKILL, output
    code, output = line.run()
    assert code == 0, output
    line.assert_whole(24)
    assert len(endpoint.batches) == 1


@pytest.mark.slow
@pytest.mark.parametrize("event", ["uploaded", "created", "polled", "downloading", "downloaded"])
@pytest.mark.parametrize("number", [1, 2])
def test_a_run_killed_at_any_moment_of_its_rounds_pays_each_request_once(
    endpoint: BatchEndpoint, tmp_path: Path, event: str, number: int
) -> None:
    """Three rounds in two files each; killed in the first round or the next."""
    line = Line(endpoint, tmp_path, "fixed_length(layout='chat')", ", batch_requests=13")
    code, output = line.signal_at(number, event, signal.SIGKILL)
    assert code == -signal.SIGKILL, output
    code, output = line.run()
    assert code == 0, output
    line.assert_whole(72)


@pytest.mark.slow
def test_a_run_killed_at_each_thing_that_its_endpoint_hears_goes_on_to_its_end(
    endpoint: BatchEndpoint, tmp_path: Path
) -> None:
    """The second thing in the first go, the third in the next, and so on: no go gets further than its kill, and
    together they come to the end, with an expired batch among those that they went through."""
    endpoint.n_before_expiry = 20
    line = Line(endpoint, tmp_path, "fixed_length(layout='chat')")
    n_kills = 0
    while True:
        code, output = line.signal_at(n_kills + 2, None, signal.SIGKILL)
        if code == 0:
            break
        assert code == -signal.SIGKILL, output
        n_kills += 1
    assert n_kills > 5, n_kills
    assert (line.summary.done, line.summary.failed) == (24, 0)
    assert len(endpoint.paid) == 72 and set(endpoint.paid.values()) == {1}


def test_ctrl_c_says_that_the_batch_goes_on_and_how_to_take_its_replies(
    endpoint: BatchEndpoint, tmp_path: Path
) -> None:
    endpoint.states = ("validating", "in_progress")
    line = Line(endpoint, tmp_path)
    code, output = line.signal_at(2, "polled", signal.SIGINT)
    words = " ".join(output.split())
    assert code == 130, output
    assert (
        "batch_1: 24 requests go on at the endpoint, and the next go takes their replies. Go on with: shaketable run"
        in words
    )
    assert endpoint.batches["batch_1"].shown["status"] == "in_progress"
    endpoint.states = ("validating", "in_progress", "completed")
    code, output = line.run()
    assert code == 0 and "going on with batches that were sent before: 1, with 24 requests" in output
    line.assert_whole(24)


def test_without_waiting_it_sends_and_ends_and_takes_the_replies_later(endpoint: BatchEndpoint, tmp_path: Path) -> None:
    endpoint.states = ("validating", "in_progress", "completed")
    line = Line(endpoint, tmp_path)
    code, output = line.run("--no-wait")
    words = " ".join(output.split())
    assert code == 0, output
    assert "1 batch with 24 requests (batch_1: in_progress). They end by" in words and "Take the replies later" in words
    assert "is asked in batches, each of which may take its endpoint a day" in words
    code, output = line.run("--no-wait", "--json")
    assert code == 0 and json.loads(output.strip().splitlines()[-1])["done"] == 24
    line.assert_whole(24)
