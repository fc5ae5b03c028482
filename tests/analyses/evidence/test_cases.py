from __future__ import annotations

import polars as pl
import pytest
from made_study import made_study
from score_rows import condition_rows

from shaketable.analyses.evidence.cases import CaseRecord, Cases, cases
from shaketable.analyses.tables import Tables


def asked(*tables: pl.DataFrame, cool: float = 0.6, hot: float | None = None) -> Cases:
    return cases(Tables(scores=pl.concat(tables)), cool=cool, hot=hot)


def keys(records: tuple[CaseRecord, ...]) -> list[str]:
    return [record.key for record in records]


def test_the_largest_drop_is_picked_with_the_records_of_both_cells() -> None:
    (drop,) = asked(
        condition_rows("unchanged", 0.6, a=(0.9, 0.9), b=(0.8, 1.0)),
        condition_rows("removal", 0.6, a=(0.8, 0.8), b=(0.5, 0.6)),
    ).drops
    assert (drop.question_id, drop.drop.n) == ("b", 2)
    assert (drop.drop.value, drop.original, drop.disturbed) == pytest.approx((0.35, 0.9, 0.55))
    assert keys(drop.original_records) == ["unchanged/0.6/b/0", "unchanged/0.6/b/1"]
    assert keys(drop.disturbed_records) == ["removal/0.6/b/0", "removal/0.6/b/1"]
    assert {record.tags for record in drop.disturbed_records} == {None}


def test_of_equal_drops_the_smallest_id_is_taken() -> None:
    same = dict.fromkeys(("c", "a", "b"), (0.9, 0.7, 0.8))
    lower = {id: tuple(value - 0.3 for value in runs[::-1]) for id, runs in same.items()}
    (drop,) = asked(condition_rows("unchanged", 1, **same), condition_rows("noise", 1, **lower)).drops
    assert drop.question_id == "a"


def test_a_cool_and_the_hottest_temperature_each_type_and_disturbance() -> None:
    """2 models × 2 temperatures × 2 types × 3 perturbations = 24 cases, as in the specification."""
    drops = asked(made_study(models=("gpt-4o", "deepseek-reasoner"))).drops
    assert len(drops) == 24
    assert {drop.cell.temperature for drop in drops} == {0.6, 2.0}
    assert {drop.cell.group for drop in drops} == {"bridge", "comparison"}


def test_temperatures_are_those_nearest_to_the_ones_asked_for() -> None:
    table = made_study(temperatures=(0.0, 0.4, 0.8, 1.2, 1.6), n_questions=4)
    assert {drop.cell.temperature for drop in asked(table).drops} == {0.4, 1.6}  # 0.4 and 0.8 are as near to 0.6.
    assert {drop.cell.temperature for drop in asked(table, cool=0.1, hot=1.3).drops} == {0.0, 1.2}


def test_failures_are_tagged_and_wrong_is_what_no_other_tag_explains() -> None:
    result = asked(
        condition_rows("unchanged", 1, a=(0.9, 0.9, 0.9, 0.9)),
        condition_rows("noise", 1, a=(0.1, 0.1, 0.1, 0.1)),
        condition_rows("unchanged", 1, "contains", a=(1, 1, 1, 0)),
        condition_rows("noise", 1, "contains", a=(0, 0, 1, None)),
        condition_rows("noise", 1, "refusal", a=(1, 0, 0, None)),
        condition_rows("noise", 1, "terse", a=(1, 0, 1, None)),
    )
    (drop,) = result.drops
    assert result.has_tags
    assert [record.tags for record in drop.original_records] == [(), (), (), ("wrong",)]
    assert [record.tags for record in drop.disturbed_records] == [("refusal", "terse"), ("wrong",), ("terse",), ()]


def test_questions_without_both_scores_are_no_cases() -> None:
    assert asked(condition_rows("unchanged", 1, a=(0.5,)), condition_rows("noise", 1, b=(0.6,))).drops == ()


def test_a_gain_is_a_drop_below_zero() -> None:
    (drop,) = asked(condition_rows("unchanged", 1, a=(0.5,)), condition_rows("noise", 1, a=(0.6,))).drops
    assert drop.drop.value == pytest.approx(-0.1)
