"""What the analyses that compare evidence and temperatures have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from few_resamples import few_tables
from hypothesis import given, settings
from hypothesis import strategies as st
from made_page import made_page
from made_study import made_study

from shaketable.analyses.evidence.amplification import amplification
from shaketable.analyses.evidence.cases import cases
from shaketable.analyses.evidence.degradation import degradation
from shaketable.analyses.evidence.dominance import dominance
from shaketable.analyses.evidence.equivalence import equivalence
from shaketable.analyses.evidence.guidelines import guidelines
from shaketable.analyses.evidence.ranking import ranking
from shaketable.errors import PartError
from shaketable.report.page import make_section
from shaketable.store.findings_file import tidy_rows
from shaketable.types import Finding, Findings

Analysis = Callable[..., Any]
Row = dict[str, Any]
ANALYSES = (amplification, cases, degradation, dominance, equivalence, guidelines, ranking)
COLUMNS = {
    *("analysis", "metric", "model", "method", "retriever", "variation", "group", "perturbation", "temperature"),
    *("value", "low", "high", "n", "n_missing"),
}
each = pytest.mark.parametrize("analysis", [pytest.param(analysis, id=analysis.__name__) for analysis in ANALYSES])
ROUNDED = 9


def small(seed: int = 0, **factors: Any) -> pl.DataFrame:
    costs = {"unchanged": 0.0, "entity_masking": 0.01, "sentence_removal": 0.03}
    return made_study(costs=costs, temperatures=(0.0, 1.0, 2.0), n_questions=8, seed=seed, **factors)


def asked(analysis: Analysis, table: pl.DataFrame, **settings: Any) -> object:
    return analysis(few_tables(table), **settings)


def rows_of(analysis: Analysis, table: pl.DataFrame, **settings: Any) -> list[Row]:
    """Every value that belongs somewhere, as it is exported."""
    finding = Finding(analysis=analysis.__name__, result=asked(analysis, table, **settings))
    rows = tidy_rows(Findings(findings=(finding,)))
    return [row for row in rows if "dataset" in row]


def numbers(rows: list[Row], *names: str) -> list[list[Any]]:
    return [
        [round(row[name], ROUNDED) if isinstance(row[name], float) else row[name] for name in names] for row in rows
    ]


@each
def test_every_row_says_where_it_is_from_and_how_many_stand_behind_it(analysis: Analysis) -> None:
    rows = rows_of(analysis, small())
    assert rows
    for row in rows:
        assert row.keys() >= COLUMNS
        assert row["low"] is None or row["low"] <= row["value"] + 1e-9
        assert row["high"] is None or row["value"] <= row["high"] + 1e-9
        assert isinstance(row["n"], int)
        assert isinstance(row["n_missing"], int)


@each
def test_every_result_has_sentences_and_caveats(analysis: Analysis) -> None:
    finding = Finding(analysis=analysis.__name__, result=asked(analysis, small()))
    section = make_section(finding, made_page(few_tables(small()), finding.result))
    assert section is not None and section.headlines and section.caveats
    assert all(headline.text.endswith(".") for headline in section.headlines)


@each
def test_the_main_metric_is_taken_unless_another_is_asked_for(analysis: Analysis) -> None:
    """The first scored of which more is better: a refusal is no success, and the order of the study counts."""
    table = pl.concat([small(metric=metric) for metric in ("refusal", "rouge1", "contains", "bertscore")])

    def metrics(table: pl.DataFrame, **settings: Any) -> set[str]:
        return {row["metric"] for row in rows_of(analysis, table, **settings)}

    assert metrics(table) == {"rouge1"}
    assert metrics(table, metric="bertscore") == {"bertscore"}
    assert metrics(table, metric="all") == {"bertscore", "contains", "rouge1"}
    assert metrics(table.filter(pl.col("metric") != "rouge1")) == {"contains"}
    with pytest.raises(PartError, match=r"metric is 'rouge', .* Did you mean 'rouge1'\? Scored numbers: refusal, "):
        asked(analysis, table, metric="rouge")


@each
def test_company_changes_nothing(analysis: Analysis) -> None:
    """Another model in the table leaves the rows of a model as they are."""
    names = ("group", "value", "low", "high", "n")
    alone = numbers(rows_of(analysis, small()), *names)
    together = rows_of(analysis, pl.concat([small(), small(seed=1, models=("other",))]))
    mine = [row for row in together if row["model"] == "smollm2" and row.get("table") != "choices"]
    assert numbers(mine, *names) == alone


@each
@settings(max_examples=3)
@given(seed=st.integers(0, 10_000))
def test_neither_order_nor_a_constant_on_all_scores_changes_a_comparison(analysis: Analysis, seed: int) -> None:
    table = small(seed)
    moved = table.with_columns(pl.col("value") + 0.25).sample(fraction=1, shuffle=True, seed=seed)
    names = ("group", "perturbation", "temperature", "value", "low", "high", "n")
    assert numbers(_levels(rows_of(analysis, moved)), *names) == numbers(_levels(rows_of(analysis, table)), *names)


def _levels(rows: list[Row]) -> list[Row]:
    """A constant changes every ratio of a deviation to a mean, which is as it should be."""
    return [row for row in rows if row.get("outcome") != "cv"]


@each
def test_a_failed_run_is_counted_and_left_out(analysis: Analysis) -> None:
    table = small()
    failed = (pl.col("question_id") == "q0002") & (pl.col("repeat") == 1)
    holed = table.with_columns(value=pl.when(failed).then(None).otherwise("value"))
    names = ("value", "low", "high")
    assert numbers(rows_of(analysis, holed), *names) == numbers(rows_of(analysis, table.filter(~failed)), *names)
    assert any(row["n_missing"] for row in rows_of(analysis, holed))


@pytest.mark.slow
@each
def test_a_study_of_396_000_answers_is_analyzed_for_every_model(analysis: Analysis) -> None:
    """5 models × 11 temperatures × 4 contexts × 600 questions × 3 runs."""
    table = made_study(models=[f"m{i}" for i in range(5)], n_questions=600)
    assert len(table) == 396_000
    assert {row["model"] for row in rows_of(analysis, table)} >= {f"m{i}" for i in range(5)}
