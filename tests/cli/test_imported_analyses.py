"""Answers made elsewhere get every analysis of the context study, without any model."""

import json
import random

import pytest
from typer.testing import CliRunner

from shaketable.cli.app import app
from shaketable.study import load_study

CONTEXT_STUDY = load_study("context_temperature").analyses
FEW = {name: f"{name}(n_resamples=99)" for name in CONTEXT_STUDY if name != "cases"}
COLUMNS = {"analysis", "model", "type", "perturbation", "temperature", "value", "low", "high", "n"}


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """Right less often when the evidence is disturbed, and less still when it is hot."""
    folder, rng = tmp_path_factory.mktemp("imported"), random.Random(5)
    rows = [
        {
            "question_id": f"q{i}", "question": f"Where is number {i}?", "gold": ["Rome"], "model": "theirs",
            "type": ("bridge", "comparison")[i % 2], "n_facts": 2, "method": "rag", "retriever": "theirs",
            "perturbation": perturbation, "temperature": temperature, "repeat": repeat,
            "answer": "It is in Rome." if rng.random() > harm + temperature / 3 else "It is in Oslo, one hears.",
        }
        for i in range(20)
        for perturbation, harm in (("unchanged", 0.0), ("sentence_removal", 0.5), ("entity_masking", 0.2))
        for temperature in (0.0, 0.6, 1.2, 2.0)
        for repeat in range(3)
    ]  # fmt: skip
    (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, rows)))
    runner = CliRunner()
    made = runner.invoke(app, ["import", str(folder / "answers.jsonl"), "--out", str(folder / "run")])
    assert made.exit_code == 0, made.output
    asked = [word for name in CONTEXT_STUDY for word in ("--analysis", FEW.get(name, name))]
    analyzed = runner.invoke(app, ["analyze", str(folder / "run"), *asked, "--json"])
    assert analyzed.exit_code == 0, analyzed.output
    return {finding["analysis"]: finding for finding in json.loads(analyzed.stdout)["findings"]}


@pytest.mark.parametrize("analysis", CONTEXT_STUDY)
def test_an_imported_file_gets_the_analysis_with_its_columns(imported, analysis):
    rows = imported[analysis]["rows"]
    assert rows
    assert {row["analysis"] for row in rows} == {analysis}
    for row in rows:
        assert set(row) >= COLUMNS
        if row["value"] is None:
            assert row.get("reason"), row


def test_the_harm_that_was_built_in_is_found(imported):
    at_zero = [
        row
        for row in imported["degradation"]["rows"]
        if row["perturbation"] == "sentence_removal" and row["type"] is None and row["temperature"] == 0.0
    ]
    assert at_zero
    assert all(row["low"] > 0 and row["p_holm"] < 0.05 for row in at_zero)
