"""What a stage holds does not grow with the run: counted in values, without a clock."""

from __future__ import annotations

import gc
from pathlib import Path

import polars as pl
import pytest
from made_run import analyzed, made_run

from shaketable.metrics.contains import Contains
from shaketable.stages import score as stage
from shaketable.stages.analyze import analyze
from shaketable.stages.compare import compare
from shaketable.stages.gate import check_run
from shaketable.stages.score import score
from shaketable.statistics import resampling, sign_flips, simultaneous
from shaketable.store import Run, score_file, tables
from shaketable.store.score_tables import ScoreTables
from shaketable.study import parse_study
from shaketable.types import Gate, Record

ANALYSES = ["correctness", "variability", "degradation", "ranking", "dominance", "amplification", "cases", "guidelines"]
AT_ONCE = 8


def long_run(folder: Path, repeats: int) -> Run:
    """Two questions, asked again and again."""
    from shaketable.stages.answer import answer
    from shaketable.stages.plan import plan

    study = parse_study(
        {
            "name": "long",
            "dataset": {"name": "builtin", "limit": 2},
            "cross": {"models": ["scripted(replies=('Paris', 'London'))"], "repeats": repeats},
            "score": {"metrics": ["contains"]},
        },
        "test",
    )
    run = Run.prepare(folder, study)
    with run.writing() as store:
        answer(plan(study), store)
    return run


def most_records(run: Run, monkeypatch: pytest.MonkeyPatch) -> int:
    """Records that are alive while a metric scores some."""
    counts, own = [], Contains.score

    def counting(self, records, questions):
        counts.append(sum(isinstance(value, Record) for value in gc.get_objects()))
        return own(self, records, questions)

    with monkeypatch.context() as patch:
        patch.setattr(Contains, "score", counting)
        patch.setattr(stage, "RECORDS_AT_ONCE", AT_ONCE)
        score(run)
    return max(counts)


@pytest.mark.slow
def test_scoring_holds_as_many_records_of_a_long_run_as_of_a_short_one(tmp_path, monkeypatch):
    short, long = long_run(tmp_path / "short", 10), long_run(tmp_path / "long", 50)
    gc.collect()
    others = sum(isinstance(value, Record) for value in gc.get_objects())
    few, many = most_records(short, monkeypatch), most_records(long, monkeypatch)
    assert (
        few == many <= others + 2 * AT_ONCE + 2 * 2
    )  # Two batches, and a clean answer and its swap for each question.


def test_baselines_do_not_depend_on_the_batches_they_are_scored_in(tmp_path, monkeypatch):
    run = long_run(tmp_path / "run", 3)
    score(run)
    whole = run.baselines()
    monkeypatch.setattr(stage, "RECORDS_AT_ONCE", 1)
    score(run)
    assert run.baselines().equals(whole) and len(whole) == 2


def test_findings_do_not_depend_on_how_much_is_in_memory_at_a_time(tmp_path, monkeypatch):
    run = made_run(tmp_path / "run")
    analyze(run, ANALYSES)
    whole = (run.folder / "findings.json").read_bytes()
    for module in (resampling, sign_flips, simultaneous):
        monkeypatch.setattr(module, "MOST_AT_ONCE", 50)  # Of 8 questions: 6 draws of 99.
    monkeypatch.setattr(tables, "ROWS_AT_ONCE", 10)
    monkeypatch.setattr(score_file, "SCORES_AT_ONCE", 10)
    analyze(Run(run.folder), ANALYSES)
    assert (run.folder / "findings.json").read_bytes() == whole


def test_a_report_and_its_findings_never_ask_for_all_scores_at_once(tmp_path, monkeypatch):
    from shaketable.stages.report import page_of, sections_of

    run = analyzed(made_run(tmp_path / "run"))
    monkeypatch.setattr(ScoreTables, "whole", lambda self: pytest.fail("All scores were read at once."))
    monkeypatch.setattr(score_file, "load_scores", lambda *given: pytest.fail("All scores were read at once."))
    findings = analyze(run, ANALYSES)
    assert [finding.failure for finding in findings.findings] == [None] * len(findings.findings)
    assert sections_of(run, findings)
    assert isinstance(page_of(run, findings).of_metric(findings.main_metric), pl.DataFrame)


def test_two_runs_are_compared_with_the_factors_of_one_at_a_time(tmp_path, monkeypatch):
    first, second = made_run(tmp_path / "first"), made_run(tmp_path / "second")
    held, own = [], tables.factor_table

    def counting(store):
        held.append([run.folder.name for run in (first, second) if "_factors" in vars(run.score_tables())])
        return own(store)

    monkeypatch.setattr(tables, "factor_table", counting)
    compare(first, second)
    check_run(first, Gate(max_drop=0.2), second)
    assert len(held) >= 4 and not any(held)  # Each is read by each.


def test_a_comparison_never_asks_for_all_records_or_scores_at_once(tmp_path, monkeypatch):
    first, second = made_run(tmp_path / "first"), made_run(tmp_path / "second")
    whole = compare(first, second)
    assert any(compared.moves.n_same for compared in whole.compared)
    monkeypatch.setattr(Run, "records", lambda self, *given: pytest.fail("All records were read at once."))
    monkeypatch.setattr(ScoreTables, "whole", lambda self: pytest.fail("All scores were read at once."))
    monkeypatch.setattr(tables, "ROWS_AT_ONCE", 10)
    assert repr(compare(Run(first.folder), Run(second.folder))) == repr(whole)
