from __future__ import annotations

import math

import polars as pl
import pytest
from few_resamples import few_tables
from made_study import COSTS, made_study
from score_rows import TWO_QUESTIONS, score_rows

from shaketable.analyses.evidence.correctness import correctness
from shaketable.analyses.evidence.figure_table import COLUMNS, figure_table
from shaketable.analyses.evidence.variability import variability
from shaketable.analyses.spread import Level


def test_the_columns_are_those_of_the_specification() -> None:
    assert figure_table(made_study(n_questions=4), "bertscore").columns == [
        "model", "qtype", "context", "T", "n", "mean", "variance_runs", "sd_runs", "sd_questions", "cv", "baseline_cv",
    ]  # fmt: skip
    assert tuple(figure_table(made_study(n_questions=4), "bertscore").columns) == COLUMNS


@pytest.mark.parametrize(
    ("level", "cv"), [("per_question", 0.0677083), ("ratio_of_means", 0.0625), ("across_questions", 0.1285649)]
)
def test_the_worked_example_of_the_specification_comes_out(level: Level, cv: float) -> None:
    (row,) = figure_table(score_rows(TWO_QUESTIONS), "bertscore", level=level).to_dicts()
    assert (row["n"], row["mean"], row["sd_runs"]) == (2, pytest.approx(0.88), pytest.approx(0.055))
    assert row["sd_questions"] == pytest.approx(0.1131371, abs=1e-7)
    assert row["cv"] == row["baseline_cv"] == pytest.approx(cv, abs=1e-7)


def test_the_band_with_ddof_zero_comes_out() -> None:
    assert figure_table(score_rows(TWO_QUESTIONS), "bertscore", ddof=0)["sd_runs"][0] == pytest.approx(
        0.0449073, abs=1e-7
    )


def test_the_stability_baseline_of_the_specification_comes_out() -> None:
    wanted = (0, 0.004, 0.006, 0.008, 0.010, 0.012, 0.015, 0.030, 0.060, 0.090, 0.120)
    # Two runs at 1 ± d have the mean 1 and, with ddof 1, the standard deviation d √2.
    runs = [(1 - cv / math.sqrt(2), 1 + cv / math.sqrt(2)) for cv in wanted]
    table = pl.concat([score_rows({"q1": run}, temperature=step / 5) for step, run in enumerate(runs)])
    assert figure_table(table, "bertscore")["baseline_cv"].unique().to_list() == [pytest.approx(0.0322727, abs=1e-7)]


@pytest.mark.parametrize("level", ["per_question", "ratio_of_means", "across_questions"])
def test_it_agrees_with_the_findings(level: Level) -> None:
    table = made_study(temperatures=(0.0, 1.0), n_questions=6)
    figures = {
        (row["qtype"], row["context"], row["T"]): row
        for row in figure_table(table, "bertscore", level=level, pooled=True).to_dicts()
    }
    assert len(figures) == 3 * len(COSTS) * 2
    spreads = variability(few_tables(table), level=level).spreads
    for spread in spreads:
        figure = figures[spread.cell.group, spread.cell.perturbation, spread.cell.temperature]
        original = [
            other.published_cv.value or 0.0
            for other in spreads
            if other.cell.perturbation == "unchanged" and other.cell.group == spread.cell.group
        ]
        expected = spread.published_cv.value, sum(original) / len(original)
        assert (figure["cv"], figure["baseline_cv"]) == pytest.approx(expected)
    for level_ in correctness(few_tables(table)).levels:
        figure = figures[level_.cell.group, level_.cell.perturbation, level_.cell.temperature]
        assert figure["mean"] == pytest.approx(level_.mean.value)
        assert figure["sd_runs"] == pytest.approx(level_.sd_runs)


def test_questions_without_a_type_are_one_group() -> None:
    assert figure_table(score_rows(TWO_QUESTIONS), "bertscore")["qtype"].to_list() == [None]


def test_a_mean_of_zero_has_no_variation() -> None:
    for level in ("per_question", "ratio_of_means", "across_questions"):
        (row,) = figure_table(score_rows({"q1": (0.0, 0.0), "q2": (0.0, 0.0)}), "bertscore", level=level).to_dicts()
        assert row["cv"] is None
