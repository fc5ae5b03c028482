"""Answers made elsewhere get the analyses of a joint study, without any model."""

import itertools
import json
import random

import pytest
from typer.testing import CliRunner

from shaketable.cli.app import app


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """Disturbed evidence is as bad as none, heat takes most, and wording changes nothing."""
    folder, rng = tmp_path_factory.mktemp("imported"), random.Random(5)
    ways = (("rag", "unchanged", 1.0), ("rag", "sentence_removal", 0.4), ("closed_book", None, 0.4))
    rows = [
        {
            "question_id": f"q{i}", "question": f"Where is number {i}?", "gold": ["Rome"], "model": "theirs",
            "method": method, "retriever": "theirs" if perturbation else None, "perturbation": perturbation,
            "variation": variation, "wording": f"Where is number {i}? ({variation})", "temperature": temperature,
            "repeat": repeat, "answer": "Rome" if rng.random() < right * (1 - temperature / 2) else "Oslo",
        }
        for i, (method, perturbation, right), variation, temperature, repeat in itertools.product(
            range(20), ways, ("original", "spelling"), (0.0, 0.5, 1.6), range(3)
        )
    ]  # fmt: skip
    (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, rows)))
    runner = CliRunner()
    made = runner.invoke(app, ["import", str(folder / "answers.jsonl"), "--out", str(folder / "run")])
    assert made.exit_code == 0, made.output
    asked = ("variance_shares", "context_reliance")
    analyzed = runner.invoke(app, ["analyze", str(folder / "run"), *(w for a in asked for w in ("--analysis", a))])
    assert analyzed.exit_code == 0, analyzed.output
    return json.loads((folder / "run" / "findings.json").read_text("utf-8"))["findings"]


@pytest.mark.slow
def test_heat_and_evidence_explain_and_wording_does_not(imported):
    shares, reliance = (finding["result"] for finding in imported)
    settings = {share["settings"][0]: share["share"] for share in shares["shares"] if share["kind"] == "setting"}
    assert settings["temperature"]["low"] > 0 and settings["evidence"]["low"] > 0
    assert settings["wording"]["low"] < 0 < settings["wording"]["high"]
    assert [(split["n"], split["n_settings"]) for split in shares["splits"]] == [(20, 12)]
    cool = next(own["reliance"] for own in reliance["reliances"] if own["cell"]["temperature"] == 0)
    assert cool["low"] < 1 < cool["high"]
