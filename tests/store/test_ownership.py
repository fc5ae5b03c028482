"""A run is readable by its owner alone, unless its folder was opened to others."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from made_studies import REPLIES, small_study
from typer.testing import CliRunner

from shaketable import weights
from shaketable.cli.app import app
from shaketable.stages.run import ask
from shaketable.stages.score import score
from shaketable.store import Run
from shaketable.store.answer_cache import open_file

WRITTEN = ("study.toml", "records.sqlite", "records.seal", "seal.sha256", ".lock")


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def open_to_others(folder: Path) -> list[str]:
    return [
        f"{path.name} {stat.filemode(path.stat().st_mode)}"
        for path in (folder, *folder.rglob("*"))
        if path.stat().st_mode & 0o077
    ]


def test_nothing_of_a_run_is_readable_by_others(tmp_path: Path) -> None:
    run = ask(small_study(tmp_path), tmp_path / "runs" / "one")
    assert open_to_others(run.folder) == []
    score(run)
    names = {path.name for path in run.folder.rglob("*")}
    assert names >= {*WRITTEN, "scores.parquet", "baselines.parquet"}
    assert open_to_others(run.folder) == []


@pytest.mark.slow
def test_nothing_of_a_run_with_its_page_is_readable_by_others(tmp_path: Path) -> None:
    words = ["run", "demo", "--set", f'cross.models=["{REPLIES}"]', "--out", str(tmp_path / "run")]
    words += ["--max-failures", "100%"]
    made = CliRunner().invoke(app, words)
    assert made.exit_code == 0, made.output
    names = {path.name for path in (tmp_path / "run").rglob("*")}
    assert {*WRITTEN, "findings.json", "report.html", "headlines.json", "figures", "figure_table.csv"} <= names
    assert open_to_others(tmp_path / "run") == []


def test_what_is_written_while_a_run_answers_is_closed_from_its_beginning(tmp_path: Path) -> None:
    run = Run.prepare(tmp_path / "run", small_study(tmp_path))
    with run.writing() as store:
        store.set_meta(more="x")
        files = [path for path in run.folder.iterdir() if path.name.startswith("records")]
        assert {"records.sqlite", "records.sqlite-wal", "records.sqlite-shm", "records.seal"} == {
            file.name for file in files
        }
        assert not any(file.stat().st_mode & 0o077 for file in files)
        assert not run.folder.stat().st_mode & 0o077


def test_a_folder_that_was_opened_to_others_stays_open(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o755)
    run = ask(small_study(tmp_path), folder)
    score(run)
    for path in (folder, run.records_path, folder / "scores.parquet"):
        assert path.stat().st_mode & 0o044 == 0o044


def test_what_is_exported_follows_the_umask_of_the_user(tmp_path: Path) -> None:
    run = ask(small_study(tmp_path), tmp_path / "run")
    result = CliRunner().invoke(app, ["export", str(run.folder), "--out", str(tmp_path / "out" / "records.csv")])
    assert result.exit_code == 0
    assert stat.S_IMODE((tmp_path / "out" / "records.csv").stat().st_mode) == 0o644
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o755


def test_a_new_user_cache_is_closed_and_one_that_is_there_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path / "new" / "home"))
    open_file(weights.home() / "answers.sqlite").close()
    weights.make_folder(weights.home() / "indexes" / "some")
    assert open_to_others(weights.home()) == []
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o755
    (tmp_path / "shared").mkdir(mode=0o755)
    monkeypatch.setenv("SHAKETABLE_HOME", str(tmp_path / "shared"))
    weights.make_folder(weights.home() / "indexes")
    assert stat.S_IMODE(weights.home().stat().st_mode) == 0o755
