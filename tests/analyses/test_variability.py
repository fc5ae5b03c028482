from __future__ import annotations

import math

import polars as pl
import pytest
from score_rows import TWO_QUESTIONS, score_rows

from shaketable.analyses.variability import Level, variability


@pytest.mark.parametrize(
    ("level", "expected"), [("per_question", 0.0677083), ("ratio_of_means", 0.0625), ("across_questions", 0.1285649)]
)
def test_the_worked_example_of_the_specification_comes_out(level: Level, expected: float) -> None:
    (row,) = variability(score_rows(TWO_QUESTIONS), level=level).rows
    assert row["value"] == pytest.approx(expected, abs=1e-7)


def test_the_stability_baseline_of_the_specification_comes_out() -> None:
    wanted = (0, 0.004, 0.006, 0.008, 0.010, 0.012, 0.015, 0.030, 0.060, 0.090, 0.120)
    # Two runs at 1 ± d have the mean 1 and, with ddof 1, the standard deviation d √2.
    table = pl.concat(
        [
            score_rows({"q1": (1 - cv / math.sqrt(2), 1 + cv / math.sqrt(2))}, temperature=step / 5)
            for step, cv in enumerate(wanted)
        ]
    )
    disturbed = score_rows({"q1": (0.5, 1.5)}, perturbation="sentence_removal")
    rows = variability(pl.concat([table, disturbed])).rows
    assert {round(float(row["baseline"]), 7) for row in rows} == {0.0322727}


def test_a_mean_of_zero_has_no_variation_and_says_why() -> None:
    (row,) = variability(score_rows({"q1": (0.0, 0.0), "q2": (0.0, 0.0)})).rows
    assert (row["value"], row["reason"], row["n_zero_mean"]) == (None, "the mean is 0", 2)


def test_questions_with_a_mean_of_zero_are_left_out_and_counted() -> None:
    (row,) = variability(score_rows({"q1": (0.0, 0.0), "q2": (1.0, 0.5)})).rows
    # sd of (1, 0.5) with ddof 1 is 0.3535534, its mean 0.75.
    assert row["value"] == pytest.approx(0.4714045, abs=1e-7)
    assert (row["n"], row["n_zero_mean"]) == (1, 1)


@pytest.mark.parametrize("ddof", [0, 1])
def test_a_single_run_has_no_variation(ddof: int) -> None:
    (row,) = variability(score_rows({"q1": (0.5,), "q2": (0.6,)}), ddof=ddof).rows
    assert (row["value"], row["reason"]) == (None, "a single run")


def test_runs_that_agree_do_not_vary() -> None:
    (row,) = variability(score_rows({"q1": (0.7, 0.7), "q2": (0.2, 0.2)})).rows
    assert (row["value"], row["low"], row["high"]) == (0, 0, 0)


def test_sentences_speak_of_the_main_metric_and_of_a_share_not_at_all() -> None:
    """A share has no coefficient of variation for a question that is never right."""
    shares = score_rows({"q1": (1.0, 0.0), "q2": (1.0, 1.0)}, metric="contains", temperature=1.0)
    both = pl.concat([shares, score_rows(TWO_QUESTIONS, temperature=1.0)])
    assert variability(both).settings["main_metric"] == "contains"
    assert variability(both).sentences == ()
    finding = variability(both, metric="bertscore")
    assert finding.settings["main_metric"] == "bertscore"
    assert finding.sentences[0].startswith("At temperature 1 the bertscore of smollm2 varies by 0.0677 [")


def test_an_empty_table_gives_an_empty_finding() -> None:
    finding = variability(score_rows({"q1": (1.0,)}).clear())
    assert (finding.rows, finding.sentences) == ((), ())


def test_greedy_answers_get_no_sentence() -> None:
    assert variability(score_rows({"q1": (0.5, 0.5), "q2": (0.7, 0.7)})).sentences == ()
