from __future__ import annotations

import polars as pl
from few_resamples import few_tables
from made_page import made_page
from score_rows import TWO_QUESTIONS, score_rows, spread_study, two_runs

from shaketable.analyses.evidence.variability import variability
from shaketable.report.section import Section
from shaketable.report.sections.variability import section


def told(table: pl.DataFrame, metric: str | None = None) -> Section:
    tables = few_tables(table)
    result = variability(tables, metric=metric)
    return section(result, made_page(tables, result))


def test_a_share_has_a_flip_rate_and_a_score_a_coefficient() -> None:
    shares = score_rows({"q1": (1.0, 0.0), "q2": (1.0, 1.0)}, metric="contains", temperature=1.0)
    both = pl.concat([shares, score_rows(TWO_QUESTIONS, temperature=1.0)])
    (flips,) = told(both).headlines
    assert flips.sentence.startswith("At temperature 1 two answers of smollm2 to the same question ")
    assert (flips.number, flips.spark_title) == ("50 %", "Flip rate by temperature")
    (headline,) = told(both, "bertscore").headlines
    assert headline.sentence.startswith("At temperature 1 the bertscore of smollm2 varies by 0.0762 [")
    assert headline.sentence.endswith("] between runs of a question.")
    assert "over all temperatures it is 0.0762 [" in headline.detail
    assert (headline.number, headline.is_clear) == ("0.0762", True)


def test_the_temperature_at_which_answers_vary_most_is_told() -> None:
    """Not the hottest, where all answers are equally wrong."""
    at = {0.0: 0.0, 1.0: 0.2, 1.2: 0.3, 2.0: 0.1}
    table = pl.concat([score_rows({"q1": two_runs(cv), "q2": two_runs(cv)}, temperature=own) for own, cv in at.items()])
    (headline,) = told(table).headlines
    assert headline.sentence.startswith("At temperature 1.2 the bertscore of smollm2 varies by 0.300")
    assert headline.sentence.endswith("It varies most there, of 3 temperatures.")


def test_greedy_answers_get_no_sentence() -> None:
    assert told(score_rows({"q1": (0.5, 0.5), "q2": (0.7, 0.7)})).sentences == ()


def test_a_metric_that_crosses_zero_is_said_to_have_no_variation() -> None:
    caveats = told(score_rows({"q1": (-0.2, 0.25), "q2": (0.1, 0.3)}, metric="bertscore_rescaled")).caveats
    assert caveats[0].startswith("bertscore_rescaled has no coefficient of variation: values below 0 occur")


def test_what_has_no_spread_is_said_to_be_counted_apart() -> None:
    *_, first, second = told(score_rows({"q1": (0.0, 0.0), "q2": (0.5,), "q3": (0.4, 0.6)})).caveats
    assert first.startswith("A question whose mean is 0") and second.startswith("A question with a single run")


def test_which_type_varies_more_is_told_where_it_is_shown() -> None:
    runs = {"bridge": (0.9, 0.9), "comparison": (0.5, 0.9)}
    table = pl.concat(
        [
            score_rows({f"{type[0]}{n}": (first, second + n / 100) for n in range(6)}, type=type, temperature=1.0)
            for type, (first, second) in runs.items()
        ]
    )
    *_, sentence = told(table).sentences
    assert sentence.startswith(
        "smollm2 varies more between runs on comparison than on bridge questions: the coefficient"
    )
    same = table.with_columns(
        type=pl.when(pl.col("question_id").str.slice(1).cast(pl.Int64) % 2 == 0)
        .then(pl.lit("a"))
        .otherwise(pl.lit("b"))
    )
    assert "is not shown" in told(same).sentences[-1]


def test_tables_tell_coolest_hottest_mean_and_baseline_and_compare_types() -> None:
    """By hand: q1 has CVs of 0.10 and 0.30 with unchanged evidence, so a mean and a baseline of 0.20."""
    spread, types = told(spread_study()).tables
    assert spread.title == "Coefficient of variation: bertscore"
    bridge = next(row for row in spread.rows if row[:2] == ("smollm2 · bridge", "unchanged"))
    assert bridge[2:] == ("0.100 at 0", "0.300 at 1", "0.200", "0.200", 1)
    assert [row[1:3] for row in types.rows] == [("comparison − bridge", at) for at in ("all", "0", "1")]
    assert [row[3] for row in types.rows] == ["−0.0500", "0", "−0.100"]


def test_the_figure_marks_the_baseline_of_each_panel() -> None:
    (figure,) = told(spread_study()).figures
    assert (figure.name, figure.title) == (
        "variation_by_temperature_bertscore",
        "How much repeated answers differ: bertscore",
    )
    assert {mark.row for mark in figure.marks} == {"bridge", "comparison"}
    assert figure.table is not None and figure.table.columns[-1] == "Baseline"
    assert {row[-1] for row in figure.table.rows} == {"0.2", "0.19"}
