from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import made_records
import polars as pl
from made_facts import fact_rows, fact_tables, known, made_curve, made_facts, scan, table_of
from made_page import made_page

from shaketable.analyses.facts.weakest_facts import weakest_facts
from shaketable.report.section import Page, Section
from shaketable.report.sections.weakest_facts import section
from shaketable.types import Completion, Curve, Event, Generate, Message, Record

WRONG = ({"text": "Lyon", "probability": 0.3, "temperature": 0.7},)


def read_records(keys: Sequence[str]) -> list[Record]:
    """Every key asked for has a record that answered `New York` in two tokens."""
    completion = Completion(
        text="New York", finish_reason="length", n_prompt_tokens=1, n_tokens=2, seconds=0.0, tokens=("New", " York")
    )
    trace = (Event(step=Generate(messages=(Message(role="user", content="?"),)), reply=completion),)
    return [replace(made_records.record("New York", key=key), trace=trace) for key in keys]


def made(table: pl.DataFrame, curves: Sequence[Curve] = (), *, has_records: bool = False, **settings: int) -> Section:
    tables = fact_tables(table, curves)
    page: Page = made_page(tables)
    return section(weakest_facts(tables, **settings), replace(page, read_records=read_records) if has_records else page)


def test_the_weakest_fact_is_named_with_its_breaking_temperature() -> None:
    breakings = {"late": 1.8, "early": 0.4, "middle": 1.0, "held": None}
    of_facts = made(table_of(*(fact_rows(id, scores=known(0.1), shares=scan(at)) for id, at in breakings.items())))
    assert [headline.text for headline in of_facts.headlines] == [
        "The weakest fact that smollm2 knows is question early: it breaks at temperature 0.400. "
        "It has the lowest robustness score of 4 known facts.",
    ]
    assert "Without curves the token that breaks first is not known." in of_facts.caveats
    assert of_facts.figures == ()


def test_a_curve_adds_the_token_and_the_likeliest_wrong_answer() -> None:
    table = table_of(fact_rows("q", scores=known(0.1), shares=scan(1.0)))
    curve = made_curve("smollm2/builtin/q/0", 0.73, position_losses=(0.05, 0.4, 0.1), wrong=WRONG)
    (headline,) = made(table, [curve]).headlines
    assert headline.sentence.endswith("it breaks at temperature 0.730, at token 2 of its answer.")
    assert headline.detail.endswith(" Its likeliest wrong answer there is “Lyon”.")


TABLE = made_facts(models=("smollm2", "gpt"), datasets=("squad", "triviaqa"), n=20)
CURVES = [
    made_curve(key, 1.5, position_losses=(0.1, 0.4), wrong=({"text": "<b>Lyon</b>", "probability": 0.2},))
    for key in TABLE.filter(metric="entropy")["key"]
]


def test_the_table_names_the_token_that_breaks_first() -> None:
    (table,) = made(TABLE, CURVES, has_records=True, n=2).tables
    assert len(table.rows) == 4
    assert {(row[1], row[2], row[4], row[5]) for row in table.rows} == {
        ("Who did it?", "New York", "2: “York”", "<b>Lyon</b>")
    }


def test_without_the_record_the_question_is_told_by_its_id() -> None:
    (table,) = made(TABLE, CURVES, n=1).tables
    assert {row[2] for row in table.rows} == {""}
    assert all(str(row[1]).startswith("q0") for row in table.rows)


def test_each_curve_has_a_panel_and_is_marked_where_it_breaks() -> None:
    (figure,) = made(TABLE, CURVES, n_curves=2).figures
    panels = list(dict.fromkeys(mark.panel for mark in figure.marks))
    assert len(panels) == 4
    assert {panel.split(" · ")[0] for panel in panels} == {"smollm2", "gpt"}
    drawn = str(figure.draw().to_dict())
    assert drawn.count("'guide': 'break', 'at': 1.5") == 4


def test_bounds_are_drawn_where_no_estimate_is_known() -> None:
    table = table_of(fact_rows("q", scores=known(0.1), shares=scan(1.0)))
    half_known = made_curve("smollm2/builtin/q/0", 0.73)
    half_known = replace(half_known, value=(*half_known.value[:20], *[None] * 20))
    (figure,) = made(table, [half_known]).figures
    (rows,) = figure.draw().to_dict()["datasets"].values()
    assert sum("at_least" in row for row in rows) == 40
