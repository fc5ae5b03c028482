"""Findings are written and read back in the types that their analyses promise."""

from __future__ import annotations

import dataclasses
import json

import pytest
from made_study import made_study

from shaketable.analyses.evidence.degradation import Degradation, degradation
from shaketable.analyses.tables import Tables
from shaketable.errors import RunError
from shaketable.factors import Cell, System
from shaketable.statistics.intervals import Bootstrap
from shaketable.store.findings_file import SCHEMA, load_findings, tidy_rows, write_findings
from shaketable.store.sealing.files import write_sealed
from shaketable.types import Finding, Findings, LeftOut, NotApplied


@pytest.fixture(scope="module")
def findings() -> Findings:
    tables = Tables(scores=made_study(), bootstrap=Bootstrap(n_resamples=50, confidence=0.9))
    return Findings(
        findings=(
            Finding(analysis="degradation", result=degradation(tables)),
            Finding(
                analysis="degradation(metric='bertscore')",
                result=degradation(tables, metric="bertscore"),
                is_as_asked=True,
            ),
        ),
        main_metric=tables.metric(),
        judging_metric=tables.judging_metric(),
        confidence=0.9,
        n_resamples=50,
        not_applied=(NotApplied(model="a", method="b", reason="the endpoint ignores it"),),
        left_out=(LeftOut(perturbation="entity_masking", n=2, n_asked=9, flags=("nothing_changed",)),),
    )


def test_what_is_written_is_read_back_in_the_same_types(findings, tmp_path):
    write_findings(tmp_path, findings, "digest", ["degradation"])
    stored = load_findings(tmp_path)
    assert stored.findings == findings
    assert (stored.made_from, stored.asked, stored.schema) == ("digest", ("degradation",), SCHEMA)
    first = stored.findings.findings[0].result
    assert isinstance(first, Degradation)
    assert isinstance(first.losses[0].cell, Cell)
    assert isinstance(first.losses[0].cell.system, System)


def test_the_file_is_json_without_a_sentence(findings, tmp_path):
    write_findings(tmp_path, findings, "digest", None)
    content = json.loads((tmp_path / "findings.json").read_text("utf-8"))
    assert content["schema"] == SCHEMA
    assert "lowers" not in json.dumps(content["findings"])


@pytest.mark.parametrize(
    "old", ['[{"analysis": "x", "rows": []}]', '{"made_from": "d", "asked": ["x"], "findings": []}']
)
def test_a_file_of_an_older_version_holds_nothing_and_is_made_anew(old, tmp_path):
    (tmp_path / "findings.json").write_text(old)
    stored = load_findings(tmp_path)
    assert stored.findings is None
    assert stored.made_from == ""


def test_a_result_that_is_not_what_its_analysis_promises_is_named(findings, tmp_path):
    write_findings(tmp_path, findings, "digest", None)
    path = tmp_path / "findings.json"
    write_sealed(path, path.read_text("utf-8").replace('"losses"', '"losers"'))
    with pytest.raises(RunError, match=r"does not hold what its analyses promise.*shaketable analyze"):
        load_findings(tmp_path)


def test_results_of_an_analysis_that_is_not_installed_are_named(findings, tmp_path):
    write_findings(tmp_path, findings, "digest", None)
    path = tmp_path / "findings.json"
    write_sealed(path, path.read_text("utf-8").replace('"analysis": "degradation"', '"analysis": "degradatoin"'))
    with pytest.raises(Exception, match="Did you mean 'degradation'"):
        load_findings(tmp_path)


def test_tidy_rows_have_the_factors_the_first_estimate_and_everything_else(findings):
    rows = tidy_rows(findings)
    losses = findings.findings[0].result.losses
    assert len(rows) == 2 * len(losses)
    row, loss = rows[0], losses[0]
    assert (row["analysis"], row["as_asked"], row["table"]) == ("degradation", False, "losses")
    assert row["model"] == loss.cell.system.model
    assert (row["perturbation"], row["temperature"]) == (loss.cell.perturbation, loss.cell.temperature)
    assert {name: row[name] for name in ("value", "low", "high", "n", "unit", "level")} == {
        name: getattr(loss.drop, name) for name in ("value", "low", "high", "n", "unit", "level")
    }
    assert (row["p"], row["shift"], row["shift_low"]) == (loss.p, loss.shift.value, loss.shift.low)
    assert not any(dataclasses.is_dataclass(value) for value in row.values())
