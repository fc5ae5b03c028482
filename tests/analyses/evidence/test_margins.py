from __future__ import annotations

import polars as pl
import pytest
from few_resamples import few_tables
from score_rows import score_rows

from shaketable.analyses.evidence.equivalence import equivalence
from shaketable.analyses.evidence.guidelines import guidelines
from shaketable.analyses.evidence.margins import margins_of
from shaketable.analyses.grids import systems
from shaketable.errors import PartError

CLEAN = {"a": (0.5, 0.7), "b": (0.8, 0.8), "c": (1.0, 1.0)}
"""Means 0.6, 0.8 and 1.0: the sample standard deviation is 0.2."""


def study(**factors: str) -> pl.DataFrame:
    """The spread at other temperatures and with disturbed evidence is another, and must not count."""
    hot = {"a": (0.1,), "b": (0.1,), "c": (0.9,)}
    return pl.concat(
        [
            score_rows(CLEAN, **factors),
            score_rows(hot, temperature=1.0, **factors),
            score_rows(hot, perturbation="sentence_removal", **factors),
            score_rows(hot, perturbation="sentence_removal", temperature=1.0, **factors),
        ]
    )


def test_a_margin_in_spreads_is_that_of_the_clean_case_at_the_lowest_temperature() -> None:
    margin = margins_of(list(systems(study(), None)), "0.5 sd")["bertscore"]
    assert (margin.value, margin.sd) == (pytest.approx(0.1), pytest.approx(0.2))
    assert (margin.metric, margin.times, margin.unit) == ("bertscore", 0.5, "score")


def test_all_systems_are_held_to_one_margin() -> None:
    """Spreads 0.2 and 0: the root of their mean square is 0.2 / √2."""
    flat = score_rows({"a": (0.5,), "b": (0.5,)}, model="other")
    margin = margins_of(list(systems(pl.concat([study(), flat]), None)), "1 sd")["bertscore"]
    assert margin.value == pytest.approx(0.2 / 2**0.5)


def test_without_one_a_share_has_five_points_and_anything_else_a_fifth_of_its_spread() -> None:
    both = pl.concat([study(), study(metric="contains")])
    margins = margins_of(list(systems(both, "all")), None)
    assert margins["contains"].value == 0.05
    assert margins["bertscore"].value == pytest.approx(0.04)


def test_the_margin_of_a_result_is_stated_with_its_value() -> None:
    (margin,) = guidelines(few_tables(study()), margin="0.5 sd").margins
    assert margin.value == pytest.approx(0.1)
    tests = equivalence(few_tables(study()), margin="0.5 sd").tests
    assert {round(test.delta, 9) for test in tests} == {0.1}


def test_a_spread_that_is_not_there_makes_no_margin_and_says_so() -> None:
    (margin,) = margins_of(list(systems(score_rows({"a": (0.5,)}), None)), "0.2 sd").values()
    assert (margin.value, margin.times, margin.sd) == (0, 0.2, None)


def test_a_margin_that_cannot_be_read_is_named() -> None:
    with pytest.raises(PartError, match=r"margin is 'a bit'\. Write an amount, such as 0.01, or spreads"):
        equivalence(few_tables(study()), margin="a bit")
