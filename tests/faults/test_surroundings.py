"""What happens around a run: a full disk, a folder that may not be written to, two processes, a clock that jumps."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from made_studies import small_study
from typer.testing import CliRunner

from faults.killing import stored
from shaketable.cli.app import app
from shaketable.stages.run import ask
from shaketable.stages.score import score
from shaketable.stages.verify import verify
from shaketable.store import Run
from shaketable.store.lock import hold_lock
from shaketable.study import format_study

N_QUESTIONS = 60
NOBODY = 65534


@contextlib.contextmanager
def files_up_to(n_bytes: int) -> Iterator[None]:
    """What a process writes beyond is refused by the system, as on a disk that is full."""
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)


def command(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join(result.output.split())


# --- a full disk ------------------------------------------------------------------------------------------------------


def test_on_a_full_disk_nothing_is_lost_and_the_run_goes_on_when_there_is_room(tmp_path: Path) -> None:
    larger = small_study(tmp_path, N_QUESTIONS, repeats=3)
    whole = stored(ask(larger, tmp_path / "whole").folder)
    full = ask(small_study(tmp_path, N_QUESTIONS, repeats=1), tmp_path / "full").folder
    before = stored(full)
    Run.prepare(full, larger)
    with files_up_to(40_000):  # Room for what SQLite needs to look into the file, not for more records.
        code, told = command("answer", full)
    assert code == 1 and told.count("Error:") == 1
    assert "records.sqlite cannot be used now" in told and "Check the disk's space" in told
    assert before.items() <= stored(full).items() and len(stored(full)) < len(whole)
    assert command("answer", full, "--max-failures", "100%")[0] == 0
    assert stored(full) == whole
    assert verify(Run(full)).problems == ()


@pytest.mark.parametrize("stage", ["score", pytest.param("analyze", marks=pytest.mark.slow)])
def test_scores_and_findings_that_do_not_fit_are_told_and_can_be_made_later(tmp_path: Path, stage: str) -> None:
    study = dataclasses.replace(small_study(tmp_path), metrics=("correct",), analyses=("correctness",))
    run = ask(study, tmp_path / "run")
    if stage != "score":
        score(run)
    with files_up_to(600):
        code, told = command(stage, run.folder)
    assert code == 1 and told.count("Error:") == 1 and "the disk's space" in told
    made = {"score": "scores.parquet", "analyze": "findings.json"}[stage]
    assert not (run.folder / made).exists()
    assert command(stage, run.folder)[0] == 0
    assert (run.folder / made).exists() and verify(Run(run.folder)).problems == ()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_an_export_that_does_not_fit_is_told(tmp_path: Path, ending: str) -> None:
    run = ask(small_study(tmp_path), tmp_path / "run")
    code, told = command("export", run.folder, "--out", "/dev/full", "--format", ending)
    assert code == 1 and told.count("Error:") == 1 and "/dev/full" in told and "the disk's space" in told


# --- a folder that may not be written to ------------------------------------------------------------------------------


@contextlib.contextmanager
def unprivileged() -> Iterator[Path]:
    """A folder of an ordinary user, who this process is meanwhile: to root everything may be written."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        is_root = os.geteuid() == 0
        if is_root:
            os.chown(folder, NOBODY, NOBODY)
            os.seteuid(NOBODY)
        try:
            yield folder
        finally:
            if is_root:
                os.seteuid(0)


def test_a_folder_that_may_only_be_read_is_looked_at_and_not_written_to(monkeypatch: pytest.MonkeyPatch) -> None:
    with unprivileged() as own:
        monkeypatch.setenv("SHAKETABLE_HOME", str(own / "home"))
        run = ask(small_study(own), own / "run")
        score(run)
        content = {path.name: path.read_bytes() for path in run.folder.iterdir()}
        run.folder.chmod(0o500)
        try:
            for words in (["verify"], ["export", "--out", own / "records.csv"]):
                code, told = command(words[0], run.folder, *words[1:])
                assert code == 0, told
            code, told = command("score", run.folder)
            assert code == 1 and told.count("Error:") == 1
            assert str(run.folder) in told and "permission" in told.lower()
            assert {path.name: path.read_bytes() for path in run.folder.iterdir()} == content
        finally:
            run.folder.chmod(0o700)
        assert command("score", run.folder)[0] == 0


# --- two processes, and a clock that jumps ----------------------------------------------------------------------------


def test_a_second_process_on_a_run_is_told_to_wait(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(format_study(small_study(tmp_path, 5)))
    run = ask(small_study(tmp_path, 4), tmp_path / "run")
    before = stored(run.folder)
    for words in (["answer", run.folder], ["run", study, "--out", run.folder]):
        with hold_lock(run.folder):
            code, told = command(*words)
        assert code == 1 and "Another process is writing" in told
    assert stored(run.folder) == before


SCORING = """
import sys
from shaketable.stages.score import score
from shaketable.store import Run
for _ in range(6):
    score(Run(sys.argv[1]), sys.argv[2:])
"""


def test_processes_that_score_one_run_at_once_leave_one_whole_set_of_scores(tmp_path: Path) -> None:
    run = ask(small_study(tmp_path, 4), tmp_path / "run")
    metrics = (["correct"], ["contains"], ["correct", "exact_match"])
    words = [[sys.executable, "-c", SCORING, str(run.folder), *asked] for asked in metrics]
    scoring = [subprocess.Popen(own, stderr=subprocess.PIPE, text=True) for own in words]
    ends = [(process.communicate(timeout=60)[1], process.returncode) for process in scoring]
    assert ends == [("", 0)] * len(metrics)
    assert verify(Run(run.folder)).problems == ()
    assert run.asked_metrics() in [tuple(asked) for asked in metrics]
    assert not [path.name for path in run.folder.iterdir() if path.name.endswith((".tmp", ".parts"))]


@pytest.mark.parametrize("jumps", [(-3600.0, 7200.0), (1e9, -2e9), (-1.0, -1.0)])
def test_a_clock_that_jumps_changes_no_record_and_no_duration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jumps: tuple[float, float]
) -> None:
    whole = stored(ask(small_study(tmp_path), tmp_path / "whole").folder)
    usual, hops = time.time, itertools.accumulate(itertools.cycle(jumps))
    start = time.perf_counter()
    monkeypatch.setattr(time, "time", lambda: usual() + next(hops))
    run = ask(small_study(tmp_path), tmp_path / "run")
    score(run)
    monkeypatch.undo()
    assert stored(run.folder) == whole
    most = time.perf_counter() - start
    assert all(0 <= record.cost.seconds <= most for record in run.store.records())
    assert 0 <= float(run.store.meta()["seconds"]) <= most
    assert verify(Run(run.folder)).problems == ()


# --- a study that was edited ------------------------------------------------------------------------------------------


def test_a_study_that_was_edited_after_its_run_asks_nothing_into_it(tmp_path: Path) -> None:
    run = ask(small_study(tmp_path), tmp_path / "run")
    before = stored(run.folder)
    edited = tmp_path / "edited.toml"
    edited.write_text(format_study(small_study(tmp_path, generation={"max_tokens": 9})))
    code, told = command("run", edited, "--out", run.folder)
    assert code == 1 and "holds the run of another study" in told and "max_tokens" in told
    assert stored(run.folder) == before and verify(Run(run.folder)).problems == ()
