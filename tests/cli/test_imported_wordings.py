"""Answers to reworded questions made elsewhere get every analysis of rewording, without any model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from made_wordings import Compass
from typer.testing import CliRunner

from shaketable.analyses.wording import vectors
from shaketable.cli.app import app

ABOUT_WORDING = (
    "wording_accuracy",
    "consistency",
    "cost_stability",
    "query_difficulty",
    "search_decisions",
    "outcomes",
    "trajectories",
    "trajectory_cases",
    "drift_chain",
)


def row(i: int, variation: str, wording: str, n: int, answer: str, **more: Any) -> dict[str, Any]:
    return {
        "question_id": f"q{i}", "question": f"Where is {i}?", "wording": wording, "gold": "Rome",
        "gold_titles": ["Italy"], "answer": answer, "dataset": "squad", "model": "theirs", "method": "agent",
        "retriever": "web", "variation": variation, "n_generations": n + 1, "n_tokens": 40,
        "searches": [
            {"query": f"{i} {hop}", "hits": [{"id": "p1", "title": "Italy" if hop == 0 else "Norway"}, "Sweden"]}
            for hop in range(n)
        ],
    } | more  # fmt: skip


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    folder = tmp_path_factory.mktemp("wordings")
    rows = []
    for i in range(4):
        for j, variation in enumerate(("original", "spelling", "human")):
            wording = f"Where is {i}?" if variation == "original" else f"Where {variation} {i}"
            rows.append(row(i, variation, wording, (i + j) % 3, "Rome" if i > j else "Oslo"))
            rows.append(row(i, variation, wording, 0, "Oslo", method="closed_book", retriever=None))
    (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, rows)))
    runner = CliRunner()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectors, "encoder", lambda name: Compass())
        for words in (["import", str(folder / "answers.jsonl"), "--out"], ["score"], ["analyze", "--json"]):
            done = runner.invoke(app, [*words, str(folder / "run")])
            assert done.exit_code == 0, done.output
    return {finding["analysis"]: finding["rows"] for finding in json.loads(done.stdout)["findings"]}


@pytest.mark.parametrize("name", ABOUT_WORDING)
def test_an_imported_file_gets_the_analysis(findings: dict[str, list[dict[str, Any]]], name: str) -> None:
    assert any(row.get("value", row.get("mss")) is not None for row in findings[name])


def test_the_numbers_are_those_of_the_file(findings: dict[str, list[dict[str, Any]]]) -> None:
    def value(analysis: str, **wanted: Any) -> float:
        (found,) = [
            row["value"]
            for row in findings[analysis]
            if all(row.get(name) == one for name, one in {"is_loss": False, "hop": None, **wanted}.items())
        ]
        return float(found)

    agent = {"method": "agent", "variation": "original"}
    # Searches of the original are 0 1 2 0; the first search always finds Italy, the second never.
    assert value("search_decisions", metric="act", **agent) == 0.5
    assert value("cost_stability", metric="n_searches", **agent) == 0.75
    assert value("cost_stability", metric="n_calls", **agent) == 1.75
    assert value("trajectories", metric="gold", hop=1, **agent) == 1
    assert value("trajectories", metric="gold", hop=2, **agent) == 0
    # Closed book is always wrong, so a search is always needed, and searching agents can only help: 3 of 4 are right.
    assert value("search_decisions", metric="over_confidence", **agent) == 0.5
    assert value("outcomes", metric="helpful", **agent) == 0.75
    # From 0 1 2 0 to 1 2 0 1: 1, 1, 1, 1.
    assert value("cost_stability", metric="re_searches", method="agent", variation="spelling") == 1


def test_gold_titles_that_differ_are_named(tmp_path: Path) -> None:
    rows = [row(0, "original", "?", 0, "a"), row(0, "spelling", "!", 0, "a", gold_titles=["France"])]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = CliRunner().invoke(app, ["import", str(tmp_path / "a.jsonl"), "--out", str(tmp_path / "run")])
    assert done.exit_code != 0
    assert "a.jsonl line 2: question 'q0' has the gold titles ['France']" in " ".join(done.output.split())


def test_runs_and_trajectories_reach_the_report_and_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of four questions 2 and 4 are right in the two runs of the original: 75 ± 35.4; after spelling none and none."""
    monkeypatch.setattr(vectors, "encoder", lambda name: Compass())
    rows = [
        row(i, variation, f"Where {variation} {i}", 2, "Rome" if i < right else "Oslo", repeat=repeat)
        for variation, rights in (("original", (2, 4)), ("spelling", (0, 0)))
        for repeat, right in enumerate(rights)
        for i in range(4)
    ]
    (tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, rows)))
    run, table = str(tmp_path / "run"), str(tmp_path / "findings.csv")
    export = ["export", run, "--table", "findings", "--format", "csv", "--out", table]
    for words in (["import", str(tmp_path / "answers.jsonl"), "--out", run], ["score", run], ["analyze", run], export):
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, done.output
    done = CliRunner().invoke(app, ["report", run])
    assert done.exit_code == 0, done.output
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert "75.0 ± 35.4 %" in page
    assert "0.0 ± 0.0 %" in page
    assert "Rome (right)" in page
    assert "Oslo (wrong)" in page
    found = pl.read_csv(table, infer_schema_length=None).filter(analysis="run_deviation", variation="original")
    assert json.loads(found["by_run"].item()) == [0.5, 1.0], "a list is a JSON text in CSV"
