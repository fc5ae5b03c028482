from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from made_facts import GRID, fact_rows, fact_tables, known, made_curve, made_facts, scan, table_of
from made_page import made_page

from shaketable.analyses.facts.fact_accuracy import fact_accuracy
from shaketable.report.section import Section
from shaketable.report.sections.fact_accuracy import section
from shaketable.types import Curve, Scan


def made(table: pl.DataFrame, curves: Sequence[Curve] = (), **settings: str) -> Section:
    tables = fact_tables(table, curves, scan=Scan(**settings))
    return section(fact_accuracy(tables), made_page(tables))


LEFT_EARLY = table_of(
    fact_rows("q1", scores=known(0.1), shares={0.2: 1.0, 0.4: 1.0}),
    fact_rows("q2", scores=known(0.1), shares={0.2: 0.0}),
)


def test_what_is_left_when_hottest_is_said_of_each_system() -> None:
    breakings = (0.6, 1.0, 1.0, None)
    of_facts = made(
        table_of(*(fact_rows(f"q{i}", scores=known(0.1), shares=scan(at)) for i, at in enumerate(breakings)))
    )
    (headline,) = of_facts.headlines
    assert headline.sentence == "At temperature 2 smollm2 still gives 25 % [0, 75] of the facts it knows."
    assert headline.detail == "All were right at temperature 0 (n = 4 questions)."
    assert of_facts.sentences == ()  # They stand under the picture.
    assert of_facts.figures[0].caption == headline.text


def test_a_scan_that_left_broken_facts_claims_nothing_and_warns() -> None:
    of_facts = made(LEFT_EARLY)
    assert of_facts.headlines == ()
    assert any("accuracy is too high" in caveat for caveat in of_facts.caveats)


def test_the_picture_leaves_out_temperatures_at_which_the_scan_had_stopped() -> None:
    assert [mark.x for mark in made(LEFT_EARLY).figures[0].marks] == [0.0, 0.2]


def test_the_picture_draws_curves_only_where_nothing_was_sampled() -> None:
    table = table_of(
        fact_rows("q", scores=known(0.1), shares=scan(1.0), model="a"), fact_rows("q", scores=known(0.1), model="b")
    )
    curves = [made_curve(f"{model}/builtin/q/0", 1.5) for model in "ab"]
    (figure,) = made(table, curves, strategy="none").figures
    drawn = {name: [mark.x for mark in figure.marks if mark.series == name] for name in "ab"}
    assert drawn == {"a": [0.0, *GRID], "b": list(curves[0].temperatures)}


def test_panels_are_datasets_and_all_of_them_last() -> None:
    (figure,) = made(made_facts(datasets=("triviaqa", "squad"), models=("smollm2", "gpt"), n=6)).figures
    assert list(dict.fromkeys(mark.panel for mark in figure.marks)) == ["squad", "triviaqa", "all datasets"]
    assert list(dict.fromkeys(mark.series for mark in figure.marks)) == ["gpt", "smollm2"]
    svg = str(figure.draw().to_dict())
    assert "Correct answers" in svg
