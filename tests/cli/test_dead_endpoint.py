"""An endpoint that cannot be used ends a command with one message, and nothing is stored as a failure."""

from __future__ import annotations

import socket
import subprocess
import sys
import time

import pytest
from limited_endpoint import closed_port
from made_studies import STUDY
from stand_in_endpoint import StandIn, said
from typer.testing import CliRunner

from shaketable.cli.app import app
from shaketable.store import Run


def study_of(folder, *models):
    listed = ", ".join(f'"{model}"' for model in models)
    lines = [f"models = [{listed}]" if line.startswith("models") else line for line in STUDY.splitlines()]
    path = folder / "endpoint.toml"
    path.write_text("\n".join(lines))
    return path


def invoke(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def dead_models():
    """Several that point at one address."""
    url = f"http://127.0.0.1:{closed_port()}/v1"
    return [f"openai(model='{name}', base_url='{url}')" for name in ("a", "b", "c")]


@pytest.fixture(autouse=True)
def at_home(tmp_path, monkeypatch):
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path / "home"))
    for name in ("SHAKETABLE_OFFLINE", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def test_an_address_where_nothing_listens_is_told_once(tmp_path):
    result = invoke("run", study_of(tmp_path, *dead_models()), "--out", tmp_path / "run")
    assert result.exit_code == 1
    assert result.stderr.count("ConnectError") == 1 and "Check that the server runs" in result.stderr
    assert not Run(tmp_path / "run").failures()
    summary = Run(tmp_path / "run").summary()
    assert summary.trials == summary.missing > 0  # The page of the run tells how many are planned.


def run_within_fifteen_seconds(study):
    """As people type it, from the start of the program on."""
    command = [sys.executable, "-c", "from shaketable.cli import main; main()", "run", str(study), "--out", "run"]
    begun = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    assert time.monotonic() - begun < 15
    return done


@pytest.mark.slow
def test_it_is_told_within_fifteen_seconds_of_the_start_of_the_program(tmp_path):
    study = study_of(tmp_path, *dead_models())
    done = run_within_fifteen_seconds(study)
    assert done.returncode == 1 and done.stderr.count("ConnectError") == 1


@pytest.mark.slow
def test_so_is_a_server_that_connects_and_says_nothing(tmp_path):
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listening:
        study = study_of(tmp_path, f"openai(model='a', base_url='http://127.0.0.1:{listening.getsockname()[1]}/v1')")
        done = run_within_fifteen_seconds(study)
    assert done.returncode == 1 and done.stderr.count("says nothing") == 1


@pytest.mark.slow
def test_so_is_a_server_that_answers_each_call_with_an_error(tmp_path):
    server = StandIn()
    server.reply = lambda body, n: (500, {}, "")
    study = study_of(tmp_path, f"openai(model='a', base_url='{server.url}')")
    done = run_within_fifteen_seconds(study)
    assert done.returncode == 1 and done.stderr.count("HTTP 500: no words") == 1
    server.server.shutdown()
    server.server.server_close()


def test_a_run_that_was_stopped_goes_on_when_the_endpoint_is_mended(tmp_path):
    server = StandIn()
    server.reply = lambda body, n: (401, {}, {"error": {"message": "wrong key"}})
    study = study_of(tmp_path, f"openai(model='a', base_url='{server.url}')")
    result = invoke("run", study, "--out", tmp_path / "run")
    assert result.exit_code == 1 and result.stderr.count("OPENAI_API_KEY is not set") == 1
    assert len(server.requests) == 1
    server.reply = lambda body, n: said("Paris.")
    result = invoke("answer", tmp_path / "run")
    assert result.exit_code == 0, result.stderr
    assert Run(tmp_path / "run").summary().failed == 0
    server.server.shutdown()
    server.server.server_close()


def test_the_doctor_says_what_is_wrong_with_an_endpoint():
    result = invoke("doctor", "--endpoint", f"openai(model='a', base_url='http://127.0.0.1:{closed_port()}/v1')")
    assert result.exit_code == 1
    assert result.stderr.count("ConnectError") == 1


def test_what_is_all_answered_needs_no_endpoint(tmp_path):
    """Also where the answers decided how many there are."""
    server = StandIn()
    study = study_of(tmp_path, f"openai(model='a', base_url='{server.url}')")
    study.write_text(study.read_text().replace("repeats = 2", "repeats = { until = '±0.2', max = 5 }"))
    first = invoke("run", study, "--out", tmp_path / "run", "--json")
    assert first.exit_code == 0, first.output
    server.server.shutdown()
    server.server.server_close()
    again = invoke("run", study, "--out", tmp_path / "run")
    assert again.exit_code == 0, again.output


def refusing(name, message):
    server = StandIn()
    refusal = (400, {}, {"error": {"message": message, "param": name}})
    server.reply = lambda body, n: refusal if name in body else said("Paris.")
    return server


def test_a_refused_temperature_stops_the_run_before_it_is_asked(tmp_path):
    server = refusing("temperature", "Unsupported parameter: 'temperature' is not supported with this model.")
    study = study_of(tmp_path, f"openai(model='a', base_url='{server.url}')")
    result = invoke("run", study, "--out", tmp_path / "run")
    assert result.exit_code == 1
    assert result.stderr.count("refuses temperature") == 1 and result.stderr.count("send_temperature=False") == 1
    summary = Run(tmp_path / "run").summary()
    assert (summary.failed, summary.missing) == (0, summary.trials)


def test_a_refused_seed_spoils_no_trial(tmp_path):
    server = refusing("seed", "Unknown parameter: 'seed'.")
    study = study_of(tmp_path, f"openai(model='a', base_url='{server.url}')")
    result = invoke("run", study, "--out", tmp_path / "run")
    assert result.exit_code == 0, result.output
    run = Run(tmp_path / "run")
    assert run.summary().failed == 0
    assert all("seed" in environment["settings_left_out"] for environment in run.environments())
