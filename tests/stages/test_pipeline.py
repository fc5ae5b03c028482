"""A complete run that is given again: what has not changed is not made again, and what has is."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from shaketable.cli.app import app
from shaketable.stages import pipeline
from shaketable.stages.report import report
from shaketable.stages.run import ask, follow
from shaketable.stages.score import score
from shaketable.store import Run, currency
from shaketable.study import format_study, parse_study
from shaketable.types import Gate, Study

ALL = ("scores", "findings", "report")


def write_questions(file: Path, *answers: str) -> None:
    with file.open("w", encoding="utf-8", newline="") as table:
        rows = csv.writer(table)
        rows.writerow(("id", "question", "answer"))
        rows.writerows((f"q{i}", f"Which city is number {i}?", answer) for i, answer in enumerate(answers))


@pytest.fixture
def study(tmp_path: Path) -> Study:
    write_questions(tmp_path / "questions.csv", *["Paris", "Rome"] * 5)
    return parse_study(
        {
            "name": "again",
            "dataset": {"name": "csv", "path": str(tmp_path / "questions.csv")},
            "cross": {
                "models": ["scripted(replies=('Paris', 'Rome', 'Oslo'))"],
                "methods": ["closed_book"],
                "temperatures": [0.0, 1.0],
                "repeats": 2,
            },
            "score": {"metrics": ["contains"]},
            "analyze": {"analyses": ["correctness"]},
        },
        "here",
    )


def run_again(study: Study, folder: Path) -> tuple[str, ...]:
    return follow(ask(study, folder))


def files_of(folder: Path) -> dict[str, tuple[int, bytes]]:
    """What stands in each file, and when it was written."""
    files = (file for file in sorted(folder.rglob("*")) if file.is_file() and file.name != ".lock")
    return {str(file.relative_to(folder)): (file.stat().st_mtime_ns, file.read_bytes()) for file in files}


def refuse(*_: object, **__: object) -> None:
    raise AssertionError("made again")


def test_a_complete_run_given_again_does_and_writes_nothing(study, tmp_path, monkeypatch) -> None:
    assert run_again(study, tmp_path / "run") == ALL
    before = files_of(tmp_path / "run")
    assert {"records.sqlite", "scores.parquet", "findings.json", "report.html"} <= before.keys()
    for place in ("pipeline.score", "pipeline.analyze", "report.report", "report.draw", "answer._drive"):
        monkeypatch.setattr(f"shaketable.stages.{place}", refuse)
    assert run_again(study, tmp_path / "run") == ()
    assert files_of(tmp_path / "run") == before


def test_the_command_given_again_writes_nothing(study, tmp_path, monkeypatch) -> None:
    (tmp_path / "again.toml").write_text(format_study(study), "utf-8")
    words = ["run", str(tmp_path / "again.toml"), "--out", str(tmp_path / "run")]
    first = CliRunner().invoke(app, words)
    assert first.exit_code == 0, first.output
    before = files_of(tmp_path / "run")
    for place in ("pipeline.score", "pipeline.analyze", "report.report", "report.draw", "answer._drive"):
        monkeypatch.setattr(f"shaketable.stages.{place}", refuse)
    monkeypatch.setattr("shaketable.report.page.make_sections", refuse)
    second = CliRunner().invoke(app, words)
    assert second.exit_code == 0, second.output
    assert files_of(tmp_path / "run") == before
    assert "Nothing has changed since the report was written" in " ".join(second.output.split())
    told = [line for line in first.stdout.splitlines() if line.startswith("•")]
    assert told and set(told) <= set(second.stdout.splitlines())


def mend_a_gold_answer(study: Study, folder: Path) -> Study:
    write_questions(folder.parent / "questions.csv", *["Oslo", "Rome"] * 5)
    return study


def score_otherwise(study: Study, folder: Path) -> Study:
    score(Run(folder), ["token_f1"])
    return study


def lose_the_page(study: Study, folder: Path) -> Study:
    (folder / "report.html").unlink()
    return study


def alter_the_page(study: Study, folder: Path) -> Study:
    (folder / "report.html").write_text("altered", "utf-8")
    return study


def lose_the_figures(study: Study, folder: Path) -> Study:
    shutil.rmtree(folder / "figures")
    return study


def shade_otherwise(study: Study, folder: Path) -> Study:
    report(Run(folder), band="sd")
    return study


def lose_the_baselines(study: Study, folder: Path) -> Study:
    (folder / "baselines.parquet").unlink()
    return study


@pytest.mark.parametrize(
    ("change", "stages"),
    [
        (lambda study, _: replace(study, repeats=3), ALL),
        (mend_a_gold_answer, ALL),
        (lambda study, _: replace(study, metrics=("contains", "token_f1")), ALL),
        (score_otherwise, ALL[:1]),  # The findings are of the study's own scores, which are as they were.
        (lose_the_baselines, ALL[:1]),
        (lambda study, _: replace(study, analyses=("correctness", "degradation")), ALL[1:]),
        (lambda study, _: replace(study, confidence=0.9), ALL[1:]),
        (lambda study, _: replace(study, gate=Gate(max_drop=0.5)), ALL[2:]),
        (lose_the_page, ALL[2:]),
        (alter_the_page, ALL[2:]),
        (lose_the_figures, ALL[2:]),
        (shade_otherwise, ALL[2:]),
    ],
)
def test_what_changed_is_made_again_with_what_follows(
    study: Study, tmp_path: Path, change: Callable[[Study, Path], Study], stages: tuple[str, ...]
) -> None:
    folder = tmp_path / "run"
    run_again(study, folder)
    changed = change(study, folder)
    assert run_again(changed, folder) == stages
    assert run_again(changed, folder) == ()


def test_another_version_of_the_package_reads_scores_anew(study, tmp_path, monkeypatch) -> None:
    """Metrics have versions of their own, analyses and pages that of the package."""
    run_again(study, tmp_path / "run")
    monkeypatch.setattr(currency, "__version__", "99.0")
    assert run_again(study, tmp_path / "run") == ALL[1:]


def test_every_stage_has_a_name_of_its_own() -> None:
    assert tuple(stage.name for stage in pipeline.STAGES) == ALL
