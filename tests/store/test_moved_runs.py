"""A run is resumed from any folder, wherever it was moved: its study knows from where its relative paths start."""

from __future__ import annotations

import json
import shutil

import pytest

from shaketable import errors, load_study, plan
from shaketable.stages.answer import is_all_answered
from shaketable.stages.run import run
from shaketable.store import Run

STUDY = """
name = "own"
[dataset]
name = "csv"
path = "questions.csv"
[cross]
models = ["scripted", "pipeline(python='app.py:answer')"]
methods = ["single_retrieval"]
retrievers = ["bm25(corpus='corpus.jsonl')"]
[score]
metrics = ["correct"]
[analyze]
analyses = ["correctness"]
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "study.toml").write_text(STUDY, "utf-8")
    (folder / "questions.csv").write_text("question,answer\nWho wrote Emma?,Ann\nWho wrote Mara?,Bob\n", "utf-8")
    (folder / "app.py").write_text("def answer(question, context):\n    return context[:20]\n", "utf-8")
    rows = [{"id": name, "text": f"{name} was written by Ann."} for name in ("Emma", "Mara")]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    monkeypatch.chdir(folder)
    return folder


def test_moved_run_resumes_from_another_folder(project, tmp_path, monkeypatch):
    run(load_study("study.toml"), project / "runs" / "own")
    before = [record.trial.key for record in Run("runs/own").store.records()]
    moved = tmp_path / "elsewhere" / "run"
    moved.parent.mkdir()
    shutil.move(project / "runs" / "own", moved)
    monkeypatch.chdir(tmp_path / "elsewhere")

    planned = plan(load_study(moved))
    assert sorted(trial.key for trial, _ in planned.trials()) == sorted(before)
    run(load_study(moved), moved)
    assert [record.trial.key for record in Run(moved).store.records()] == before
    assert is_all_answered(planned, Run(moved).store)


def test_report_names_no_folder_of_the_machine_for_relative_paths(project):
    made = run(load_study("study.toml"), project / "runs" / "own")
    assert "Relative paths" not in made.study_text
    assert (made.folder / "study.toml").read_text("utf-8").startswith(f'# Relative paths start at "{project}"')


def test_working_folder_goes_before_the_folder_of_a_run(project, tmp_path, monkeypatch):
    run(load_study("study.toml"), project / "runs" / "own")
    other = tmp_path / "other"
    other.mkdir()
    (other / "app.py").write_text("", "utf-8")
    monkeypatch.chdir(other)
    load_study(project / "runs" / "own")
    assert errors.at_home("app.py") == (other / "app.py").relative_to(other)
    assert errors.at_home("corpus.jsonl") == project / "corpus.jsonl"
    assert not errors.at_home("missing.jsonl").exists()
