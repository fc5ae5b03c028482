"""What the analyses that compare evidence and temperatures have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from few_resamples import quick
from hypothesis import given, settings
from hypothesis import strategies as st
from made_study import made_study

from shaketable.analyses.evidence.amplification import amplification
from shaketable.analyses.evidence.cases import cases
from shaketable.analyses.evidence.degradation import degradation
from shaketable.analyses.evidence.dominance import dominance
from shaketable.analyses.evidence.equivalence import equivalence
from shaketable.analyses.evidence.guidelines import guidelines
from shaketable.analyses.evidence.ranking import ranking
from shaketable.errors import PartError
from shaketable.types import OldFinding

Analysis = Callable[..., OldFinding]
ANALYSES = (amplification, cases, degradation, dominance, equivalence, guidelines, ranking)
COLUMNS = {
    *("analysis", "metric", "model", "method", "retriever", "variation", "type", "perturbation", "temperature"),
    *("value", "low", "high", "n", "n_missing"),
}
each = pytest.mark.parametrize("analysis", [pytest.param(quick(one), id=one.__name__) for one in ANALYSES])
ROUNDED = 9


def small(seed: int = 0, **factors: Any) -> pl.DataFrame:
    costs = {"unchanged": 0.0, "entity_masking": 0.01, "sentence_removal": 0.03}
    return made_study(costs=costs, temperatures=(0.0, 1.0, 2.0), n_questions=8, seed=seed, **factors)


def numbers(finding: OldFinding, *names: str) -> list[list[Any]]:
    return [
        [round(row[name], ROUNDED) if isinstance(row[name], float) else row[name] for name in names]
        for row in finding.rows
    ]


@each
def test_every_row_says_where_it_is_from_and_how_many_stand_behind_it(analysis: Analysis) -> None:
    finding = analysis(small())
    for row in finding.rows:
        assert row.keys() >= COLUMNS
        assert row.keys() == finding.rows[0].keys()
        assert row["low"] is None or row["low"] <= row["value"] + 1e-9
        assert row["high"] is None or row["value"] <= row["high"] + 1e-9
        assert isinstance(row["n"], int)
        assert isinstance(row["n_missing"], int)
    assert finding.sentences
    assert finding.caveats
    assert all(sentence.endswith(".") for sentence in finding.sentences)


@each
def test_the_main_metric_is_taken_unless_another_is_asked_for(analysis: Analysis) -> None:
    """The first scored of which more is better: a refusal is no success, and the order of the study counts."""
    table = pl.concat([small(metric=metric) for metric in ("refusal", "rouge1", "contains", "bertscore")])
    assert {row["metric"] for row in analysis(table).rows} == {"rouge1"}
    assert {row["metric"] for row in analysis(table, metric="bertscore").rows} == {"bertscore"}
    assert {row["metric"] for row in analysis(table, metric="all").rows} == {"bertscore", "contains", "rouge1"}
    without = table.filter(pl.col("metric") != "rouge1")
    assert {row["metric"] for row in analysis(without).rows} == {"contains"}
    with pytest.raises(PartError, match=r"metric is 'rouge', .* Did you mean 'rouge1'\? Scored numbers: refusal, "):
        analysis(table, metric="rouge")


@each
def test_company_changes_nothing(analysis: Analysis) -> None:
    """Another model in the table leaves the rows of a model as they are."""
    alone = numbers(analysis(small()), "type", "value", "low", "high", "n")
    together = analysis(pl.concat([small(), small(seed=1, models=("other",))]))
    mine = OldFinding(
        analysis="",
        question="",
        rows=tuple(row for row in together.rows if row["model"] == "smollm2" and row.get("kind") != "choice"),
    )
    assert numbers(mine, "type", "value", "low", "high", "n") == alone


@each
@settings(max_examples=3)
@given(seed=st.integers(0, 10_000))
def test_neither_order_nor_a_constant_on_all_scores_changes_a_comparison(analysis: Analysis, seed: int) -> None:
    table = small(seed)
    moved = table.with_columns(pl.col("value") + 0.25).sample(fraction=1, shuffle=True, seed=seed)
    names = ("type", "perturbation", "temperature", "value", "low", "high", "n")
    assert numbers(_levels(analysis(moved)), *names) == numbers(_levels(analysis(table)), *names)


def _levels(finding: OldFinding) -> OldFinding:
    """A constant changes every ratio of a deviation to a mean, which is as it should be."""
    return replace(finding, rows=tuple(row for row in finding.rows if row.get("outcome") != "cv"))


@each
def test_a_failed_run_is_counted_and_left_out(analysis: Analysis) -> None:
    table = small()
    failed = (pl.col("question_id") == "q0002") & (pl.col("repeat") == 1)
    holed = table.with_columns(value=pl.when(failed).then(None).otherwise("value"))
    assert numbers(analysis(holed), "value", "low", "high") == numbers(
        analysis(table.filter(~failed)), "value", "low", "high"
    )
    assert any(row["n_missing"] for row in analysis(holed).rows)


@pytest.mark.slow
@each
def test_a_study_of_396_000_answers_is_analyzed_for_every_model(analysis: Analysis) -> None:
    """5 models × 11 temperatures × 4 contexts × 600 questions × 3 runs."""
    table = made_study(models=[f"m{i}" for i in range(5)], n_questions=600)
    assert len(table) == 396_000
    assert {row["model"] for row in analysis(table).rows} >= {f"m{i}" for i in range(5)}
