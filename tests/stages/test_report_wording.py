"""The chapter on wording."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from made_wordings import made, several
from stand_in_run import StandInRun

from shaketable.analyses.search_decisions import search_decisions
from shaketable.analyses.wording_accuracy import wording_accuracy
from shaketable.stages.report import report
from shaketable.stages.report_wording import wording_blocks, wording_figures
from shaketable.types import Finding


@pytest.fixture(scope="module")
def found() -> list[Finding]:
    table, records = made(several()[0])
    few: Any = {"n_resamples": 50}
    return [wording_accuracy(table, **few), search_decisions(table, records=records, **few)]


def test_a_table_has_a_line_for_each_way_of_asking_and_a_column_for_each_number(found: list[Finding]) -> None:
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


def test_a_figure_stands_under_a_sentence_of_what_it_shows(found: list[Finding]) -> None:
    captions = {figure.name: figure.caption for figure in wording_figures(found)}
    assert "changes the decision to search" in captions["flip_rates"]
    assert "leaves out a search that it needs" in captions["confidence_by_wording"]


def test_findings_without_rewording_make_no_chapter() -> None:
    table, records = made([one for one in several()[0] if one["variation"] == "original"])
    plain = [wording_accuracy(table.clear()), search_decisions(table.clear(), records=records.clear())]
    assert wording_figures(plain) == [] and wording_blocks(plain) == []


def test_the_page_has_the_chapter_and_the_folder_its_figures(found: list[Finding], tmp_path: Path) -> None:
    page = report(StandInRun(folder=tmp_path, found=found, table=made(several()[0])[0].clear())).read_text("utf-8")
    assert '<section id="wording"' in page
    assert "changes the decision to search" in page
    assert 'href="#search_decisions"' in page
    for name in ("flip_rates", "accuracy_by_wording", "confidence_by_wording"):
        assert (tmp_path / "figures" / f"{name}.png").exists()
    header = (tmp_path / "figures" / "flip_rates.csv").read_text("utf-8").splitlines()[0]
    assert header == "system,panel,asked,series,value,low,high,n"
