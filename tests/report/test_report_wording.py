"""The chapter on wording."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from made_wordings import made, searches, several, trial
from stand_in_run import StandInRun

from shaketable.analyses.wording.run_deviation import run_deviation
from shaketable.analyses.wording.search_decisions import search_decisions
from shaketable.analyses.wording.trajectory_cases import trajectory_cases
from shaketable.analyses.wording.wording_accuracy import wording_accuracy
from shaketable.report.wording_chapter import wording_blocks, wording_figures
from shaketable.stages.report import report
from shaketable.types import OldFinding


@pytest.fixture(scope="module")
def found() -> list[OldFinding]:
    table, records = made(several()[0])
    few: Any = {"n_resamples": 50}
    return [wording_accuracy(table, **few), search_decisions(table, records=records, **few)]


def test_a_table_has_a_line_for_each_way_of_asking_and_a_column_for_each_number(found: list[OldFinding]) -> None:
    blocks = {block.name: block for block in wording_blocks(found)}
    table, losses = blocks["wording_accuracy"].tables
    assert [row["asked"] for row in table.rows if row["system"] == "m · search_o1"] == [
        "original",
        "people",
        "spelling",
    ]
    assert "n_missing" in table.columns
    assert {row["metric"] for row in losses.rows} == {"contains"}
    (decisions,) = blocks["search_decisions"].tables
    assert {"flip_any", "noise_any", "excess_any", "over_confidence"} <= set(decisions.columns)
    original = decisions.rows[0]
    assert original["asked"] == "original" and original["flip_any"] is None and original["act"].endswith("]")


def test_a_figure_stands_under_a_sentence_of_what_it_shows(found: list[OldFinding]) -> None:
    captions = {figure.name: figure.caption for figure in wording_figures(found)}
    assert "changes the decision to search" in captions["flip_rates"]
    assert "leaves out a search that it needs" in captions["confidence_by_wording"]


def test_findings_without_rewording_make_no_chapter() -> None:
    table, records = made([one for one in several()[0] if one["variation"] == "original"])
    plain = [wording_accuracy(table.clear()), search_decisions(table.clear(), records=records.clear())]
    assert wording_figures(plain) == [] and wording_blocks(plain) == []


def test_the_page_has_the_chapter_and_the_folder_its_figures(found: list[OldFinding], tmp_path: Path) -> None:
    page = report(StandInRun(folder=tmp_path, found=found, table=made(several()[0])[0].clear())).read_text("utf-8")
    assert '<section id="wording"' in page
    assert "changes the decision to search" in page
    assert 'href="#search_decisions"' in page
    for name in ("flip_rates", "accuracy_by_wording", "confidence_by_wording"):
        assert (tmp_path / "figures" / f"{name}.png").exists()
    header = (tmp_path / "figures" / "flip_rates.csv").read_text("utf-8").splitlines()[0]
    assert header == "system,panel,asked,series,value,low,high,n"


def test_runs_stand_beside_each_other_as_in_published_tables(tmp_path: Path) -> None:
    """Of 10 questions 6, 7 and 8 are right: 70 ± 10; with spelling 5 in the only run that was made of it."""
    trials = [
        trial(f"q{i}", repeat=r, correct=float(i < right)) for r, right in enumerate((6, 7, 8)) for i in range(10)
    ]
    trials += [trial(f"q{i}", "spelling", correct=float(i < 5)) for i in range(10)]
    (block,) = wording_blocks([run_deviation(made(trials)[0])])
    (line,) = block.tables[0].rows
    assert line == {
        "system": "m",
        "dataset": "squad",
        "original": "70.0 ± 10.0 %",
        "spelling": "50.0 %",
        "n_runs": 3,
    }
    assert list(block.tables[0].columns.values()) == ["System", "Dataset", "original", "spelling", "Runs"]


def test_two_trajectories_stand_side_by_side_on_the_page(tmp_path: Path) -> None:
    before = trial("q1", wording="Who <i>wrote</i> it?", answer="Ann", n_searches=1)
    after = trial("q1", "spelling", wording="Who wrot it?", answer="Bo", correct=0.0, n_searches=2)
    table, records = made([before, after])
    made_ = searches((before, [("wrote it", "ab", True)]), (after, [("wrot it", "cd", False), ("it", "e", None)]))
    finding = trajectory_cases(table, records=records, searches=made_, encoder="not here")
    (block,) = wording_blocks([finding])
    asked, first, second, answer = block.tables[0].rows
    assert (asked["query_original"], asked["query_reworded"]) == ("Who <i>wrote</i> it?", "Who wrot it?")
    assert [first[name] for name in ("hop", "query_original", "query_reworded", "value")] == [
        *(1, "wrote it", "wrot it", None),
    ]
    assert (first["hit_original"], first["hit_reworded"]) == ("found", "not found")
    assert (second["query_original"], second["query_reworded"], second["hit_reworded"]) == (None, "it", "–")
    assert (answer["query_original"], answer["query_reworded"]) == ("Ann (right)", "Bo (wrong)")
    page = report(StandInRun(folder=tmp_path, found=[finding], table=table.clear())).read_text("utf-8")
    assert 'id="trajectory_cases"' in page
    assert "Who &lt;i&gt;wrote&lt;/i&gt; it?" in page
