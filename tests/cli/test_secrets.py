"""A key in the environment is found in no file of a run and in no output."""

from __future__ import annotations

import subprocess
import sys

from made_studies import STUDY
from stand_in_endpoint import StandIn
from typer.testing import CliRunner

from shaketable.cli.app import app

MARKER = "sk-marker-that-must-be-found-nowhere"


def run(*words):
    """In a process of its own: whatever it writes is caught, by whichever library."""
    command = [sys.executable, "-c", "from shaketable.cli import main; main()", *words]
    return subprocess.run(command, capture_output=True, text=True)


def files_with_the_marker(folder):
    return [path for path in folder.rglob("*") if path.is_file() and MARKER.encode() in path.read_bytes()]


def test_a_key_is_written_nowhere_even_when_the_endpoint_fails(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", MARKER)
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    server = StandIn()
    server.reply = lambda body, n: (400, {}, {"error": {"message": f"{n}: no sense in {server.headers[-1]}"}})
    endpoint = f"openai(model='m', base_url='{server.url}')"
    models = f'models = ["scripted", "{endpoint}"]'
    text = "\n".join(models if line.startswith("models") else line for line in STUDY.splitlines())
    (tmp_path / "keys.toml").write_text(text)
    done = run("run", "keys.toml", "--out", "run", "--max-failures", "50%")
    assert done.returncode == 0, done.stderr
    # 32 trials of each model; those of the endpoint fail, and its words repeat the key.
    assert any(MARKER in headers["authorization"] for headers in server.headers)
    assert "32 of 64 trials failed" in done.stderr
    assert "32 × bad_request" in done.stderr
    outputs = done.stdout + done.stderr
    for words in (["verify", "run"], ["export", "run"], ["doctor", "--endpoint", endpoint]):
        said = CliRunner().invoke(app, words)
        assert said.exception is None or isinstance(said.exception, SystemExit)
        outputs += said.stdout + said.stderr
    assert "OPENAI_API_KEY: set" in outputs
    assert MARKER not in outputs
    assert len(list((tmp_path / "run").rglob("*"))) > 5
    assert files_with_the_marker(tmp_path) == []
    server.server.shutdown()
    server.server.server_close()


def test_the_search_for_the_marker_finds_it(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "leak").write_text(f"key = {MARKER}")
    assert files_with_the_marker(tmp_path) == [tmp_path / "inner" / "leak"]
