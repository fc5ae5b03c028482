"""Where the clean case is no better than a baseline, nothing can be lost, and standing firm says nothing."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from score_rows import score_rows

from shaketable.analyses.floors import find_nothing_to_lose, has_nothing_to_lose
from shaketable.analyses.tables import Tables
from shaketable.factors import Cell, System
from shaketable.types import Findings

SYSTEM = System(model="smollm2", method="single_retrieval", retriever="gold")
CELL = Cell(dataset="builtin", system=SYSTEM, variation="original", perturbation="sentence_removal", temperature=1.0)


def answers(n_right: int, n: int = 20, metric: str = "correct", **factors: object) -> pl.DataFrame:
    """Questions with one answer each, the first few of them right."""
    return score_rows({f"q{i:02}": (float(i < n_right),) for i in range(n)}, metric=metric, **factors)


def found(*scores: pl.DataFrame, baselines: pl.DataFrame | None = None) -> Findings:
    tables = Tables(scores=pl.concat(scores))
    if baselines is not None:
        tables = Tables(scores=tables.scores, read_baselines=lambda: baselines)
    return Findings(nothing_to_lose=find_nothing_to_lose(tables))


def test_a_system_that_is_never_right_has_nothing_to_lose():
    findings = found(answers(0), answers(0, perturbation="sentence_removal"), answers(0, temperature=1.0))
    [entry] = findings.nothing_to_lose
    assert (entry.against, entry.metric, entry.variation, entry.group) == ("nothing right", "correct", "original", None)
    assert (entry.level.value, entry.level.n) == (0.0, 20)
    assert (entry.baseline.value, entry.baseline.low, entry.baseline.high) == (0.0, 0.0, 0.0)
    assert has_nothing_to_lose(CELL, findings, "correct")
    assert not has_nothing_to_lose(CELL, findings, "token_f1")


def test_where_heat_has_ruined_the_answers_neither_evidence_nor_wording_can_take_more():
    findings = found(answers(12), answers(12, temperature=0.5), answers(0, temperature=1.0))
    [entry] = findings.nothing_to_lose
    assert (entry.temperature, entry.level.value) == (1.0, 0.0)
    assert has_nothing_to_lose(CELL, findings, "correct")
    assert has_nothing_to_lose(replace(CELL, perturbation=None, variation="typos"), findings, "correct")
    assert not has_nothing_to_lose(replace(CELL, temperature=0.5), findings, "correct")
    assert not has_nothing_to_lose(replace(CELL, perturbation="unchanged"), findings, "correct"), "Heat took it."


def test_a_system_that_is_right_only_when_disturbed_or_hot_has_nothing_to_lose():
    hot, disturbed = answers(20, temperature=1.0), answers(20, perturbation="sentence_removal")
    assert len(found(answers(0), hot, disturbed).nothing_to_lose) == 1


def test_of_fewer_than_eight_questions_nothing_is_said():
    assert found(answers(0, n=7)).nothing_to_lose == ()
    assert len(found(answers(0, n=8)).nothing_to_lose) == 1


def test_a_wide_interval_is_not_chance_level():
    """4 of 10 right is not shown to be above 0, and far from confirmed to be near it."""
    [few] = found(answers(1, n=10)).nothing_to_lose
    assert not few.is_confirmed
    assert has_nothing_to_lose(CELL, found(answers(1, n=10)), "correct"), "No robustness is claimed of it either."
    [enough] = found(answers(0, n=60)).nothing_to_lose
    assert enough.is_confirmed and enough.level.high < 0.15


def test_chance_level_is_confirmed_against_other_answers():
    others = score_rows({f"q{i:03}": (float(i % 2),) for i in range(400)}, metric="correct")
    same = score_rows({f"q{i:03}": (float(i % 2),) for i in range(400)}, metric="correct")
    [entry] = found(same, baselines=others).nothing_to_lose
    assert entry.is_confirmed and entry.level.value == 0.5


def test_facts_asked_at_the_lowest_temperature_alone_do_not_count():
    """6 of 30 facts are known and scanned: the known ones have everything to lose."""
    known = answers(30, n=30).filter(pl.col("question_id") < "q12")
    unknown = answers(0, n=30).filter(pl.col("question_id") >= "q12")
    hot = answers(0, n=12, temperature=1.0)
    assert found(pl.concat([known, unknown])).nothing_to_lose == ()
    [entry] = found(known, unknown, hot).nothing_to_lose
    assert entry.temperature == 1.0, "Heat took it; the baseline is at 100 %."


def test_answers_that_are_as_right_for_other_questions_are_worth_nothing():
    # Half of the yes/no questions are answered right, and so they are by answers to other questions.
    others = score_rows({f"q{i:02}": (float(i % 2),) for i in range(20)}, metric="correct")
    [entry] = found(answers(10), baselines=others).nothing_to_lose
    assert (entry.against, entry.level.value, entry.baseline.value) == ("shuffled answers", 0.5, 0.5)
    assert found(answers(19), baselines=others).nothing_to_lose == ()


def test_a_score_without_a_baseline_forbids_nothing():
    nothing = score_rows({f"q{i}": (0.01 * i,) for i in range(20)}, metric="token_f1")
    assert found(nothing).nothing_to_lose == ()
    assert len(found(nothing, baselines=nothing).nothing_to_lose) == 1


def test_numbers_of_which_more_is_not_better_have_no_floor():
    assert found(answers(0, metric="refusal")).nothing_to_lose == ()


def test_evidence_that_brings_nothing_over_closed_book_cannot_be_lost():
    closed = answers(12, method="closed_book", retriever=None, perturbation=None)
    findings = found(answers(12), closed)
    [entry] = findings.nothing_to_lose
    assert (entry.against, entry.method, entry.baseline.value) == ("closed book", "single_retrieval", 0.6)
    assert has_nothing_to_lose(CELL, findings, "correct")
    heated = Cell(dataset="builtin", system=SYSTEM, variation="original", temperature=1.0)
    assert not has_nothing_to_lose(heated, findings, "correct"), "Temperature can still spoil what is right."
    assert has_nothing_to_lose(heated, findings, "correct", is_of_evidence=True)
    assert found(answers(20), answers(4, method="closed_book", retriever=None, perturbation=None)).nothing_to_lose == ()


def test_a_type_of_question_may_have_nothing_to_lose_where_others_have():
    right = answers(20, n=20, type="bridge")
    wrong = answers(0, n=40, type="comparison").filter(pl.col("question_id") >= "q20")
    findings = found(right, wrong)
    assert [entry.group for entry in findings.nothing_to_lose] == ["comparison"]
    of_type = {name: Cell(dataset="builtin", system=SYSTEM, group=name) for name in ("bridge", "comparison")}
    assert has_nothing_to_lose(of_type["comparison"], findings, "correct")
    assert not has_nothing_to_lose(of_type["bridge"], findings, "correct")
    assert not has_nothing_to_lose(CELL, findings, "correct")


@pytest.mark.parametrize("variation", ["original", "typos"])
def test_the_clean_case_of_a_rewording_is_the_original(variation):
    findings = found(answers(0), answers(15, variation="typos"))
    assert [entry.variation for entry in findings.nothing_to_lose] == ["original"]
    cell = Cell(dataset="builtin", system=SYSTEM, variation=variation)
    assert has_nothing_to_lose(cell, findings, "correct")


def test_another_system_dataset_or_wording_is_another_matter():
    findings = found(answers(0, variation="typos"), answers(15), answers(15, model="other"))
    assert [entry.variation for entry in findings.nothing_to_lose] == ["typos"]
    assert not has_nothing_to_lose(CELL, findings, "correct")
    other = Cell(dataset="other", system=SYSTEM, variation="typos")
    assert not has_nothing_to_lose(other, findings, "correct")


def test_records_without_a_score_count_in_no_comparison():
    half = score_rows({f"q{i}": (None if i % 2 else 0.0,) for i in range(20)}, metric="correct")
    [entry] = found(half).nothing_to_lose
    assert entry.level.n == 10
