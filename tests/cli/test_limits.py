"""Limits as a user meets them: options, the study's table, what is said at a limit, and how to go on."""

from __future__ import annotations

import json
import shlex

import pytest
from made_studies import STUDY
from typer.testing import CliRunner

from shaketable.cli.app import app
from shaketable.store import Run

SOUND = STUDY.replace(", 'ERROR'", "")


@pytest.fixture
def study(monkeypatch, tmp_path):
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("shaketable.stages.report.report", lambda run, **_: run.folder / "report.html")
    (tmp_path / "small.toml").write_text(SOUND)
    return tmp_path / "small.toml"


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_a_run_at_its_limit_is_no_failure_and_says_how_to_go_on(study, tmp_path):
    folder = tmp_path / "run"
    said = call("run", study, "--out", folder, "--max-calls", 10)
    assert said.exit_code == 0, said.output
    assert "Stopped at its limit (10 calls) after 10 of 32 trials" in said.output
    assert "22 trials are left; they would take about 22 calls" in said.output
    command = said.output.partition("Raise the limit to go on: ")[2].splitlines()[0]
    assert command.endswith("--max-calls 36")  # 32 calls, and a tenth more.
    assert call(*shlex.split(command)[1:]).exit_code == 0
    assert Run(folder).summary().missing == 0


def test_a_limit_is_told_to_programs_too(study, tmp_path):
    said = json.loads(call("run", study, "--out", tmp_path / "run", "--max-calls", 10, "--json").stdout)
    assert (said["stopped"]["limit"], said["stopped"]["n_left"], said["stopped"]["calls"]) == ("max_calls", 22, 22)
    again = json.loads(call("answer", tmp_path / "run", "--max-calls", 20, "--json").stdout)
    assert (again["done"] + again["failed"], again["stopped"]["limit"]) == (20, "max_calls")


def test_limits_of_the_study_are_frozen_with_it_and_can_be_lifted(study, tmp_path):
    study.write_text(SOUND + "\n[limits]\nmax_calls = 10\n")
    call("run", study, "--out", tmp_path / "run")
    assert Run(tmp_path / "run").study.limits.max_calls == 10
    assert call("run", tmp_path / "run", "--no-limits").exit_code == 0
    assert Run(tmp_path / "run").summary().missing == 0


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("max_cost = 0", "limits.max_cost: found 0; input should be greater than 0."),
        ("max_calls = 1.5", "limits.max_calls: found 1.5; input should be a valid integer"),
        ("max_minutes = 'ten'", "limits.max_minutes: found 'ten'; input should be a valid number"),
        ("max_call = 3", "limits.max_call: unknown key 'max_call'. Did you mean 'max_calls'? Known keys: max_cost,"),
        ("max_cost = 2", "limits.max_cost is 2, and the price of scripted"),
    ],
)
def test_wrong_limits_are_named_and_nothing_is_asked(study, tmp_path, table, words):
    study.write_text(f"{STUDY}\n[limits]\n{table}\n")
    said = call("run", study, "--out", tmp_path / "run")
    assert said.exit_code == 2
    assert words in said.output.replace("\n", " ")
    assert not (tmp_path / "run" / "records.sqlite").exists() or not Run(tmp_path / "run").store.keys()


def test_an_option_of_nothing_is_refused(study, tmp_path):
    said = call("run", study, "--out", tmp_path / "run", "--max-cost", 0)
    assert (said.exit_code, "--max-cost is 0, and nothing could be asked" in said.output) == (2, True)
