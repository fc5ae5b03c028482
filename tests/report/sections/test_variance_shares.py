from __future__ import annotations

import itertools

import polars as pl
import pytest
from drawn import draw
from few_resamples import few_tables
from joint_study import joint_study
from made_page import made_page
from score_rows import score_rows

from shaketable.analyses.together.variance_shares import variance_shares
from shaketable.report.section import Section
from shaketable.report.sections.variance_shares import section

NAMES = [
    *("temperature", "evidence", "wording", "interactions", "question", "settings, by question", "sampling noise"),
]


def section_of(table: pl.DataFrame) -> Section:
    tables = few_tables(table)
    result = variance_shares(tables)
    return section(result, made_page(tables, result))


def heated(hot: float) -> pl.DataFrame:
    """All right when cool, this much when hot, whatever the evidence."""
    return pl.concat(
        [
            score_rows(
                {f"q{i}": (value, value) for i in range(12)},
                temperature=temperature,
                perturbation=perturbation,
                metric="contains",
            )
            for temperature, value in ((0.0, 1.0), (1.0, hot))
            for perturbation in ("unchanged", "sentence_removal")
        ]
    )


def test_the_setting_that_explains_most_is_told_with_its_interval() -> None:
    (headline,) = section_of(heated(0.0)).headlines
    assert headline.sentence == (
        "Temperature explains 100 % of the variation in correctness; of evidence no share is shown."
    )
    assert (headline.number, headline.interval, headline.is_clear) == ("100 %", "", True)
    assert headline.system == "smollm2" and headline.links == ("variance_bar",)


def test_the_rest_is_told_and_methods_that_do_not_search_are_named() -> None:
    (headline,) = section_of(joint_study()).headlines
    assert headline.detail.startswith("The rest: settings together ")
    assert "; which question is asked " in headline.detail and "; sampling noise at one setting " in headline.detail
    assert headline.detail.endswith("(n = 12 questions, 12 settings; closed book not in it).")


def test_of_few_questions_no_setting_is_claimed_to_explain_anything() -> None:
    (headline,) = section_of(heated(0.0).filter(pl.col("question_id").is_in(["q0", "q1", "q2"]))).headlines
    assert headline.sentence.startswith("No setting is shown to explain any of the variation in correctness: ")
    assert "too few to claim anything" in headline.sentence and not headline.is_clear


def test_dice_alone_are_no_claim() -> None:
    table = joint_study().with_columns(value=pl.Series([float(i * 7919 % 13 < 6) for i in range(len(joint_study()))]))
    (headline,) = section_of(table).headlines
    assert headline.sentence.startswith("No setting is shown to explain any of the variation in correctness: ")
    assert not headline.is_clear


def test_each_dataset_is_told_by_its_name() -> None:
    both = pl.concat([heated(0.0).with_columns(dataset=pl.lit(name)) for name in ("first", "second")])
    sentences = [headline.sentence for headline in section_of(both).headlines]
    assert [" of the variation in correctness on first; " in text for text in sentences] == [True, False]
    (figure,) = section_of(both).figures
    assert {mark.panel for mark in figure.marks} == {"first", "second"}


def test_the_bar_is_filled_by_the_shares_in_their_order() -> None:
    (figure,) = section_of(joint_study()).figures
    assert [mark.x for mark in figure.marks] == NAMES
    assert sum(mark.value or 0.0 for mark in figure.marks) == pytest.approx(1)
    assert figure.caption.startswith("Evidence explains ") or figure.caption.startswith("Temperature explains ")
    assert figure.note.endswith("Intervals are 95 % confidence intervals over questions. n = 12 questions.")
    drawn = draw(figure.draw())
    assert set(NAMES) <= set(drawn.texts)


def test_tables_have_every_share_and_folded_its_pieces() -> None:
    whole, pieces = section_of(joint_study()).tables
    assert [row[1] for row in whole.rows] == NAMES
    assert pieces.is_folded
    assert {row[1] for row in pieces.rows} >= {
        *("temperature × evidence", "three or more together", "temperature × question", "interactions × question"),
    }
    for row, other in itertools.product(whole.rows, pieces.rows):
        assert row[3] == other[3] == 12


def test_one_run_is_said_to_leave_the_dice_in_the_rest() -> None:
    made = section_of(joint_study().filter(repeat=0))
    assert any(caveat.startswith("Sampling is not split off: ") for caveat in made.caveats)
    assert "With fewer than 20 questions these intervals are too narrow." in made.caveats


def test_what_cannot_be_split_is_not_shown() -> None:
    made = section_of(joint_study().filter(temperature=0.0, perturbation="unchanged", variation="original"))
    assert (made.headlines, made.figures, made.tables, made.caveats) == ((), (), (), ())
    assert not made.has_block
