"""The chapter on everything shaken at once."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from stand_in_run import StandInRun
from stand_in_run import score_table as evidence_table

from shaketable.analyses.evidence.correctness import correctness
from shaketable.analyses.together.context_reliance import context_reliance
from shaketable.analyses.together.variance_shares import variance_shares
from shaketable.report.cards import draw_cards
from shaketable.report.charts.correctness_surface import surface_rows
from shaketable.report.charts.reliance_by_temperature import reliance_rows
from shaketable.report.charts.variance_bar import share_rows
from shaketable.report.together_chapter import together_blocks, together_figures
from shaketable.stages.report import report
from shaketable.types import OldFinding

FEW: Any = {"n_resamples": 50}


def joint_table(*, closed_book: bool = True) -> pl.DataFrame:
    """12 questions, two wordings, two kinds of evidence and closed book, three temperatures, three runs."""
    dice = random.Random(5)
    evidence: list[tuple[str, str | None, float]] = [
        ("single_retrieval", "unchanged", 0.95),
        ("single_retrieval", "sentence_removal", 0.4),
    ]
    evidence += [("closed_book", None, 0.3)] if closed_book else []
    rows = [
        {
            "key": f"{question}/{method}/{perturbation}/{variation}/{temperature}/{repeat}",
            "dataset": "builtin",
            "question_id": f"q{question:02}",
            "type": None,
            "n_facts": 2,
            "model": "smollm2",
            "method": method,
            "retriever": "gold" if perturbation else None,
            "perturbation": perturbation,
            "variation": variation,
            "temperature": temperature,
            "repeat": repeat,
            "metric": "contains",
            "value": float(dice.random() < right * (1 - 0.4 * temperature)),
            "reason": None,
        }
        for question, (method, perturbation, right), variation, temperature, repeat in itertools.product(
            range(12), evidence, ("original", "spelling"), (0.0, 0.5, 1.5), range(3)
        )
    ]
    types = {"type": pl.String, "retriever": pl.String, "perturbation": pl.String, "reason": pl.String}
    return pl.DataFrame(rows, schema_overrides=types)


@pytest.fixture(scope="module")
def found() -> list[OldFinding]:
    table = joint_table()
    return [variance_shares(table, **FEW), context_reliance(table, **FEW), correctness(table, **FEW)]


def test_the_page_has_the_chapter_its_card_and_its_figures(found: list[OldFinding], tmp_path: Path) -> None:
    page = report(StandInRun(folder=tmp_path, found=found, table=joint_table().clear())).read_text("utf-8")
    assert '<section id="together"' in page and '<a href="#together">Together</a>' in page
    assert 'href="#variance_bar"' in page and 'href="#reliance_by_temperature"' in page
    for name in ("variance_bar", "correctness_surface", "reliance_by_temperature"):
        assert (tmp_path / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        header, *lines = (tmp_path / "figures" / f"{name}.csv").read_text("utf-8").splitlines()
        assert header.endswith("value,low,high,n") and lines


def test_a_figure_says_what_it_shows_and_of_how_many_questions(found: list[OldFinding]) -> None:
    for figure in together_figures(found):
        assert figure.caption.endswith(".")
        assert "n = 12 questions." in figure.note
        assert len(figure.rows) == figure.csv.count("\n") - 1


def test_the_bar_is_filled_by_the_shares_in_their_order(found: list[OldFinding]) -> None:
    rows = share_rows(found[0])
    assert [row["effect"] for row in rows] == [
        "temperature",
        "evidence",
        "wording",
        "interactions",
        "question",
        "by question",
        "sampling",
    ]
    assert rows[0]["start"] == 0
    for before, after in itertools.pairwise(rows):
        assert after["start"] == before["end"]
    for row in rows:
        assert row["end"] - row["start"] == pytest.approx(max(row["value"], 0))


def test_the_surface_has_a_box_for_every_setting_of_those_that_search(found: list[OldFinding]) -> None:
    rows = surface_rows(found[2], "contains")
    assert len(rows) == 2 * 2 * 3
    assert {row["evidence"] for row in rows} == {"unchanged", "sentence removal"}
    assert rows[0]["asked"] == "original" and rows[0]["evidence"] == "unchanged"


def test_reliance_is_not_drawn_where_evidence_brings_nothing(found: list[OldFinding]) -> None:
    drawn = {row["temperature"] for row in reliance_rows(found[1])}
    floored = {row["temperature"] for row in found[1].rows if row["is_floored"]}
    assert drawn and not drawn & floored


def test_the_card_tells_the_share_with_its_interval(found: list[OldFinding]) -> None:
    cards, _ = draw_cards(found, {"variance_bar"})
    (card,) = [card for card in cards if card.kicker == "Together · smollm2"]
    assert card.number.endswith("%") and card.interval.startswith("[")
    assert "of the variation in correctness" in card.sentence
    assert card.link == "variance_bar"


def test_tables_have_every_share_and_the_three_means(found: list[OldFinding]) -> None:
    shares, reliance = together_blocks(found)
    whole, pieces = shares.tables
    assert len(whole.rows) == 7 and pieces.is_folded
    assert {row["effect"] for row in pieces.rows} >= {"temperature × evidence", "three or more together"}
    (table,) = reliance.tables
    assert {"original", "disturbed", "closed_book", "reliance", "n_missing"} <= set(table.columns)
    assert len(table.rows) == 3


def test_a_run_that_supports_nothing_of_it_has_no_chapter(tmp_path: Path) -> None:
    plain = evidence_table(4).filter((pl.col("temperature") == 0) & (pl.col("perturbation") == "unchanged"))
    plain = plain.filter(model="smollm2")
    findings = [variance_shares(plain, **FEW), context_reliance(plain, **FEW), correctness(plain, **FEW)]
    assert together_figures(findings) == [] and together_blocks(findings) == []
    page = report(StandInRun(folder=tmp_path, found=findings)).read_text("utf-8")
    assert 'id="together"' not in page and "#together" not in page


def test_without_closed_book_there_is_no_reliance_and_the_rest_stays() -> None:
    table = joint_table(closed_book=False)
    findings = [variance_shares(table, **FEW), context_reliance(table, **FEW), correctness(table, **FEW)]
    assert [figure.name for figure in together_figures(findings)] == ["variance_bar", "correctness_surface"]
    assert [block.name for block in together_blocks(findings)] == ["variance_shares"]
