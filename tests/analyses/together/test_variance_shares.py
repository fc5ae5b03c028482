from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from score_rows import score_rows
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from shaketable.analyses.together.variance_shares import Cross, components, variance_shares

EVIDENCE = ("unchanged", "sentence_removal")


def table_of(values: np.ndarray[Any, Any], **factors: Any) -> pl.DataFrame:
    """Questions × temperatures × evidence × wordings × runs → scores."""
    parts = [
        score_rows(
            {f"q{q}": tuple(values[q, t, e, w].tolist()) for q in range(len(values))},
            temperature=float(t),
            perturbation=("unchanged", "sentence_removal", "entity_masking")[e],
            variation=("original", "spelling", "imperative")[w],
            **{"metric": "contains"} | factors,
        )
        for t, e, w in itertools.product(*map(range, values.shape[1:4]))
    ]
    return pl.concat(parts)


def random_values(seed: int, *shape: int) -> np.ndarray[Any, Any]:
    """0 and 1, less often 1 the hotter and the more disturbed."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0.5, 1, (shape[0], 1, 1, 1, 1)) - np.arange(shape[1])[:, None, None, None]
    logits = logits - 0.7 * np.arange(shape[2])[:, None, None]
    return (rng.random(shape) < 1 / (1 + np.exp(-logits))).astype(float)


def by_effect(table: pl.DataFrame, **settings: Any) -> dict[str | None, Any]:
    return {row["effect"]: row for row in variance_shares(table, n_resamples=99, **settings).rows}


def test_shares_worked_by_hand() -> None:
    # Means q1: 1, 1/2; q2: 1, 0. Between runs only q1 differs when hot: s² = 1/2, so sampling is 1/8, and the error of
    # a mean (s²/2) is on average 1/16. Temperature moves q1 by ±1/4 and q2 by ±1/2; the product of the two, 1/8, is
    # its variance. Half the squared difference of the two questions is 1/32, in their means and in what temperature
    # does to them; each is what the dice alone bring (1/16 × 1/2), so nothing is left. The total is 1/4.
    table = pl.concat(
        [
            score_rows({"q1": (1, 1), "q2": (1, 1)}, metric="contains"),
            score_rows({"q1": (1, 0), "q2": (0, 0)}, metric="contains", temperature=1.0),
        ]
    )
    found = by_effect(table)
    expected = {"temperature": 0.5, "question": 0, "by question": 0, "sampling": 0.5, "temperature × question": 0}
    assert {name: row["value"] for name, row in found.items()} == pytest.approx(expected)
    assert found["temperature"]["n"] == 2 and found["temperature"]["n_settings"] == 2


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_split_follows_from_the_mean_squares_of_statsmodels(seed: int) -> None:
    values = random_values(seed, 7, 3, 2, 1, 4)
    n, n_settings = 7, 6
    cells = [
        {"q": f"q{q}", "t": f"t{t}", "e": f"e{e}", "m": values[q, t, e, 0].mean()}
        for q, t, e in itertools.product(range(7), range(3), range(2))
    ]
    model = ols("m ~ C(q) + C(t) * C(e) + C(q):C(t) + C(q):C(e)", pandas.DataFrame(cells)).fit()
    anova = anova_lm(model)
    squares = {name.replace("C(", "").replace(")", ""): row for name, row in anova.iterrows()}
    error = values.var(axis=-1, ddof=1).mean() / 4
    variances = {"sampling": values.var(axis=-1, ddof=1).mean()}
    variances["question"] = (squares["q"]["mean_sq"] - error) / n_settings
    # Expected mean squares: an effect's is (n · settings · its variance) / df above that of its difference by question.
    for name, own, other in (
        ("temperature", "t", "q:t"),
        ("evidence", "e", "q:e"),
        ("temperature × evidence", "t:e", "Residual"),
    ):
        df = squares[own]["df"]
        variances[name] = (squares[own]["mean_sq"] - squares[other]["mean_sq"]) * df / (n * n_settings)
        key = f"{name} × question" if "×" not in name else "interactions × question"
        variances[key] = (squares[other]["mean_sq"] - error) * df / n_settings
    total = sum(variances.values())
    found = by_effect(table_of(values))
    assert {name: found[name]["value"] for name in variances} == pytest.approx(
        {name: value / total for name, value in variances.items()}
    )


def test_repeats_give_on_average_what_the_probabilities_give() -> None:
    """All 256 outcomes of 2 questions × 2 temperatures × 2 runs, each as likely as the probabilities make it."""
    p = np.array([[0.9, 0.4], [0.7, 0.2]])
    names, exact = components(
        Cross(
            factors=("temperature",),
            question_ids=("a", "b"),
            means=p,
            variances=p * (1 - p),
            errors=np.zeros_like(p),
        )
    )
    expected = np.zeros((len(names), 1))
    for outcome in itertools.product((0.0, 1.0), repeat=8):
        runs = np.array(outcome).reshape(2, 2, 2)
        chance = math.prod((p[..., None] * runs + (1 - p[..., None]) * (1 - runs)).ravel())
        spread = runs.var(axis=-1, ddof=1)
        cross = Cross(
            factors=("temperature",),
            question_ids=("a", "b"),
            means=runs.mean(axis=-1),
            variances=spread,
            errors=spread / 2,
        )
        expected += chance * components(cross)[1](np.ones((1, 2)))
    assert expected == pytest.approx(exact(np.ones((1, 2))))


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    shape=st.tuples(st.integers(2, 6), st.integers(2, 3), st.integers(1, 3), st.integers(1, 3), st.integers(2, 3)),
)
def test_shares_add_up_to_one_and_pieces_to_their_whole(seed: int, shape: tuple[int, ...]) -> None:
    values = random_values(seed, *shape)
    values[0, 0, 0, 0] = [0] + [1] * (shape[-1] - 1)  # Something varies.
    rows = list(by_effect(table_of(values)).values())
    if rows[0]["reason"] == "nothing varies":  # The dice of a few runs may outweigh all the rest.
        return
    assert sum(row["value"] for row in rows if row["part_of"] is None) == pytest.approx(1)
    for whole in ("interactions", "by question"):
        pieces = [row["value"] for row in rows if row["part_of"] == whole]
        assert not pieces or sum(pieces) == pytest.approx(next(row["value"] for row in rows if row["effect"] == whole))


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_what_levels_are_called_and_their_order_change_nothing(seed: int) -> None:
    table = table_of(random_values(seed, 5, 3, 2, 2, 2))
    swapped = table.with_columns(
        temperature=2 - pl.col("temperature"),
        perturbation=pl.col("perturbation").replace({EVIDENCE[0]: EVIDENCE[1], EVIDENCE[1]: EVIDENCE[0]}),
        variation=pl.col("variation").replace({"original": "zzz"}),
    ).sample(fraction=1, shuffle=True, seed=seed)
    before, after = by_effect(table), by_effect(swapped)
    for part in ("value", "low", "high"):
        assert {name: row[part] for name, row in after.items()} == pytest.approx(
            {name: row[part] for name, row in before.items()}
        )


def test_heat_that_decides_everything_explains_everything() -> None:
    values = np.zeros((6, 2, 2, 1, 2))
    values[:, 0] = 1
    found = by_effect(table_of(values))
    assert found["temperature"]["value"] == pytest.approx(1)
    assert found["evidence"]["value"] == pytest.approx(0)
    (sentence,) = variance_shares(table_of(values), n_resamples=99).sentences
    assert sentence.startswith("Temperature explains 100 % [100, 100] of the variation in correctness; of evidence no ")


def test_dice_alone_explain_nothing_but_sampling() -> None:
    values = (np.random.default_rng(1).random((40, 3, 3, 1, 3)) < 0.5).astype(float)
    found = by_effect(table_of(values))
    assert found["sampling"]["value"] > 0.95
    for name in ("temperature", "evidence", "interactions", "question"):
        assert found[name]["low"] <= 0 <= found[name]["high"]
    assert variance_shares(table_of(values)).sentences[0].startswith("No setting is shown to explain any")


def test_the_interval_holds_the_share_of_many_questions() -> None:
    """Of 20 intervals of 95 %, 15 or more hold the share of a very large sample: fewer has odds of 1 in 3000."""
    truth = by_effect(table_of(random_values(99, 3000, 3, 2, 1, 3)))["temperature"]["value"]
    found = [by_effect(table_of(random_values(seed, 40, 3, 2, 1, 3)))["temperature"] for seed in range(20)]
    assert sum(row["low"] <= truth <= row["high"] for row in found) >= 15


def test_one_run_leaves_the_dice_in_the_other_shares_and_says_so() -> None:
    finding = variance_shares(table_of(random_values(0, 6, 3, 2, 1, 1)), n_resamples=99)
    found = {row["effect"]: row for row in finding.rows}
    assert found["sampling"]["value"] is None and "one run alone" in found["sampling"]["reason"]
    whole = [row["value"] for row in finding.rows if row["part_of"] is None and row["value"] is not None]
    assert sum(whole) == pytest.approx(1)
    assert any("Sampling is not split off" in caveat for caveat in finding.caveats)


def test_closed_book_is_left_out_beside_methods_that_search() -> None:
    table = table_of(random_values(0, 5, 2, 2, 1, 2))
    closed = score_rows({f"q{q}": (0, 0) for q in range(5)}, metric="contains", method="closed_book")
    closed = closed.with_columns(perturbation=pl.lit(None, dtype=pl.String), retriever=pl.lit(None, dtype=pl.String))
    together = variance_shares(pl.concat([table, closed]), n_resamples=99)
    alone = variance_shares(table, n_resamples=99)
    assert [row["value"] for row in together.rows] == [row["value"] for row in alone.rows]
    assert "closed book not in it" in together.sentences[0]
    assert by_effect(pl.concat([closed, closed.with_columns(temperature=pl.lit(1.0))]))


def test_what_cannot_be_split_says_why() -> None:
    values = random_values(0, 4, 2, 2, 1, 2)
    table = table_of(values)
    hole = (pl.col("temperature") == 1) & (pl.col("perturbation") == "unchanged")
    for part, reason in (
        (table.filter(~hole), "the settings are not fully crossed"),
        (table.filter(hole), "no setting has two values or more"),
        (table.filter(question_id="q0"), "fewer than two questions have a score in every setting"),
    ):
        finding = variance_shares(part)
        assert [(row["value"], row["reason"]) for row in finding.rows] == [(None, reason)]
        assert finding.sentences == ()
    constant = variance_shares(table_of(np.ones((4, 2, 2, 1, 2))))
    assert {row["value"] for row in constant.rows} == {None}


def test_a_question_with_a_hole_is_left_out_and_counted() -> None:
    table = table_of(random_values(3, 6, 2, 2, 1, 2))
    hole = (pl.col("question_id") == "q3") & (pl.col("temperature") == 1) & (pl.col("repeat") == 0)
    found = by_effect(table.with_columns(value=pl.when(~hole).then("value")))["temperature"]
    assert (found["n"], found["n_left_out"], found["n_missing"]) == (5, 1, 2)
    assert found["value"] == by_effect(table.filter(pl.col("question_id") != "q3"))["temperature"]["value"]


def test_each_dataset_is_split_by_itself() -> None:
    table = pl.concat([table_of(random_values(seed, 5, 2, 2, 1, 2), dataset=f"d{seed}") for seed in (0, 1)])
    finding = variance_shares(table, n_resamples=99)
    assert {row["dataset"] for row in finding.rows} == {"d0", "d1"}
    assert len(finding.sentences) == 2
