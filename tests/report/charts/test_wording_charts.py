"""Pictures of rewording, drawn from findings on made-up answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from made_wordings import Compass, made, several

from shaketable.analyses.wording import vectors
from shaketable.analyses.wording.cost_stability import cost_stability
from shaketable.analyses.wording.drift_chain import drift_chain
from shaketable.analyses.wording.outcomes import outcomes
from shaketable.analyses.wording.query_difficulty import query_difficulty
from shaketable.analyses.wording.search_decisions import search_decisions
from shaketable.analyses.wording.trajectories import trajectories
from shaketable.analyses.wording.wording_accuracy import wording_accuracy
from shaketable.catalog import find
from shaketable.report.charts.drawing import draw_svg
from shaketable.report.charts.drift_by_hop import drift_rows
from shaketable.report.charts.outcome_classes import outcome_rows
from shaketable.report.charts.wording_panels import asked, in_order
from shaketable.types import OldFinding

OF = {
    "accuracy_by_wording": "wording_accuracy",
    "flip_rates": "search_decisions",
    "confidence_by_wording": "search_decisions",
    "query_panels": "query_difficulty",
    "drift_by_hop": "trajectories",
    "chain_correlations": "drift_chain",
    "gold_by_hop": "trajectories",
    "outcome_classes": "outcomes",
    "calls_by_wording": "cost_stability",
}


@pytest.fixture(scope="module")
def found() -> dict[str, OldFinding]:
    trials, searches = several()
    table, records = made(trials)
    few: dict[str, Any] = {"n_resamples": 50, "records": records}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectors, "encoder", lambda name: Compass())
        findings = [
            wording_accuracy(table, n_resamples=50),
            cost_stability(table, **few),
            search_decisions(table, **few),
            outcomes(table, **few),
            query_difficulty(table, **few),
            trajectories(table, searches=searches, **few),
            drift_chain(table, searches=searches, **few),
        ]
    return {finding.analysis: finding for finding in findings}


@pytest.mark.parametrize("name", OF)
def test_every_chart_of_wording_names_its_ways_of_asking(name: str, found: dict[str, OldFinding]) -> None:
    svg = draw_svg(find("chart", name)(found[OF[name]]), name)
    assert svg.startswith("<svg")
    assert ">people<" in svg and ">spelling<" in svg
    width = float(svg.split('width="')[1].split('"')[0])
    assert 700 < width < 1100


@pytest.mark.parametrize("name", OF)
def test_long_names_do_not_run_out_of_the_picture(name: str, found: dict[str, OldFinding]) -> None:
    finding = found[OF[name]]
    methods = [f"search_o1(max_searches={n}, max_turns=3, k=2, n_examples=2)" for n in range(4)]
    rows = tuple({**row, "system": f"smollm2 · {method}"} for method in methods for row in finding.rows)
    svg = draw_svg(find("chart", name)(replace(finding, rows=rows)), name)
    assert float(svg.split('width="')[1].split('"')[0]) < 1150


def test_outcomes_of_a_bar_sum_to_one(found: dict[str, OldFinding]) -> None:
    rows = outcome_rows(found["outcomes"])
    for name in ("original", "people", "spelling"):
        assert sum(row["value"] for row in rows if row["asked"] == name) == pytest.approx(1)


def test_failed_searches_are_those_that_brought_no_supporting_document(found: dict[str, OldFinding]) -> None:
    drawn = {(row["asked"], row["hop"]): row for row in drift_rows(found["trajectories"]) if row["metric"] == "gold"}
    gold = [row for row in found["trajectories"].rows if row["metric"] == "gold"]
    assert gold
    for row in gold:
        shown = drawn[asked(str(row["variation"])), row["hop"]]
        assert shown["value"] == pytest.approx(1 - float(str(row["value"])))
        assert shown["low"] <= shown["value"] <= shown["high"]


def test_the_original_stands_first_and_people_second() -> None:
    names = ["spelling", "all wordings", "people", "formality", "original"]
    assert in_order([{"asked": name} for name in names], "asked") == [
        "original",
        "people",
        "formality",
        "spelling",
        "all wordings",
    ]
    assert asked("rewrites(path='/somewhere/r.jsonl')") == "people"
    assert asked("term_augmentation(n=2)") == "term augmentation(n=2)"
    assert asked(None) == "all wordings"
