from __future__ import annotations

import polars as pl
from few_resamples import few_tables
from made_page import made_page
from score_rows import condition_rows

from shaketable.analyses.evidence.cases import cases
from shaketable.report.section import Section
from shaketable.report.sections.cases import section


def told(*rows: pl.DataFrame) -> Section:
    tables = few_tables(pl.concat(rows))
    return section(cases(tables), made_page(tables))


def test_the_largest_loss_of_a_system_is_told_with_how_its_answers_fail() -> None:
    (headline,) = told(
        condition_rows("unchanged", 1, a=(0.9, 0.9, 0.9, 0.9)),
        condition_rows("noise", 1, a=(0.1, 0.1, 0.1, 0.1)),
        condition_rows("noise", 1, "contains", a=(0, 0, 1, None)),
        condition_rows("noise", 1, "refusal", a=(1, 0, 0, None)),
        condition_rows("noise", 1, "terse", a=(1, 0, 1, None)),
    ).headlines
    assert headline.sentence == (
        "Noise at temperature 1 takes question a from 0.900 to 0.100 bertscore, the largest loss of smollm2 here."
    )
    assert headline.detail == "Its answers are tagged refusal, terse, wrong. It is the extreme of 1 question."


def test_only_the_largest_of_a_system_has_a_sentence() -> None:
    (headline,) = told(
        condition_rows("unchanged", 0, a=(0.9,), b=(0.9,)),
        condition_rows("mild", 0, a=(0.8,), b=(0.9,)),
        condition_rows("harsh", 0, a=(0.2,), b=(0.9,)),
    ).headlines
    assert headline.sentence.startswith("Harsh at temperature 0 takes question a")


def test_a_gain_is_no_case_to_tell() -> None:
    made = told(condition_rows("unchanged", 1, a=(0.5,)), condition_rows("noise", 1, a=(0.6,)))
    assert made.headlines == ()
    assert made.caveats[0].startswith("These are extremes")
    assert made.caveats[1].startswith("Without refusal, gibberish, terse or correct")


def test_where_nothing_is_disturbed_nothing_is_said() -> None:
    made = told(condition_rows("unchanged", 1, a=(0.5,)))
    assert (made.headlines, made.caveats) == ((), ())


def test_what_repeats_alone_do_is_no_cause() -> None:
    """At temperature 0.7 every question is right in about two of three runs, whatever the evidence."""
    clean = {f"q{n}": (1, 1, 0) for n in range(20)} | {"a": (1, 1, 1)}
    noisy = {f"q{n}": (1, 0, 1) for n in range(20)} | {"a": (0, 0, 1)}
    (headline,) = told(
        condition_rows("unchanged", 0.7, "contains", **clean), condition_rows("mild", 0.7, "contains", **noisy)
    ).headlines
    assert " takes " not in headline.sentence
    assert headline.sentence.startswith("With mild at temperature 0.7, smollm2 scores 33 % instead of 100 %")
    assert "this may be chance" in headline.sentence


def test_repeats_that_agree_leave_a_cause() -> None:
    right = {f"q{n}": (1, 1, 1) for n in range(20)}
    (headline,) = told(
        condition_rows("unchanged", 0.7, "contains", **right),
        condition_rows("harsh", 0.7, "contains", **right | {"q3": (0, 0, 0)}),
    ).headlines
    assert headline.sentence.startswith("Harsh at temperature 0.7 takes question q3 from 100 % to 0 %")


def test_a_single_run_shows_a_cause_at_temperature_0_alone() -> None:
    for temperature, is_cause in ((0, True), (1, False)):
        (headline,) = told(
            condition_rows("unchanged", temperature, a=(0.9,)), condition_rows("noise", temperature, a=(0.1,))
        ).headlines
        assert (" takes " in headline.sentence) == is_cause
