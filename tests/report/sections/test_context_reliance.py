from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
from drawn import draw
from few_resamples import few_tables
from joint_study import joint_study
from made_page import made_page
from score_rows import score_rows

from shaketable.analyses.together.context_reliance import context_reliance
from shaketable.report.section import Section
from shaketable.report.sections.context_reliance import section


def section_of(table: pl.DataFrame) -> Section:
    tables = few_tables(table)
    result = context_reliance(tables)
    return section(result, made_page(tables, result))


def sentence(*sides: Sequence[float]) -> str:
    """With original and disturbed evidence and closed book."""
    ways: tuple[dict[str, Any], ...] = (
        {},
        {"perturbation": "sentence_removal"},
        {"method": "closed_book", "retriever": None, "perturbation": None},
    )
    table = pl.concat(
        [
            score_rows({f"q{i}": (value,) for i, value in enumerate(side)}, metric="contains", **way)
            for side, way in zip(sides, ways, strict=True)
        ]
    )
    (headline,) = section_of(table).headlines
    return headline.sentence


def test_sentences_say_no_more_than_the_tests() -> None:
    """Of ten questions: nothing is claimed of fewer than eight."""
    name = "smollm2 · single_retrieval"
    assert sentence([1] * 10, [0] * 10, [0.5] * 10) == (
        f"Sentence removal misleads {name} at temperature 0: it answers worse than without any evidence."
    )
    assert sentence([1] * 10, [0] * 10, [0] * 10) == (
        f"Sentence removal takes 100 % [73, 127] of what evidence brings {name} at temperature 0."
    )
    nothing = f"Evidence is not confirmed to help {name} at temperature 0"
    assert sentence([1] * 10, [0] * 10, [1] * 10).startswith(nothing)
    assert sentence([1] * 9 + [0], [1] * 10, [0] * 10).startswith("No disturbance is shown to take from")
    assert sentence([1] * 4, [0] * 4, [0] * 4).startswith(f"{nothing} (4 questions are too few")


def test_the_card_has_the_three_means_and_the_line_over_temperatures() -> None:
    (headline,) = section_of(joint_study()).headlines
    assert headline.detail.startswith("Correctness: with original evidence ")
    assert ", closed book " in headline.detail and headline.detail.endswith("(n = 12 questions).")
    assert [point.temperature for point in headline.spark] == [0.0, 0.5, 1.5]
    assert headline.is_clear and headline.links == ("reliance_by_temperature",)


def test_reliance_is_not_drawn_where_evidence_brings_nothing() -> None:
    hot = pl.col("temperature") == 1.5
    made = section_of(joint_study().with_columns(value=pl.when(hot).then(0.0).otherwise("value")))
    (figure,) = made.figures
    assert {mark.x for mark in figure.marks} == {0.0, 0.5}
    assert "Where evidence brings less than that, the ratio says little about reliance." in made.caveats
    assert {"ignored", "as closed book"} <= set(draw(figure.draw()).texts)


def test_the_table_has_the_three_means_at_every_temperature() -> None:
    (table,) = section_of(joint_study()).tables
    assert table.columns[3:7] == ("Reliance", "Original", "Disturbed", "Closed book")
    assert [row[2] for row in table.rows] == ["0", "0.5", "1.5"]
    assert all(str(row[4]).endswith(" %") for row in table.rows)


def test_without_closed_book_there_is_nothing_to_tell() -> None:
    made = section_of(joint_study(closed_book=False))
    assert (made.headlines, made.figures, made.tables, made.caveats) == ((), (), (), ())
