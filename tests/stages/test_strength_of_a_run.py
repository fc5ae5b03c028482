"""The strength of wordings goes from their making to the page; runs without it are told so."""

from __future__ import annotations

import dataclasses
import json
import sqlite3

import pytest
from made_studies import small_study

from shaketable.analyses.wording.strengths import NOT_MEASURED
from shaketable.stages.analyze import analyze
from shaketable.stages.report import report
from shaketable.stages.run import run
from shaketable.store import Run
from shaketable.store.findings_file import tidy_rows
from shaketable.types import STRENGTH

VARIATIONS = ["original", "spelling", "prefix_injection(prefixes=('Quick question:',))"]


@pytest.fixture
def made(tmp_path) -> Run:
    crossed = {"models": ["scripted"], "methods": ["closed_book"], "temperatures": [0.0], "repeats": 1}
    study = small_study(tmp_path, 4, variations=VARIATIONS, **crossed)
    study = dataclasses.replace(study, metrics=("contains",), analyses=("wording_strength",))
    return run(study, tmp_path / "run")


def test_strength_reaches_findings_and_exports(made):
    findings = analyze(made)
    (finding,) = findings.findings
    assert finding.failure is None and finding.result.reason is None
    rows = [row for row in tidy_rows(findings) if row["table"] == "means" and row["number"] == "terms_kept"]
    kept = {row["variation"]: row["value"] for row in rows}
    assert kept[VARIATIONS[2]] == 1.0 and kept["spelling"] < 1.0
    assert made.findings() == findings
    assert "How strong the rewordings are" in report(made).read_text("utf-8")


def test_a_run_made_before_is_read_analyzed_and_reported(made):
    with sqlite3.connect(made.folder / "records.sqlite") as connection:
        for row, provenance in connection.execute("SELECT id, provenance FROM variants").fetchall():
            told = {name: value for name, value in json.loads(provenance).items() if name != STRENGTH}
            connection.execute("UPDATE variants SET provenance = ? WHERE id = ?", (json.dumps(told), row))
    old = Run(made.folder)
    (finding,) = analyze(old).findings
    assert finding.failure is None and finding.result.reason == NOT_MEASURED
    page = report(old).read_text("utf-8")
    assert "Strength was not measured: the wordings were made before" in page
