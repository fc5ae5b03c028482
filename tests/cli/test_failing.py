"""Trials that fail are counted and told once; too many fail the command, and results are written all the same."""

from __future__ import annotations

import json

import pytest
import typer
from made_studies import STUDY
from typer.testing import CliRunner

from shaketable.cli.app import app
from shaketable.cli.endpoint_words import describe_checks
from shaketable.cli.failing import ALLOWED, parse_share
from shaketable.store import Run
from shaketable.types import EndpointFact


@pytest.fixture(autouse=True)
def at_home(monkeypatch, tmp_path):
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("shaketable.stages.report.report", lambda run, **_: run.folder / "report.html")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(STUDY)


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_too_many_failures_fail_the_command_in_one_message_at_its_end():
    result = call("run", "small.toml", "--out", "r")
    summary = Run("r").summary()
    assert summary.failed > ALLOWED * summary.trials
    assert result.exit_code == 1
    assert result.stdout.startswith("• "), "results are told"
    assert result.stderr.count(" trials failed") == 1
    share = f"{summary.failed / summary.trials:.0%}"
    ending = result.stderr[result.stderr.index("Error: ") :].splitlines()
    assert ending[0].startswith(f"Error: {summary.failed} of 32 trials failed ({share}); --max-failures allows 5%.")
    assert ending[1] == f"{summary.failed} × scripted, such as: The script says ERROR here."
    assert ending[2] == "Another go would not ask them again: no retry would help."
    assert (Run("r").folder / "scores.parquet").is_file() and (Run("r").folder / "findings.json").is_file()


def test_the_share_that_is_allowed_can_be_given_and_failures_are_told_once():
    for share in ("100%", "0.9"):
        result = call("run", "small.toml", "--out", "r", "--max-failures", share)
        assert result.exit_code == 0, result.output
        assert result.stderr.count(" of 32 trials failed; they are kept as failures, never as zeros.") == 1
        assert "Error" not in result.stderr


def test_a_resumed_run_is_judged_by_all_its_trials():
    assert call("run", "small.toml", "--out", "r", "--max-failures", "100%").exit_code == 0
    assert call("run", "small.toml", "--out", "r").exit_code == 1
    assert call("answer", "r").exit_code == 1
    assert call("answer", "r", "--max-failures", "50%").exit_code == 0


def test_programs_get_their_object_and_the_exit_code():
    result = call("run", "small.toml", "--out", "r", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["failed"] == Run("r").summary().failed
    assert result.stderr.startswith("Error: ")


@pytest.mark.parametrize(("text", "share"), [("5%", 0.05), ("0.05", 0.05), (" 12.5 % ", 0.125), ("0", 0.0), ("1", 1.0)])
def test_a_share_is_written_with_or_without_percent(text, share):
    assert parse_share(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["5", "101%", "-1%", "few", "", "%"])
def test_what_is_no_share_is_refused(text):
    with pytest.raises(typer.BadParameter, match=r"Give one as 5% or 0\.05"):
        parse_share(text)
    if text:
        assert call("run", "small.toml", f"--max-failures={text}").exit_code == 2


def test_the_share_stands_in_the_help():
    for command in ("run", "answer", "shake"):
        shown = " ".join(call(command, "--help").output.replace("│", " ").split())
        assert "--max-failures" in shown and "[default: (5%)]" in shown


def test_what_an_endpoint_does_not_do_is_one_sentence_with_each_reason_once():
    facts = {
        "seed_honored": EndpointFact(value=False, reason="HTTP 400"),
        "temperature_applied": EndpointFact(value=False, reason="HTTP 400"),
        "logprobs_given": EndpointFact(value=None, reason="no reply"),
    }
    words = describe_checks(facts)
    assert words == (
        "the endpoint does not repeat its text for the same seed and does not apply the temperature (HTTP 400); it "
        "could not be told whether the endpoint gives log probabilities (no reply)"
    )
