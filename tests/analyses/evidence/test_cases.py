from __future__ import annotations

import polars as pl
import pytest
from made_study import made_study
from score_rows import score_rows

from shaketable.analyses.evidence.cases import cases


def cell(
    perturbation: str, temperature: float, metric: str = "bertscore", **runs: tuple[float | None, ...]
) -> pl.DataFrame:
    """One condition; keys name it, so that the same record has the same key under every metric."""
    table = score_rows(runs, perturbation=perturbation, temperature=temperature, metric=metric)
    return table.with_columns(key=pl.concat_str(pl.lit(f"{perturbation}/{temperature:g}/"), "key"))


def test_the_largest_drop_is_picked_with_the_records_of_both_cells() -> None:
    table = pl.concat(
        [cell("unchanged", 0.6, a=(0.9, 0.9), b=(0.8, 1.0)), cell("removal", 0.6, a=(0.8, 0.8), b=(0.5, 0.6))]
    )
    (row,) = cases(table).rows
    assert (row["question_id"], row["n"]) == ("b", 2)
    assert (row["value"], row["original"], row["disturbed"]) == pytest.approx((0.35, 0.9, 0.55))
    assert row["keys_original"] == ["unchanged/0.6/b/0", "unchanged/0.6/b/1"]
    assert row["keys_disturbed"] == ["removal/0.6/b/0", "removal/0.6/b/1"]
    assert row["tags_disturbed"] is None


def test_of_equal_drops_the_smallest_id_is_taken() -> None:
    same = dict.fromkeys(("c", "a", "b"), (0.9, 0.7, 0.8))
    lower = {id: tuple(value - 0.3 for value in runs[::-1]) for id, runs in same.items()}
    (row,) = cases(pl.concat([cell("unchanged", 1, **same), cell("noise", 1, **lower)])).rows
    assert row["question_id"] == "a"


def test_a_cool_and_the_hottest_temperature_each_type_and_disturbance() -> None:
    """2 models × 2 temperatures × 2 types × 3 perturbations = 24 cases, as in the specification."""
    rows = cases(made_study(models=("gpt-4o", "deepseek-reasoner"))).rows
    assert len(rows) == 24
    assert {row["temperature"] for row in rows} == {0.6, 2.0}
    assert {row["type"] for row in rows} == {"bridge", "comparison"}


def test_temperatures_are_those_nearest_to_the_ones_asked_for() -> None:
    table = made_study(temperatures=(0.0, 0.4, 0.8, 1.2, 1.6), n_questions=4)
    assert {row["temperature"] for row in cases(table).rows} == {0.4, 1.6}  # 0.4 and 0.8 are as near to 0.6.
    assert {row["temperature"] for row in cases(table, cool=0.1, hot=1.3).rows} == {0.0, 1.2}


def test_failures_are_tagged_and_wrong_is_what_no_other_tag_explains() -> None:
    table = pl.concat(
        [
            cell("unchanged", 1, a=(0.9, 0.9, 0.9, 0.9)),
            cell("noise", 1, a=(0.1, 0.1, 0.1, 0.1)),
            cell("unchanged", 1, "contains", a=(1, 1, 1, 0)),
            cell("noise", 1, "contains", a=(0, 0, 1, None)),
            cell("noise", 1, "refusal", a=(1, 0, 0, None)),
            cell("noise", 1, "terse", a=(1, 0, 1, None)),
        ]
    )
    found = cases(table)
    (row,) = found.rows
    assert row["tags_original"] == [[], [], [], ["wrong"]]
    assert row["tags_disturbed"] == [["refusal", "terse"], ["wrong"], ["terse"], []]
    assert found.sentences[0].endswith("Its answers are tagged refusal, terse, wrong. It is the extreme of 1 question.")


def test_a_gain_is_no_case_to_tell() -> None:
    found = cases(pl.concat([cell("unchanged", 1, a=(0.5,)), cell("noise", 1, a=(0.6,))]))
    assert [row["value"] for row in found.rows] == pytest.approx([-0.1])
    assert found.sentences == ()
