"""Pictures of rewording, drawn from results on made-up answers, and what their sections have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import polars as pl
import pytest
from drawn import draw
from made_page import made_page
from made_wordings import Compass, several, tables_of

from shaketable.analyses.wording import vectors
from shaketable.analyses.wording.cost_stability import cost_stability
from shaketable.analyses.wording.drift_chain import drift_chain
from shaketable.analyses.wording.outcomes import outcomes
from shaketable.analyses.wording.query_difficulty import query_difficulty
from shaketable.analyses.wording.search_decisions import search_decisions
from shaketable.analyses.wording.trajectories import trajectories
from shaketable.analyses.wording.wording_accuracy import wording_accuracy
from shaketable.report import page
from shaketable.report.drawing import draw_figure
from shaketable.report.section import Figure, Section
from shaketable.report.wording_words import name_way, order_of_way

ANALYSES: tuple[Callable[..., Any], ...] = (
    wording_accuracy,
    cost_stability,
    search_decisions,
    outcomes,
    query_difficulty,
    trajectories,
    drift_chain,
)
FIGURES = (
    *("accuracy_by_wording", "calls_by_wording", "flip_rates", "confidence_by_wording", "outcome_classes"),
    *("query_panels", "drift_by_hop", "gold_by_hop", "chain_correlations"),
)


def make_sections(*methods: str) -> dict[str, Section]:
    """Of what was asked of each of these methods that search, and without a search."""
    trials, searches = several()
    closed_book = [row for row in trials if row["retriever"] is None]
    asked = [row | {"method": method, "key": method + row["key"]} for method in methods for row in trials]
    searched = [searches.with_columns(key=pl.lit(method) + pl.col("key")) for method in methods]
    of_methods = [row for row in asked if row["retriever"] is not None]
    tables = tables_of([*closed_book, *of_methods], searches=pl.concat(searched))
    results = [analysis(tables) for analysis in ANALYSES]
    return {section.name: section for section in page.make_sections(made_page(tables, *results))}


def figures_of(sections: dict[str, Section]) -> dict[str, Figure]:
    return {figure.name: figure for section in sections.values() for figure in section.figures}


@pytest.fixture(scope="module")
def compass() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectors, "encoder", lambda name: Compass())
        yield


@pytest.fixture(scope="module")
def sections(compass: None) -> dict[str, Section]:
    return make_sections("search_o1")


@pytest.fixture(scope="module")
def figures(sections: dict[str, Section]) -> dict[str, Figure]:
    return figures_of(sections)


def test_every_section_has_its_figures(figures: dict[str, Figure]) -> None:
    assert set(figures) == set(FIGURES)


@pytest.mark.parametrize("name", FIGURES)
def test_every_picture_of_wording_names_its_ways_of_asking(name: str, figures: dict[str, Figure]) -> None:
    drawn = draw(figures[name].draw(), name)
    assert {"people", "spelling"} <= set(drawn.texts)
    assert 700 < drawn.width < 1100


def test_long_names_do_not_run_out_of_the_picture(compass: None) -> None:
    figures = figures_of(
        make_sections(*(f"search_o1(max_searches={n}, max_turns=3, k=2, n_examples=2)" for n in "1234"))
    )
    widths = {name: draw(figure.draw(), name).width for name, figure in figures.items()}
    assert set(widths) == set(FIGURES)
    assert max(widths.values()) < 1150, widths


def test_the_numbers_behind_a_picture_are_named_as_its_axes_are(figures: dict[str, Figure]) -> None:
    drawing = draw_figure(figures["flip_rates"])
    assert drawing.table.columns[:4] == ("Dataset", "System", "Compared", "Asked")
    assert drawing.csv.splitlines()[0] == ",".join(drawing.table.columns)


def test_outcomes_of_a_bar_sum_to_one(figures: dict[str, Figure]) -> None:
    for way in ("original", "people", "spelling"):
        values = [mark.value for mark in figures["outcome_classes"].marks if mark.x == way]
        assert sum(value for value in values if value is not None) == pytest.approx(1)


def test_failed_searches_are_those_that_brought_no_supporting_document(figures: dict[str, Figure]) -> None:
    gold = {(mark.series, mark.x): mark for mark in figures["gold_by_hop"].marks}
    failed = [mark for mark in figures["drift_by_hop"].marks if mark.panel == "searches without a supporting document"]
    assert len(failed) == len(gold)
    for mark in failed:
        other = gold[mark.series, mark.x]
        assert mark.value is not None and other.value is not None and mark.low is not None and mark.high is not None
        assert mark.value == pytest.approx(1 - other.value)
        assert mark.low <= mark.value <= mark.high


def test_the_chain_and_the_drift_are_told_of_people_first(sections: dict[str, Section]) -> None:
    (chain,) = sections["drift_chain"].sentences
    assert chain.startswith(
        "No link of the chain from wording to answer is shown for m · search_o1 on squad, rewriting by people. Not "
    )
    (drift,) = sections["trajectories"].sentences
    assert drift.startswith("No rewording is shown to make the queries of m · search_o1 on squad drift")
    assert "Searches without a supporting document: " in drift
    assert sections["query_difficulty"].sentences == ()


def test_a_search_that_mends_and_spoils_is_told_of_the_original_wording(sections: dict[str, Section]) -> None:
    (headline,) = sections["outcomes"].headlines
    assert headline.sentence.startswith("Searching is not shown to mend more of the answers of m · search_o1 on squad")
    assert headline.detail.startswith("It mends ") and " and spoils " in headline.detail
    assert headline.kind == "outcome" and headline.number.endswith(" points")


def test_the_original_stands_first_and_people_second() -> None:
    variations = ["spelling", None, "rewrites(path='/somewhere/r.jsonl')", "formality", "original"]
    assert [name_way(variation) for variation in sorted(variations, key=order_of_way)] == [
        "original",
        "people",
        "formality (more casual)",
        "spelling",
        "all wordings",
    ]
    assert name_way("term_augmentation(n=2)") == "term augmentation (n: 2)"
    assert name_way("human") == "people"
