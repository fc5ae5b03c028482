"""A run that is resumed after something of it was edited: the message names what."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from shaketable.cli.app import app
from shaketable.methods.closed_book import ClosedBook
from shaketable.models.calling.target import Target
from shaketable.store import Run

STUDY = """
name = "own"
[dataset]
name = "csv"
path = "questions.csv"
[cross]
models = [{model}]
methods = ["closed_book"]
[score]
metrics = ["correct"]
"""
APP = "def answer(question):\n    return 'Paris'\n"


@pytest.fixture(autouse=True)
def at_home(monkeypatch, tmp_path):
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("shaketable.stages.report.report", lambda run, **_: run.folder / "report.html")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.py").write_text(APP)
    (tmp_path / "questions.csv").write_text("id,question,answer\na,What is the capital of France?,Paris\nb,Who?,Me\n")
    (tmp_path / "pipeline.toml").write_text(STUDY.format(model="\"pipeline(python='app.py:answer')\""))
    (tmp_path / "scripted.toml").write_text(STUDY.format(model="\"scripted(replies=('Paris',))\""))


def refused(study):
    """What is said to a second go, in one line."""
    result = CliRunner().invoke(app, ["run", study, "--out", "r"])
    assert result.exit_code == 1
    return " ".join(result.stderr.split())


def ran(study):
    result = CliRunner().invoke(app, ["run", study, "--out", "r"])
    assert result.exit_code == 0, result.output


def digest():
    return Target(module="app.py", name="answer").digest[:8]


def test_an_edited_pipeline_is_named_with_both_digests(tmp_path):
    ran("pipeline.toml")
    before = digest()
    (tmp_path / "app.py").write_text(APP.replace("Paris", "Rome"))
    said = refused("pipeline.toml")
    assert f"holds 2 records that this study does not plan: app.py:answer has changed since (digest {before}" in said
    assert f"{before} → {digest()}). No record was touched. Give a new folder with --out, or undo the change." in said
    (tmp_path / "app.py").write_text(APP)
    ran("pipeline.toml")
    assert Run("r").summary().done == 2


def test_questions_that_have_another_text_are_counted_and_one_is_named(tmp_path):
    ran("scripted.toml")
    (tmp_path / "questions.csv").write_text("id,question,answer\na,What is the capital of France?,Paris\nb,Whose?,Me\n")
    said = refused("scripted.toml")
    assert "1 of the questions have another text or other passages, such as b. No record" in said


def test_questions_that_are_gone_are_counted_too(tmp_path):
    ran("scripted.toml")
    (tmp_path / "questions.csv").write_text("id,question,answer\na,What is the capital of France?,Paris\n")
    assert "1 of the questions were asked and are not there any more, such as b. No record" in refused("scripted.toml")


def test_another_version_of_a_component_is_named(monkeypatch):
    ran("scripted.toml")
    old = ClosedBook.version
    monkeypatch.setattr(ClosedBook, "version", old + 1)
    assert f"closed_book was version {old}, and is {old + 1}. No record" in refused("scripted.toml")
