"""Runs in a folder: listed with what each says first, the newest first, and opened together."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from made_studies import STUDY
from typer.testing import CliRunner

from shaketable.cli.app import app
from shaketable.cli.viewing import _runs_of
from shaketable.store import Run
from shaketable.store.listing import find_runs, is_run, list_runs
from shaketable.viewer.pages import RunSite


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A small run without a report."""
    folder = tmp_path_factory.mktemp("listed")
    (folder / "small.toml").write_text(STUDY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shaketable.stages.report.report", lambda run, **_: run.folder / "report.html")
        result = call("run", folder / "small.toml", "--out", folder / "run", "--json", "--max-failures", "100%")
    assert result.exit_code == 0, result.output
    return folder / "run"


@pytest.fixture
def folder(finished, tmp_path, monkeypatch):
    """A folder `runs` with two runs at different depths, one that is broken, and things that are none."""
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    shutil.copytree(finished, "runs/first")
    shutil.copytree(finished, "runs/by-me/second")
    Run("runs/by-me/second").write_headlines(["It stands firm.", "And more."])
    shutil.copytree(finished, "runs/broken")
    Path("runs/broken/records.sqlite").write_bytes(b"this is no database" * 100)
    Path("runs/notes").mkdir()
    Path("runs/notes/study.toml").write_text(STUDY)
    return Path("runs")


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_runs_are_found_at_any_depth_and_a_study_alone_is_none(folder):
    assert set(find_runs(folder)) == {folder / "first", folder / "by-me/second", folder / "broken"}
    assert not is_run(folder / "notes")


def test_every_run_is_a_line_and_a_broken_one_says_why(folder):
    listed = {Path(row["run"]).name: row for row in json.loads(call("runs", "--json").stdout)}
    assert listed.keys() == {"first", "second", "broken"}
    assert (listed["first"]["state"], listed["first"]["trials"]) == ("finished_with_failures", 32)
    assert listed["first"]["done"] + listed["first"]["failed"] == 32
    assert (listed["first"]["headline"], listed["second"]["headline"]) == (None, "It stands firm.")
    assert listed["broken"]["state"] == "unreadable"
    assert listed["broken"]["problem"]
    shown = call("runs").stdout
    assert "    It stands firm." in shown
    assert "And more." not in shown
    assert "unreadable" in shown


def test_the_newest_run_comes_first(folder):
    begun = {folder / "first": "2026-01-02T00:00:00+00:00", folder / "by-me/second": "2026-01-01T00:00:00+00:00"}
    for run, time in begun.items():
        with Run(run).writing() as store:
            store.set_meta(created=time)
    assert [run.folder for run in list_runs(folder) if run.summary] == [folder / "first", folder / "by-me/second"]


def test_a_run_of_its_own_is_a_list_of_one(folder):
    assert [row["name"] for row in json.loads(call("runs", folder / "first", "--json").stdout)] == ["first"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("runs", "nowhere"), "There is no folder nowhere. Runs are made by: shaketable run STUDY."),
        (("runs", "empty"), "empty holds no runs. Make one with: shaketable run STUDY"),
        (("view", "empty"), "empty holds no runs."),
        (("view", "nowhere"), "nowhere holds no run: there is no study.toml in it."),
    ],
)
def test_where_there_is_none_it_says_how_to_make_one(tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()
    result = call(*words)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: {message}")


def test_without_a_folder_of_runs_view_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert call("view", "--no-open").stderr.startswith("Error: There is no folder runs.")


def test_view_opens_a_run_or_all_that_can_be_read(folder, capsys):
    assert _runs_of(folder / "first") == [folder / "first"]
    assert set(_runs_of(folder)) == {folder / "first", folder / "by-me/second"}
    assert "Left out: runs/broken:" in capsys.readouterr().err


def test_the_first_page_lists_runs_with_what_each_says_first(folder):
    site = RunSite([Run(folder / "first"), Run(folder / "by-me/second"), Run(folder / "broken")])
    try:
        page = site.reply([], {}).body.decode()
    finally:
        site.close()
    assert "It stands firm." in page
    assert "unreadable" in page
    assert "/run/second" in page
    assert "/run/broken" not in page


def test_a_folder_of_many_runs_is_listed_and_not_put_side_by_side(folder, monkeypatch):
    monkeypatch.setattr("shaketable.viewer.index.MOST_SIDE_BY_SIDE", 1)
    site = RunSite([Run(folder / "first"), Run(folder / "by-me/second")])
    try:
        page = site.reply([], {}).body.decode()
    finally:
        site.close()
    assert "Side by side" not in page
    assert "side by side for 1 runs at most" in page
    assert 'action="/compare"' in page
