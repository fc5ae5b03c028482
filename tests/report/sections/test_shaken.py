"""What the page says of a shaken system."""

from __future__ import annotations

import polars as pl
import pytest
from made_page import made_page

from shaketable.analyses.shakes import Shaken
from shaketable.analyses.tables import Tables
from shaketable.analyses.together.shaken import shaken
from shaketable.factors import Cell
from shaketable.report.section import Section
from shaketable.report.sections.shaken import describe_way, format_odds, section
from shaketable.statistics.betting import STAKES


def rows(variation: str, values: list[float | None], repeat: int = 0) -> list[dict[str, object]]:
    place = {"dataset": "csv", "model": "mine", "method": "as_asked", "retriever": None, "perturbation": None}
    return [
        {
            **place,
            "question_id": f"q{i:02d}",
            "variation": variation,
            "temperature": 0.0,
            "repeat": repeat,
            "key": f"{variation} {repeat} {i}",
            "metric": "correct",
            "value": value,
        }
        for i, value in enumerate(values)
    ]


def tables_of(*values: float | None) -> Tables:
    clean = rows("original", [1.0] * len(values)) + rows("original", [1.0] * len(values), repeat=1)
    own = {"value": pl.Float64, "retriever": pl.String, "perturbation": pl.String}
    return Tables(scores=pl.DataFrame(clean + rows("spelling", list(values)), schema_overrides=own))


def told(*values: float | None) -> Section:
    tables = tables_of(*values)
    result = shaken(tables)
    return section(result, made_page(tables, result))


def test_the_worst_case_is_told_with_its_interval_and_its_e_value():
    headline = told(*[0.0] * 20).headlines[0]
    assert headline.sentence.startswith("mine breaks with spelling errors: it loses 100 points [")
    assert headline.detail.startswith("It falls from 100 % to 0 % (n = 20 questions)")
    # Twenty losses make the mean of (1 + stake)^20 over the eleven stakes; 1 / (0.9 · 0.05) is needed.
    won = f"{sum((1 + stake) ** 20 for stake in STAKES) / len(STAKES):,.0f}"
    assert f"at most 1 of {won} runs, whenever one looks; 1 of 22 is asked for." in headline.detail
    assert headline.number == "100 points"


def test_numbers_of_a_row_add_up():
    """17 of 40 stay right: 57.5 points are lost, which whole percents would contradict."""
    result = told(*[1.0] * 17, *[0.0] * 23)
    assert "57.5 points [" in result.headlines[0].sentence
    assert result.headlines[0].detail.startswith("It falls from 100.0 % to 42.5 %")
    assert result.headlines[0].number == "57.5 points"
    [row] = next(table for table in result.tables if table.title == "All that was tried").rows
    assert row[2:4] == ("100.0 %", "42.5 %") and str(row[4]).startswith("57.5 points [")


def test_what_is_not_shown_is_told_with_what_would_have_been():
    result = told(*[1.0] * 18, 0.0, 0.0)
    assert result.headlines[0].sentence == "No weakness of mine is shown."
    assert (
        "Of the one other way to ask, most was lost with spelling errors: a loss of 10 points"
        in result.headlines[0].detail
    )
    assert "would likely have been named there" in result.headlines[0].detail
    assert result.tables[-1].rows[0][6] == "not shown"


def test_where_nothing_could_be_compared_nothing_is_told():
    nothing = section(Shaken(), made_page(tables_of(1.0)))
    assert (nothing.headlines, nothing.figures, nothing.tables) == ((), (), ())


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (Cell(variation="keywords"), "with keywords alone"),
        (Cell(variation="imperative", temperature=1.2), "with imperative, at temperature 1.2"),
        (Cell(perturbation="entity_masking"), "with entity masking in the evidence"),
    ],
)
def test_a_way_to_ask_in_words(cell, words):
    assert describe_way(cell) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [(1.26, "1.3"), (1520.4, "1,520"), (2.31e6, "2.3 million"), (1e40, "more than a billion")],
)
def test_odds_in_words(value, words):
    assert format_odds(value) == words
