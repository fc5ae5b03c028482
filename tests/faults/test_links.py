"""Links in a stranger's run: whatever command is given, what they point to stays as it is."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from made_answers import answer_rows, made_run
from made_studies import small_study
from typer.testing import CliRunner

from shaketable.cli.app import app
from shaketable.errors import RunError
from shaketable.stages.run import ask
from shaketable.store import RecordStore
from shaketable.store.ownership import open_inside
from shaketable.study import format_study

FILES = (
    *(".lock", "seal.sha256", "study.toml", "study.1.toml", "records.seal"),
    *("records.sqlite", "records.sqlite-wal", "records.sqlite-shm", "records.sqlite-journal"),
    *("scores.parquet", "baselines.parquet", "findings.json", "explanations.json", "headlines.json", "report.html"),
    *("figures/figure_table.csv", "batches/token/requests.jsonl"),
)
FOLDERS = ("figures", "batches", "batches/token")
COMMANDS = (
    *(["answer"], ["score"], ["analyze"], ["report"], ["verify"], ["export", "--out", "out.csv"], ["card"], ["check"]),
    *(["show", "q1"], ["explain", "q1"], ["merge"], ["compare"], ["view"], ["run"]),
)
PRECIOUS = b"A file of the user, which no run knows of.\n" * 10


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    run = ask(small_study(folder), folder / "run")
    (folder / "study.toml").write_text(format_study(run.study))
    return run.folder


def command_line(words: list[str], run: Path, finished: Path) -> list[str]:
    """`words` with the run where the command takes it."""
    if words == ["run"]:
        return ["run", str(finished.parent / "study.toml"), "--out", str(run)]
    if words == ["merge"]:
        return ["merge", str(finished), str(run), "--out", str(run.parent / "joined")]
    more = [str(finished)] if words == ["compare"] else []
    return [words[0], str(run), *more, *words[1:]]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_a_link_in_a_run_is_refused_and_its_target_kept(
    tmp_path: Path, finished: Path, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate((*FILES, *FOLDERS)):
        run, target = tmp_path / f"run{number}", tmp_path / f"target{number}"
        shutil.copytree(finished, run)
        link = run / name
        link.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(link, ignore_errors=True)
        link.unlink(missing_ok=True)
        if name in FOLDERS:
            target.mkdir()
            (target / "kept").write_bytes(PRECIOUS)
        else:
            target.write_bytes((finished / name).read_bytes() if name == "study.toml" else PRECIOUS)
        before = content_of(target)
        link.symlink_to(target)
        result = CliRunner().invoke(app, command_line(words, run, finished))
        told = " ".join(result.output.split())
        assert result.exit_code in (1, 2), f"{name}: {told} {result.exception!r}"
        assert name in told.replace(" ", "") and "is a link" in told, f"{name}: {told}"
        assert content_of(target) == before, name


def content_of(target: Path) -> dict[str, bytes]:
    files = [target] if target.is_file() else sorted(target.iterdir())
    return {path.name: path.read_bytes() for path in files}


def test_a_new_run_does_not_take_over_a_link(tmp_path: Path, finished: Path) -> None:
    for name in (".lock", "seal.sha256"):
        run, target = tmp_path / "run", tmp_path / f"target of {name}"
        run.mkdir(exist_ok=True)
        target.write_bytes(PRECIOUS)
        (run / name).symlink_to(target)
        result = CliRunner().invoke(app, command_line(["run"], run, finished))
        assert result.exit_code == 1 and target.read_bytes() == PRECIOUS
        (run / name).unlink()


@pytest.mark.parametrize("name", ["records.sqlite", "records.seal"])
def test_records_are_never_written_through_a_link(tmp_path: Path, name: str) -> None:
    """Also by who opens the file without looking at its folder first."""
    target = tmp_path / "target"
    target.write_bytes(b"")
    (tmp_path / name).symlink_to(target)
    with pytest.raises(RunError, match="is a link"):
        open_inside(tmp_path / name)
    with pytest.raises(RunError, match="is a link"):
        RecordStore(tmp_path / "records.sqlite")
    assert target.read_bytes() == b""


def test_a_pipe_in_a_run_is_refused_and_not_waited_for(finished: Path, tmp_path: Path) -> None:
    for name in (".lock", "records.seal", "findings.json"):
        run = tmp_path / name
        shutil.copytree(finished, run)
        (run / name).unlink(missing_ok=True)
        os.mkfifo(run / name)
        result = CliRunner().invoke(app, ["report", str(run)])
        assert result.exit_code == 1 and "is a pipe" in " ".join(result.output.split())


def test_a_run_behind_a_link_is_opened(tmp_path: Path) -> None:
    run = made_run(tmp_path / "run", answer_rows([1, 0, 1]))
    (tmp_path / "link").symlink_to(run.folder)
    assert CliRunner().invoke(app, ["score", str(tmp_path / "link")]).exit_code == 0
