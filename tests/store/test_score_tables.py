"""Scores and records that are read some at a time are those that are read at once."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from made_run import N_RECORDS, made_run

from shaketable.store import Run, score_file, score_tables, tables
from shaketable.types import Score


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return made_run(tmp_path_factory.mktemp("tables") / "run")


def test_a_number_alone_has_the_rows_it_has_among_all(run: Run) -> None:
    whole = run.score_table()
    assert list(run.score_tables().metrics) == whole["metric"].unique(maintain_order=True).to_list()
    for metric in run.score_tables().metrics:
        assert run.score_tables().of(metric).equals(whole.filter(metric=metric))


def test_a_number_that_is_not_scored_has_no_rows_and_all_columns(run: Run) -> None:
    assert run.score_tables().of("nothing").equals(run.score_table().clear())


@pytest.mark.parametrize("at_once", [1, 7, 100, 10**6])
def test_slices_are_the_whole_in_its_order(run: Run, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    whole, records, factors = run.score_table(), run.records(), tables.factor_table(run.store)
    monkeypatch.setattr(score_tables, "ROWS_AT_ONCE", max(at_once, 50))  # A join for each.
    monkeypatch.setattr(tables, "ROWS_AT_ONCE", at_once)
    slices, pieces = list(run.score_tables().slices()), list(run.record_slices())
    assert max(piece.height for piece in pieces) <= at_once
    assert max(own.height for own in slices) <= max(at_once, 50)
    assert pl.concat(slices).equals(whole)
    assert pl.concat(pieces).equals(records)
    assert tables.factor_table(run.store).equals(factors)


def test_some_columns_of_the_records_are_those_of_the_whole_table(run: Run) -> None:
    assert run.records(("answer", "model")).equals(run.records().select("answer", "model"))
    assert run.records().height == N_RECORDS


def test_scores_in_another_order_than_their_records_keep_it(tmp_path: Path) -> None:
    run = made_run(tmp_path / "run")
    before = run.score_table()
    turned = [
        Score(key=key, metric=metric, value=value) for key, metric, value, _ in run.scores().reverse().iter_rows()
    ]
    run.write_scores(turned)
    after = run.score_table()
    assert after["key"].to_list() == before["key"].reverse().to_list()
    same = ["key", "metric", "value", "question_id", "perturbation", "temperature", "flags", "is_left_out"]
    assert after.select(same).sort("key", "metric").equals(before.select(same).sort("key", "metric"))


def test_tables_are_read_anew_when_there_are_other_scores(tmp_path: Path) -> None:
    run = made_run(tmp_path / "run")
    kept = run.score_tables()
    assert run.score_tables() is kept
    [key, *_] = run.scores()["key"]
    run.write_scores([Score(key=key, metric="other", value=0.5)])
    assert list(run.score_tables().metrics) == ["other"]
    assert run.score_table().height == 1


def test_scores_are_written_as_they_come(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At most two slices are there at a time; the file is the same."""
    monkeypatch.setattr(score_file, "SCORES_AT_ONCE", 10)
    alive, most = 0, 0

    class Counted(Score):
        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    def scores():
        nonlocal alive, most
        for key, metric, value, reason in run.scores().iter_rows():
            alive += 1
            most = max(most, alive)
            yield Counted(key=key, metric=metric, value=value, reason=reason)

    (tmp_path / "study.toml").write_text(run.study_text)
    n = score_file.write_scores(tmp_path, scores(), "abc", None)
    assert n == run.scores().height > 100
    assert most <= 2 * 10
    assert score_file.load_scores(tmp_path).equals(run.scores())
    assert score_file.load_source(tmp_path).made_from == "abc"
