from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from made_facts import fact_rows, fact_tables, known, made_curve, made_facts, scan, table_of
from made_page import made_page

from shaketable.analyses.facts.question_types import question_types
from shaketable.report.section import Section
from shaketable.report.sections.question_types import section
from shaketable.types import Curve, Scan


def made(table: pl.DataFrame, curves: Sequence[Curve] = (), strategy: str = "full") -> Section:
    tables = fact_tables(table, curves, scan=Scan(strategy=strategy), n_resamples=99)
    result = question_types(tables)
    return section(result, made_page(tables, result))


def typed(*types: str | None) -> pl.DataFrame:
    return table_of(
        *(fact_rows(f"q{i}", scores=known(0.1), shares=scan(None), type=name) for i, name in enumerate(types))
    )


def test_facts_without_types_are_said_to_have_none() -> None:
    (headline,) = made(typed(*("bridge", None) * 4)).headlines
    assert headline.sentence == "Nothing can be said of types of question: the facts of smollm2 have none."
    assert headline.detail == (
        "Add question_type to the metrics of the study, or give the questions the tag type (n = 8 questions)."
    )


def test_facts_left_out_for_want_of_a_type_are_counted_in_a_caveat() -> None:
    of_types = made(typed(None, None, *["NUM"] * 7))
    assert any(
        caveat.startswith("2 of 9 questions have no type and are left out: their dataset does not name it")
        for caveat in of_types.caveats
    )
    assert of_types.headlines == ()


def test_more_ties_than_places_are_said() -> None:
    assert any("More facts share the highest score" in caveat for caveat in made(typed(*["NUM"] * 9)).caveats)


def test_types_that_are_shown_to_differ_are_named() -> None:
    rows = [fact_rows(f"q{i}", scores=known(0.1), type=("NUM", "HUM")[i % 2]) for i in range(12)]
    curves = [made_curve(f"smollm2/builtin/q{i}/0", (3.0, 1.0)[i % 2]) for i in range(12)]
    (headline,) = made(table_of(*rows), curves, strategy="none").headlines
    assert headline.sentence == (
        "smollm2 holds facts about numbers more firmly (0.821) than facts about people (0.733)."
    )
    assert headline.detail == "Mean robustness scores (n = 6 questions and 6)."
    assert headline.claims[0].is_shown


def test_types_that_are_not_shown_to_differ_are_told_with_what_could_have_been_seen() -> None:
    rows = [fact_rows(f"q{i}", scores=known(i / 24), type=("NUM", "HUM")[i % 2], shares=scan(1.0)) for i in range(24)]
    (headline,) = made(table_of(*rows)).headlines
    assert headline.sentence.startswith(
        "That smollm2 holds facts of one type more firmly than of another is not shown: the difference, numbers less "
        "people, is "
    )
    assert headline.detail.startswith("An effect of ") and not headline.is_clear


def test_the_table_has_a_line_for_each_type() -> None:
    (table,) = made(made_facts(n=24)).tables
    assert [row[:2] for row in table.rows] == [("smollm2", label) for label in ("NUM", "LOC", "ENTY", "HUM")]
    assert all(isinstance(count, int) for row in table.rows for count in row[2:4])


def test_the_picture_has_ratios_and_means() -> None:
    (figure,) = made(made_facts(models=("smollm2", "gpt"), n=24)).figures
    assert {mark.x for mark in figure.marks} == {"number", "place", "entity", "person"}
    assert {mark.unit for mark in figure.marks} == {"share", "score"}
