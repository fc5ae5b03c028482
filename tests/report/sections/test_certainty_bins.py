from __future__ import annotations

import polars as pl
import pytest
from made_facts import fact_tables, made_certainties, made_facts
from made_page import made_page

from shaketable.analyses.facts.certainty_bins import certainty_bins
from shaketable.report.section import Section
from shaketable.report.sections.certainty_bins import section


def made(table: pl.DataFrame) -> Section:
    tables = fact_tables(table, n_resamples=50)
    return section(certainty_bins(tables), made_page(tables))


def test_the_hottest_answers_that_are_certain_and_wrong_are_told() -> None:
    (headline,) = made(made_certainties([0.95, 0.35, 0.92, 0.05])).headlines
    assert headline.sentence == (
        "Of the answers that smollm2 gives at temperature 1 with a certainty of 0.9 or more, 50 % are wrong."
    )
    assert headline.detail == "Dataset builtin, 4 answers in all (n = 1 question)."


def test_without_certain_answers_nothing_is_said_of_them() -> None:
    assert made(made_certainties([0.5, 0.4])).headlines == ()


def test_bars_stand_at_a_few_temperatures_and_add_up() -> None:
    (figure,) = made(made_facts(models=("smollm2", "gpt"), datasets=("squad", "triviaqa"), n=8)).figures
    panels = list(dict.fromkeys(mark.panel for mark in figure.marks))
    assert (panels[0], panels[-1], len(panels)) == ("temperature 0", "temperature 2", 4)
    rows = list(dict.fromkeys(mark.row for mark in figure.marks))
    assert rows == ["gpt · squad", "gpt · triviaqa", "smollm2 · squad", "smollm2 · triviaqa"]
    for row in rows:
        for panel in panels:
            here = [mark.value or 0.0 for mark in figure.marks if (mark.row, mark.panel) == (row, panel)]
            assert sum(here) == pytest.approx(1)
