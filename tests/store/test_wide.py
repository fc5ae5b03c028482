import json
from dataclasses import replace

import made_run as made_run_module
import polars as pl
import pytest
from made_run import N_RECORDS, made_run
from typer.testing import CliRunner

from shaketable.cli.app import app
from shaketable.store import wide
from shaketable.store.wide import number_columns


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return made_run(tmp_path_factory.mktemp("wide") / "run")


def whole(run):
    return pl.concat(run.wide_slices())


def test_a_row_for_each_record_with_a_column_for_each_number(run):
    table = whole(run)
    assert table.height == N_RECORDS == table["key"].n_unique()
    scores = run.score_table()
    for number in ("contains", "length"):
        own = scores.filter(metric=number).select("key", "value", "reason")
        beside = table.select("key", number, f"{number}_missing").join(own, on="key")
        assert beside[number].equals(beside["value"], null_equal=True)
        assert beside[f"{number}_missing"].equals(beside["reason"], null_equal=True)


def test_what_is_missing_is_null_with_its_reason(run):
    failed = whole(run).filter(pl.col("failure").is_not_null())
    assert failed.height
    assert failed["contains"].null_count() == failed.height
    assert failed["contains_missing"].null_count() == 0
    assert failed["failure_message"].null_count() == 0


def test_lists_are_lists(run):
    row = whole(run).row(0, named=True)
    assert row["gold"] == ["Author 0"]
    assert [passage["title"] for passage in row["passages"]] == ["Gold 0", "Other 0"]
    assert row["passages"][0]["text"] == "Gold is 0."
    assert len(row["queries"]) == row["n_searches"]


def test_slices_are_the_whole(run, monkeypatch):
    at_once = whole(run)
    monkeypatch.setattr(wide, "RECORDS_AT_ONCE", 7)
    slices = list(run.wide_slices())
    assert max(one.height for one in slices) == 7
    assert pl.concat(slices).equals(at_once)


def test_each_tag_of_the_questions_is_a_column(tmp_path, monkeypatch):
    tagged = made_run_module.question

    def question(n):
        made = tagged(n)
        own = {"continent": ("Europe", "Asia")[n % 2], "hops": n, "answer": "short", "contains": "x", "odd": [1]}
        return replace(made, tags={**made.tags, **own, **({"hard": True} if n else {})})

    monkeypatch.setattr(made_run_module, "question", question)
    run = made_run(tmp_path / "tagged")
    table = whole(run)
    first = table.filter(pl.col("question_id").str.starts_with("q/0"))
    assert set(first["continent"]) == {"Europe"} and set(first["hops"]) == {0} and set(first["hard"]) == {None}
    assert set(table["hard"]) == {None, True} and set(table["odd"]) == {"[1]"}
    # What a record or a number is called keeps its name.
    assert set(table["tag_answer"]) == {"short"} and set(table["tag_contains"]) == {"x"}
    assert table["contains"].dtype == pl.Float64 and "type" in table.columns and "tag_type" not in table.columns


def test_a_number_that_is_called_like_a_column_gets_a_name_of_its_own():
    assert number_columns(["answer", "x", "x_missing"]) == {
        "answer": "score_answer",
        "x": "x",
        "x_missing": "score_x_missing",
    }


def test_json_lines_and_parquet_have_arrays_and_csv_their_json(run, tmp_path):
    for ending in ("jsonl", "parquet", "csv"):
        file = tmp_path / f"wide.{ending}"
        words = ["export", str(run.folder), "--table", "wide", "--out", str(file)]
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, done.output
    lines = [json.loads(line) for line in (tmp_path / "wide.jsonl").read_text().splitlines()]
    parquet = pl.read_parquet(tmp_path / "wide.parquet")
    table = pl.read_csv(tmp_path / "wide.csv", infer_schema_length=None)
    assert lines[0]["gold"] == ["Author 0"] == parquet["gold"][0].to_list() == json.loads(table["gold"][0])
    assert lines[0]["passages"] == parquet["passages"][0].to_list() == json.loads(table["passages"][0])
    assert len(lines) == parquet.height == table.height == N_RECORDS
