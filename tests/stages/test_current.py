"""Scores and findings are those of the stored answers: whatever changed since, they are made anew."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import fake_parts
import polars as pl
import pytest
from made_studies import small_study
from typer.testing import CliRunner

from shaketable.analyses.evidence.correctness import Correctness
from shaketable.cli.app import app
from shaketable.errors import RunError
from shaketable.factors import Labels
from shaketable.report.drawing import Drawing
from shaketable.report.section import Page, Section
from shaketable.stages import report
from shaketable.stages.analyze import analyze, make_current
from shaketable.stages.answer import answer
from shaketable.stages.plan import plan
from shaketable.stages.score import score
from shaketable.store import RecordStore, Run
from shaketable.study import format_study
from shaketable.types import Study


@pytest.fixture
def study(tmp_path: Path, with_fake_parts: object) -> Study:
    return small_study(tmp_path, models=["flaky"], temperatures=[1.0], repeats=1)


@pytest.fixture
def failed(study: Study, tmp_path: Path) -> Run:
    """A run all of whose trials failed for the time being, scored and analyzed."""
    fake_parts.down.append("busy")
    run = Run.prepare(tmp_path / "run", study)
    _answer(run)
    score(run)
    analyze(run)
    fake_parts.down.clear()
    return run


def _answer(run: Run) -> None:
    with run.writing() as store:
        answer(plan(run.study), store)


def _call(*words: object) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return result.stdout


def _counts(run: Run) -> set[int]:
    """Of the questions behind each mean, all types together."""
    [finding] = run.findings().findings
    assert isinstance(finding.result, Correctness)
    return {level.mean.n for level in finding.result.levels if level.cell.group is None}


def test_what_was_failed_and_is_answered_now_is_scored_before_it_is_analyzed(failed: Run) -> None:
    assert failed.has_current_scores() and failed.has_current_findings()
    assert failed.scores()["value"].null_count() == failed.scores().height
    _answer(failed)
    assert not failed.has_current_scores() and not failed.has_current_findings()
    _call("analyze", failed.folder, "--json")
    assert failed.scores()["value"].null_count() == 0
    assert _counts(failed) == {3}


def test_a_report_of_mended_answers_is_not_made_from_old_findings(failed: Run) -> None:
    _answer(failed)
    _call("report", failed.folder)
    assert failed.has_current_findings()
    assert _counts(failed) == {3}


def test_an_export_of_mended_answers_has_their_scores(failed: Run) -> None:
    _answer(failed)
    lines = _call("export", failed.folder, "--table", "scores", "--format", "jsonl").splitlines()
    assert all(json.loads(line)["value"] is not None for line in lines)


def test_findings_of_other_settings_are_made_anew(failed: Run) -> None:
    _answer(failed)
    make_current(failed)
    changed = dataclasses.replace(failed.study, metrics=("token_f1",), n_resamples=99)
    (failed.folder / "study.toml").write_text(format_study(changed), "utf-8")
    run = Run(failed.folder)
    assert not run.has_current_scores()
    make_current(run)
    assert run.scores()["metric"].unique().to_list() == ["token_f1"]
    assert run.findings().n_resamples == 99


def test_metrics_and_analyses_that_were_asked_for_are_kept_when_answers_change(failed: Run) -> None:
    score(failed, ["exact_match"])
    analyze(failed, ["variability"])
    assert failed.has_current_findings()
    _answer(failed)
    make_current(failed)
    assert failed.scores()["metric"].unique().to_list() == ["exact_match"]
    assert failed.scores()["value"].null_count() == 0
    assert [finding.analysis for finding in failed.findings().findings] == ["variability"]


def test_nothing_is_made_anew_that_is_current(failed: Run) -> None:
    _answer(failed)
    make_current(failed)
    before = [(failed.folder / name).stat().st_mtime_ns for name in ("scores.parquet", "findings.json")]
    make_current(failed)
    make_current(Run(failed.folder))
    after = [(failed.folder / name).stat().st_mtime_ns for name in ("scores.parquet", "findings.json")]
    assert before == after


def test_readers_work_the_digest_out_once_until_something_changes(failed: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The viewer reads by a connection of its own for every page."""
    counted: list[int] = []
    own = RecordStore.content_digest
    monkeypatch.setattr(RecordStore, "content_digest", lambda store: counted.append(1) or own(store))
    run = Run(failed.folder)
    for _ in range(3):
        with run.reading() as fresh:
            assert fresh.has_current_findings()
    assert len(counted) == 1
    _answer(failed)
    with run.reading() as fresh:
        assert not fresh.has_current_findings()
    assert len(counted) == 2


def test_scores_and_findings_of_the_first_version_are_read_and_made_anew(failed: Run) -> None:
    """It wrote scores without what they were made from, and findings as a plain list."""
    _answer(failed)
    plain = failed.folder / "scores.parquet"
    pl.read_parquet(plain).write_parquet(plain)
    kept = json.loads((failed.folder / "findings.json").read_text("utf-8"))["findings"]
    (failed.folder / "findings.json").write_text(json.dumps(kept), "utf-8")
    (failed.folder / "seal.sha256").unlink()
    assert failed.findings().findings == ()
    assert not failed.has_current_scores() and not failed.has_current_findings()
    make_current(failed)
    assert failed.has_current_findings()


def test_a_run_without_findings_says_how_to_make_them(study: Study, tmp_path: Path) -> None:
    run = Run.prepare(tmp_path / "run", study)
    with pytest.raises(RunError, match="shaketable analyze"):
        run.findings()


# --- other processes that score the same run -------------------------------------------------------


def _score_otherwise(run: Run) -> None:
    """As another process does: in the place of the file stands one of another length."""
    score(Run(run.folder), ["contains"])


def test_what_is_read_stays_what_it_was_when_others_score_the_run(failed: Run) -> None:
    tables = failed.score_tables()
    before = failed.score_table()
    _score_otherwise(failed)
    assert tables.whole().equals(before) and tuple(tables.metrics) == failed.study.metrics
    with failed.holding_scores():
        assert failed.asked_metrics() == ("contains",)
        score(Run(failed.folder))
        assert failed.asked_metrics() == ("contains",) and failed.main_metric() == "contains"
        assert failed.has_baselines() and set(failed.scores()["metric"]) == {"contains"}
    assert failed.asked_metrics() is None and failed.score_table().equals(before)


def test_findings_are_of_the_scores_that_they_name(failed: Run) -> None:
    """Scored otherwise in the midst of an analysis, they are made anew when they are asked for."""
    before = failed.findings()
    findings = analyze(failed, progress=lambda name: _score_otherwise(failed))
    assert findings == before and not failed.has_current_findings()
    score(failed)
    assert failed.has_current_findings() and failed.findings() == before


def test_findings_do_not_take_the_place_of_newer_ones(failed: Run) -> None:
    def outrun(name: str) -> None:
        _score_otherwise(failed)
        analyze(Run(failed.folder))

    assert analyze(failed, progress=outrun).main_metric != "contains"
    assert failed.has_current_findings() and failed.findings().main_metric == "contains"


def test_a_page_is_of_one_state_of_the_scores(failed: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    _answer(failed)
    score(failed)
    drawn, tabled = report.draw, report.figure_table
    metrics = []

    def table_of(table: pl.DataFrame, metric: str, labels: Labels) -> pl.DataFrame:
        metrics.append(metric)
        return tabled(table, metric, labels=labels)

    def score_first(page: Page) -> tuple[list[Section], list[Drawing]]:
        _score_otherwise(failed)
        analyze(Run(failed.folder))
        return drawn(page)

    monkeypatch.setattr(report, "draw", score_first)
    monkeypatch.setattr(report, "figure_table", table_of)
    report.report(failed)
    assert tuple(metrics) == failed.study.metrics
    assert failed.findings().main_metric == "contains"
