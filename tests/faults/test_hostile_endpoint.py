"""An endpoint that means harm spoils its own records at most: no run breaks, swells or tells a key."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hostile_replies import FAULTS, SLOW
from hostile_run import (
    KEYS,
    disagreements,
    invalid_json,
    leaks,
    n_answers_sent,
    n_open_files,
    outcomes,
    write_study,
)
from hostile_server import Hostile, Malice, hostile
from typer.testing import CliRunner

from faults.killing import command, stop_when
from shaketable.cli.app import app
from shaketable.models.endpoint import failures
from shaketable.models.openai import Openai
from shaketable.models.pipeline import Pipeline
from shaketable.store import RecordStore, Run
from shaketable.types import Completion, Failure, Message, Prompt, Sampling

N_CALLS = 5
N_TRIALS = 200
ATTEMPTS = 2
WORDS = {
    "null_content": "the reply has no text: its content is null",
    "endless": "the reply has more than 32 MB",
    "gzip_bomb": "the reply has more than 32 MB",
    "zstd_bomb": "the reply is packed with zstd; expected gzip, or nothing",
    "redirected": ".elsewhere.example",
    "drip": "no reply within 0.4 seconds",
    "long_answer": "expected at most 1,000,000",
    "malformed": "the reply is not JSON",
}
"""Of some failures."""
MODELS: dict[str, Openai] = {}


@pytest.fixture(scope="module")
def server() -> Iterator[Hostile]:
    with hostile(rate=0.0) as running:
        yield running


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(failures, "FIRST_WAIT_SECONDS", 0.01)
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path / "home"))
    for name in ("SHAKETABLE_OFFLINE", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def prompts(n: int = N_CALLS, name: str = "q") -> list[Prompt]:
    sampling = Sampling(temperature=0.7, max_tokens=20)
    asked = [(Message(role="user", content=f"{name}{i}"),) for i in range(n)]
    wants = ("logprobs", "top_logprobs")
    return [Prompt(messages=messages, sampling=sampling, seed=i, wants=wants) for i, messages in enumerate(asked)]


def model_of(server: Hostile, fault: str) -> Openai:
    """One that has been answered before: an endpoint that never answers stops a run. One for all faults that leave no
    trace in it: to build it takes longer than the calls."""
    kind = fault if fault in SLOW or FAULTS[fault].outcome == "busy" else ""
    if kind not in MODELS:
        limits = {"timeout_seconds": 0.4, "attempts": 1} if fault in SLOW else {"attempts": ATTEMPTS}
        MODELS[kind] = server.model(headers={"X-Api-Key": "${TEAM_KEY}"}, **limits)
    server.become(Malice(rate=0.0))
    MODELS[kind].generate(prompts(1, "good "))
    return MODELS[kind]


def shown(*values: object) -> str:
    return " ".join(map(repr, values)).lower()


# --- each fault alone -----------------------------------------------------------------------------


@pytest.mark.parametrize("fault", FAULTS)
def test_a_reply_spoils_its_own_record_at_most(server: Hostile, fault: str) -> None:
    model = model_of(server, fault)
    outcome = FAULTS[fault].outcome
    server.become(Malice(rate=0.5 if outcome == "busy" else 1.0, faults=(fault,)))
    given = prompts(2 if outcome == "busy" or FAULTS[fault].weight < 1 else N_CALLS)
    replies = model.generate(given)
    environment = model.environment()
    log = server.log()
    answered = {
        asked.messages[-1].content: isinstance(reply, Completion) for asked, reply in zip(given, replies, strict=True)
    }
    assert not disagreements(log, answered, 1 if fault in SLOW else ATTEMPTS)
    assert all(WORDS.get(fault, ":") in reply.message for reply in replies if isinstance(reply, Failure))
    assert not any(key.lower() in shown(replies, environment) for key in KEYS.values())
    for reply in replies:
        json.dumps(getattr(reply, "extras", None) and dict(reply.extras), allow_nan=False)  # type: ignore[union-attr]
        shown(reply).encode()
        if isinstance(reply, Completion):
            assert 0 <= reply.n_tokens <= 20 and 0 <= reply.n_prompt_tokens <= 20


def test_an_answer_is_kept_without_what_stands_beside_it_and_is_wrong(server: Hostile) -> None:
    model = model_of(server, "infinite_logprobs")
    server.become(Malice(rate=1.0, faults=("infinite_logprobs", "wrong_token_counts")))
    replies = model.generate(prompts(40))
    assert {reply.text for reply in replies if isinstance(reply, Completion)} == {"Paris."}
    notes = {note for reply in replies if isinstance(reply, Completion) for note in reply.notes}
    assert {"logprobs_unreadable", "usage_unreadable", "usage_estimated"} <= notes
    for reply in replies:
        assert isinstance(reply, Completion)
        values: Any = reply.extras.get("logprobs", [])
        assert all(isinstance(value, float) and value <= 0 for value in values)


@pytest.mark.parametrize("key", ["none", "EMPTY"])
def test_a_key_that_is_none_is_not_taken_out_of_answers(
    server: Hostile, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    model = Openai(model="m", base_url=server.url)
    server.become(Malice(rate=1.0, faults=("echoed",)))
    [reply] = model.generate(prompts(1))
    assert isinstance(reply, Completion) and reply.text == f"Paris. {key}"


@pytest.mark.parametrize(
    "fault", ["drip", "endless", "gzip_bomb", "deep", "redirected", "echoed", "echoed_in_error", "odd_charset_of_error"]
)
def test_a_pipeline_behind_a_web_address_is_as_safe(server: Hostile, fault: str) -> None:
    server.become(Malice(rate=1.0, faults=(fault,)))
    pipeline = Pipeline(
        http=f"{server.url}/chat/completions",
        template='{"messages": [{"role": "user", "content": "{question}"}]}',
        answer="choices[0].message.content",
        headers={"Authorization": "Bearer ${OPENAI_API_KEY}", "X-Api-Key": "${TEAM_KEY}"},
        time_limit=0.4 if fault in SLOW else 20.0,
        attempts=1,
    )
    [reply] = pipeline.generate(prompts(1))
    pipeline.close()
    assert isinstance(reply, Completion) == (FAULTS[fault].outcome == "answer")
    assert not any(key.lower() in shown(reply) for key in KEYS.values())


# --- whole runs -------------------------------------------------------------------------------------


def test_a_run_with_half_of_its_replies_spoiled_is_sound_and_tells_no_key(server: Hostile, tmp_path: Path) -> None:
    server.become(Malice(rate=0.0))
    quick_faults = tuple(
        name
        for name, fault in FAULTS.items()
        if name not in SLOW and fault.weight >= 1 and (fault.outcome != "busy" or name == "429_retry_after")
    )
    study = write_study(tmp_path, server.url, N_TRIALS, attempts=ATTEMPTS, timeout_seconds=60.0)
    server.become(Malice(rate=0.5, faults=quick_faults, seed=7))
    folder = tmp_path / "run"
    n_open = n_open_files()
    result = CliRunner().invoke(app, ["run", str(study), "--out", str(folder), "--max-failures", "100%"])
    assert result.exit_code == 0, result.output
    assert n_open_files() <= n_open + 256 + 20  # Connections that are kept, and the loop.
    verified = CliRunner().invoke(app, ["verify", str(folder)])
    assert verified.exit_code == 0, verified.output
    with RecordStore(folder / "records.sqlite", read_only=True) as store:
        records = list(store.records())
    answered, log = outcomes(records), server.log()
    assert len(records) == len(answered) == N_TRIALS
    assert not disagreements(log, answered, ATTEMPTS)
    assert sum(answered.values()) == n_answers_sent(log, answered) > N_TRIALS / 2
    assert all(record.failure.message for record in records if record.failure is not None)
    assert not list(leaks(folder, result.output, verified.output))
    assert not list(invalid_json(folder))
    assert "<script>alert(1)" not in (folder / "report.html").read_text("utf-8")
    assert Run(folder).failures()


@pytest.mark.parametrize("by", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_a_word_to_stop_is_heard_while_all_calls_hang(server: Hostile, tmp_path: Path, by: signal.Signals) -> None:
    study = write_study(tmp_path, server.url, 40)
    server.become(Malice(rate=0.5, faults=("hang",), seed=2))
    end = stop_when(command("answer", _prepared(study, tmp_path)), lambda: "hang" in server.log().by_fault, by)
    assert end.exit_code == 130 and end.seconds < 2
    assert "Traceback" not in end.errors and "Task was destroyed" not in end.errors
    assert f"Go on with: shaketable run {tmp_path}/run/study.toml --out {tmp_path}/run" in end.errors


def _prepared(study: Path, folder: Path) -> Path:
    run = folder / "run"
    run.mkdir()
    (run / "study.toml").write_text(study.read_text("utf-8"), "utf-8")
    return run


@pytest.mark.slow
def test_twenty_thousand_calls_with_a_third_of_them_spoiled_end_as_the_server_says() -> None:
    script = Path(__file__).parents[2] / "benchmarks" / "hostile_endpoint.py"
    done = subprocess.run([sys.executable, str(script), "20000", "0.3"], capture_output=True, text=True, check=True)
    assert "records equal to the server's log: yes" in done.stdout
    assert "keys found in the run: 0" in done.stdout and "verify: sound" in done.stdout
