from __future__ import annotations

import math

import polars as pl
import pytest
from score_rows import TWO_QUESTIONS, score_rows, spread_study

from shaketable.analyses.evidence.figure_table import figure_table
from shaketable.analyses.evidence.variability import Level, variability


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


@pytest.mark.parametrize("level", ["per_question", "ratio_of_means", "across_questions"])
def test_a_metric_that_crosses_zero_has_no_variation_and_says_why(level: Level) -> None:
    """Means near 0 gave coefficients of 14 and more: declared by bertscore_rescaled, found in scores from elsewhere."""
    near_zero = {"q1": (-0.2, 0.25), "q2": (0.1, 0.3)}
    for metric in ("bertscore_rescaled", "from_elsewhere"):
        table = score_rows(near_zero, metric=metric)
        finding = variability(table, level=level)
        assert {(row["value"], row["reason"]) for row in finding.rows} == {
            (None, "values below 0 occur, so the mean is no scale to divide by")
        }
        assert finding.caveats[0].startswith(f"{metric} has no coefficient of variation: values below 0 occur")
        assert figure_table(table, metric, level=level)["cv"].to_list() == [None]
    declared = variability(score_rows({"q1": (0.5, 0.6)}, metric="bertscore_rescaled"), level=level)
    assert declared.rows[0]["value"] is None


def test_types_of_question_are_compared_by_their_variation() -> None:
    """By hand: over all, q1 has a mean CV of (0.10 + 0.30 + 0.14 + 0.34) / 4 = 0.22 and q2 of 0.17; at temperature 0
    both have 0.12, at temperature 1 they have 0.32 and 0.22."""
    rows = [row for row in variability(spread_study()).rows if row["contrast"]]
    assert {row["contrast"] for row in rows} == {"comparison - bridge"}
    assert {row["temperature"]: round(row["value"], 9) for row in rows} == {None: -0.05, 0.0: 0, 1.0: -0.1}


def test_which_type_varies_more_is_told_where_it_is_shown() -> None:
    runs = {"bridge": (0.9, 0.9), "comparison": (0.5, 0.9)}
    table = pl.concat(
        [
            score_rows({f"{type[0]}{n}": (first, second + n / 100) for n in range(6)}, type=type, temperature=1.0)
            for type, (first, second) in runs.items()
        ]
    )
    *_, sentence = variability(table).sentences
    assert sentence.startswith(
        "smollm2 varies more between runs on comparison than on bridge questions: the coefficient"
    )
    same = table.with_columns(
        type=pl.when(pl.col("question_id").str.slice(1).cast(pl.Int64) % 2 == 0)
        .then(pl.lit("a"))
        .otherwise(pl.lit("b"))
    )
    assert "is not shown" in variability(same).sentences[-1]
