from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from made_study import made_study
from scipy import stats
from score_rows import score_rows

from shaketable.analyses.evidence.ranking import interaction_test, rank_agreement, ranking


def crossing(n_questions: int = 12) -> pl.DataFrame:
    """Masking costs 0.1 when cool and nothing when hot, removal the other way round; questions differ a little."""
    costs = {("unchanged", 0.0): 0, ("unchanged", 1.0): 0, ("masking", 0.0): 0.1, ("masking", 1.0): 0.0}
    costs |= {("removal", 0.0): 0.0, ("removal", 1.0): 0.1}
    return pl.concat(
        [
            score_rows(
                {f"q{i:02}": (0.9 - cost * (1 + i / 20),) for i in range(n_questions)},
                perturbation=perturbation,
                temperature=temperature,
            )
            for (perturbation, temperature), cost in costs.items()
        ]
    )


def test_a_reversal_is_found_and_told() -> None:
    found = ranking(crossing())
    contrasts = [row for row in found.rows if row["kind"] == "contrast"]
    assert [(row["perturbation"], row["other"]) for row in contrasts] == [("masking", "removal")] * 2
    assert {row["verdict"] for row in contrasts} == {"reversal"}
    assert contrasts[0]["low"] > 0 > contrasts[1]["high"]
    (sentence,) = found.sentences
    assert sentence.startswith("Masking hurts smollm2 more than removal at temperature 0, and less at 1.")
    (tau,) = (row for row in found.rows if row["kind"] == "tau")
    assert (tau["temperature"], tau["other_temperature"], tau["value"]) == (0, 1, -1)


def test_ranks_put_the_largest_drop_first() -> None:
    ranks = {
        (row["perturbation"], row["temperature"]): row["rank"]
        for row in ranking(crossing()).rows
        if row["kind"] == "drop"
    }
    assert ranks == {("masking", 0.0): 1, ("removal", 0.0): 2, ("masking", 1.0): 2, ("removal", 1.0): 1}


def test_the_interaction_test_tries_every_shuffle_of_a_small_table() -> None:
    """Worked by counting: 3 questions at 2 temperatures have 2³ equally likely tables."""
    contrasts = np.array([[[0.1, 0.3, 0.2], [-0.1, 0.1, 0.4]]])
    cool, hot = contrasts[0]
    spreads = []
    for swaps in product((False, True), repeat=3):
        first, second = np.where(swaps, hot, cool).mean(), np.where(swaps, cool, hot).mean()
        spreads.append(((np.array([first, second]) - (first + second) / 2) ** 2).sum())
    expected = np.mean(np.array(spreads) >= spreads[0] - 1e-12)
    assert interaction_test(contrasts, ["a", "b", "c"], 1000) == pytest.approx([expected])


def test_the_interaction_test_keeps_its_level_without_interaction() -> None:
    """p values of 200 tables without interaction are spread evenly; a fixed seed, so this never flickers."""
    rng = np.random.default_rng(0)
    p = interaction_test(rng.normal(size=(200, 4, 15)), [f"q{i}" for i in range(15)], 500)
    assert stats.kstest(p, "uniform").pvalue > 0.01


def test_kendalls_tau_is_that_of_scipy() -> None:
    rng = np.random.default_rng(1)
    drops = rng.integers(-2, 3, (5, 6, 1)).astype(float)  # Small integers tie often.
    first, second = np.triu_indices(6, k=1)
    expected = [stats.kendalltau(drops[:, a, 0], drops[:, b, 0]).statistic for a, b in zip(first, second, strict=True)]
    assert rank_agreement(drops, first, second)(np.ones((1, 1)))[:, 0] == pytest.approx(expected, nan_ok=True)


def test_without_interaction_nothing_is_claimed() -> None:
    found = ranking(made_study(temperatures=(0.0, 1.0, 2.0), n_questions=30))
    assert {row["verdict"] for row in found.rows if row["kind"] == "contrast" and row["type"] is None} == {
        "no change shown"
    }
    assert found.sentences[0].startswith("No change with temperature was shown in which disturbance hurts smollm2")


def test_questions_with_a_hole_are_left_out_of_contrasts_and_counted() -> None:
    table = crossing().with_columns(
        value=pl.when((pl.col("question_id") == "q03") & (pl.col("perturbation") == "removal"))
        .then(None)
        .otherwise("value")
    )
    contrasts = [row for row in ranking(table).rows if row["kind"] == "contrast"]
    assert {(row["n"], row["n_left_out"], row["n_missing"]) for row in contrasts} == {(11, 1, 2)}


def test_one_disturbance_has_a_rank_and_no_rival() -> None:
    rows = ranking(crossing().filter(pl.col("perturbation") != "removal")).rows
    assert [(row["kind"], row["rank"]) for row in rows] == [("drop", 1), ("drop", 1)]
