"""Answers made elsewhere get every analysis of the context study by themselves, without any model."""

import json
import random

import pytest
from typer.testing import CliRunner

from shaketable.analyses.evidence.degradation import Degradation
from shaketable.cli.app import app
from shaketable.store.findings_file import load_findings, tidy_rows
from shaketable.study import load_study

CONTEXT_STUDY = load_study("context_temperature").analyses
COLUMNS = {"analysis", "model", "group", "perturbation", "temperature", "value", "low", "high", "n"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
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
    analyzed = runner.invoke(app, ["analyze", str(folder / "run")])
    assert analyzed.exit_code == 0, analyzed.output
    return folder


@pytest.fixture(scope="module")
def imported(folder):
    return load_findings(folder / "run").findings


@pytest.mark.parametrize("analysis", CONTEXT_STUDY)
def test_an_imported_file_gets_the_analysis_with_its_columns(imported, analysis):
    rows = [row for row in tidy_rows(imported) if row["analysis"] == analysis and "model" in row]
    assert rows
    for row in rows:
        assert set(row) >= COLUMNS
        assert row["value"] is not None or row["reason"], row


def test_the_harm_that_was_built_in_is_found(imported):
    (degradation,) = (own.result for own in imported.findings if isinstance(own.result, Degradation))
    (loss,) = (
        loss
        for loss in degradation.losses
        if (loss.cell.perturbation, loss.cell.temperature, loss.cell.group) == ("sentence_removal", 0.0, None)
    )
    assert loss.drop.low > 0 and loss.p < 0.05


def test_claims_that_survive_end_the_output_for_programs_with_their_sentences(folder):
    analyzed = json.loads(CliRunner().invoke(app, ["analyze", str(folder / "run"), "--json"]).stdout)
    assert list(analyzed) == ["run", "claims", "undone", "nothing_to_lose", "findings"]
    (removal,) = (
        claim
        for claim in analyzed["claims"]
        if (claim["kind"], claim["cell"]["perturbation"]) == ("evidence", "sentence_removal")
        and (claim["cell"]["temperature"], claim["says"]) == (0.0, "differs")
    )
    assert removal["p"] <= removal["p_adjusted"] < 0.05
    assert removal["estimate"]["low"] > 0
    assert removal["sentence"].startswith("Sentence removal ")
    assert all(claim["sentence"] for claim in analyzed["claims"]), "what is claimed is said"
