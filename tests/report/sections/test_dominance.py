from __future__ import annotations

import polars as pl
from few_resamples import few_tables
from made_page import made_page
from made_study import made_study

from shaketable.analyses.evidence.dominance import dominance
from shaketable.report.section import Section
from shaketable.report.sections.dominance import section


def section_of(table: pl.DataFrame) -> Section:
    tables = few_tables(table)
    result = dominance(tables)
    return section(result, made_page(tables, result))


def test_what_moves_the_score_more_is_named_with_both_shares() -> None:
    made = section_of(made_study(steepness=0.0, costs={"unchanged": 0.0, "noise": 0.2}, temperatures=(0.0, 1.0, 2.0)))
    headline = made.headlines[0]
    assert headline.sentence == "Evidence moves the bertscore of smollm2 more than temperature does."
    assert headline.detail.startswith("Partial epsilon squared ") and headline.detail.endswith("(n = 20 questions).")
    assert headline.number.startswith("−0.") and headline.interval.startswith("[−") and headline.is_clear


def test_the_spread_has_a_sentence_of_its_own() -> None:
    made = section_of(made_study(steepness=0.5, costs={"unchanged": 0.0, "noise": 0.002}, temperatures=(0.0, 1.0, 2.0)))
    assert made.sentences[0].startswith("Temperature moves the bertscore of smollm2 more than evidence does.")
    assert any("spread between runs (CV) of the bertscore of smollm2" in text for text in made.sentences)


def test_what_is_undecided_is_no_claim() -> None:
    made = section_of(made_study(steepness=0.0, costs={"unchanged": 0.0, "noise": 0.0}, temperatures=(0.0, 1.0)))
    text = "Whether temperature or evidence moves the bertscore of smollm2 more is undecided."
    assert (made.headlines[0].sentence, made.headlines[0].is_clear) == (text, False)
    assert "or more would likely have been seen" in made.headlines[0].detail
    assert made.tables[0].rows[0][2] == "undecided"


def test_the_table_has_a_line_for_all_questions_and_each_type() -> None:
    (table,) = section_of(made_study(temperatures=(0.0, 1.0))).tables
    assert table.title == "Partial epsilon squared: bertscore"
    assert table.columns[:3] == ("System", "Of", "Moves it more")
    places = ("smollm2", "smollm2 · bridge", "smollm2 · comparison")
    assert [row[:2] for row in table.rows] == [(place, of) for of in ("mean", "CV over runs") for place in places]
    assert {row[2] for row in table.rows[1:3]} == {None}  # Types are explored, and get no verdict.


def test_where_nothing_varies_there_is_no_sentence_and_the_table_says_why() -> None:
    made = section_of(made_study(temperatures=(0.0, 1.0)).with_columns(value=pl.lit(0.5)))
    assert made.headlines == ()
    assert {row[2] for row in made.tables[0].rows} == {"nothing varies"}
