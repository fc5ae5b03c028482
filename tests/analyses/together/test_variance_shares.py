from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas
import polars as pl
import pytest
from few_resamples import few_tables
from hypothesis import given, settings
from hypothesis import strategies as st
from score_rows import score_rows
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from shaketable.analyses.together.variance_shares import Share, VarianceShares, variance_shares
from shaketable.statistics.variance_split import Cross, split
from shaketable.types import Estimate

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


def shared(table: pl.DataFrame) -> VarianceShares:
    return variance_shares(few_tables(table))


def key(share: Share) -> str:
    """`temperature`, `by_question`, and of pieces `temperature × evidence`, `by_question: temperature`."""
    if share.is_piece:
        return f"{share.kind}: {' × '.join(share.settings)}"
    return share.settings[0] if share.kind == "setting" else share.kind


def by_component(table: pl.DataFrame) -> dict[str, Estimate]:
    return {key(share): share.share for share in shared(table).shares}


def bounds(estimate: Estimate) -> tuple[float, float, float]:
    assert estimate.value is not None and estimate.low is not None and estimate.high is not None
    return estimate.value, estimate.low, estimate.high


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
    expected = {"temperature": 0.5, "question": 0, "by_question": 0, "sampling": 0.5, "by_question: temperature": 0}
    assert {name: share.value for name, share in by_component(table).items()} == pytest.approx(expected)
    (own,) = shared(table).splits
    assert (own.n, own.n_settings, own.has_sampling, own.models) == (2, 2, True, ("smollm2",))


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
        ("interactions: temperature × evidence", "t:e", "Residual"),
    ):
        df = squares[own]["df"]
        variances[name] = (squares[own]["mean_sq"] - squares[other]["mean_sq"]) * df / (n * n_settings)
        single = f"by_question: {name}" if "×" not in name else "by_question: "
        variances[single] = (squares[other]["mean_sq"] - error) * df / n_settings
    total = sum(variances.values())
    made = by_component(table_of(values))
    assert {name: made[name].value for name in variances} == pytest.approx(
        {name: value / total for name, value in variances.items()}
    )


def test_repeats_give_on_average_what_the_probabilities_give() -> None:
    """All 256 outcomes of 2 questions × 2 temperatures × 2 runs, each as likely as the probabilities make it."""
    p = np.array([[0.9, 0.4], [0.7, 0.2]])
    components, exact = split(
        Cross(
            factors=("temperature",),
            question_ids=("a", "b"),
            means=p,
            variances=p * (1 - p),
            errors=np.zeros_like(p),
        )
    )
    expected = np.zeros((len(components), 1))
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
        expected += chance * split(cross)[1](np.ones((1, 2)))
    assert expected == pytest.approx(exact(np.ones((1, 2))))


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    shape=st.tuples(st.integers(2, 6), st.integers(2, 3), st.integers(1, 3), st.integers(1, 3), st.integers(2, 3)),
)
def test_shares_add_up_to_one_and_pieces_to_their_whole(seed: int, shape: tuple[int, ...]) -> None:
    values = random_values(seed, *shape)
    values[0, 0, 0, 0] = [0] + [1] * (shape[-1] - 1)  # Something varies.
    made = shared(table_of(values)).shares
    if made[0].share.reason == "nothing varies":  # The dice of a few runs may outweigh all the rest.
        return
    whole = {key(share): share.share.value or 0.0 for share in made if not share.is_piece}
    assert sum(whole.values()) == pytest.approx(1)
    for kind in ("interactions", "by_question"):
        pieces = [share.share.value or 0.0 for share in made if share.is_piece and share.kind == kind]
        assert not pieces or sum(pieces) == pytest.approx(whole[kind])


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_what_levels_are_called_and_their_order_change_nothing(seed: int) -> None:
    table = table_of(random_values(seed, 5, 3, 2, 2, 2))
    swapped = table.with_columns(
        temperature=2 - pl.col("temperature"),
        perturbation=pl.col("perturbation").replace({EVIDENCE[0]: EVIDENCE[1], EVIDENCE[1]: EVIDENCE[0]}),
        variation=pl.col("variation").replace({"original": "zzz"}),
    ).sample(fraction=1, shuffle=True, seed=seed)
    before, after = by_component(table), by_component(swapped)
    for part in ("value", "low", "high"):
        assert {name: getattr(share, part) for name, share in after.items()} == pytest.approx(
            {name: getattr(share, part) for name, share in before.items()}
        )


def test_heat_that_decides_everything_explains_everything() -> None:
    values = np.zeros((6, 2, 2, 1, 2))
    values[:, 0] = 1
    made = by_component(table_of(values))
    assert made["temperature"].value == pytest.approx(1)
    assert made["evidence"].value == pytest.approx(0)


def test_dice_alone_explain_nothing_but_sampling() -> None:
    values = (np.random.default_rng(1).random((40, 3, 3, 1, 3)) < 0.5).astype(float)
    made = by_component(table_of(values))
    assert bounds(made["sampling"])[0] > 0.95
    for name in ("temperature", "evidence", "interactions", "question"):
        _, low, high = bounds(made[name])
        assert low <= 0 <= high


def test_the_interval_holds_the_share_of_many_questions() -> None:
    """Of 20 intervals of 95 %, 15 or more hold the share of a very large sample: fewer has odds of 1 in 3000."""
    truth, _, _ = bounds(by_component(table_of(random_values(99, 3000, 3, 2, 1, 3)))["temperature"])
    made = [bounds(by_component(table_of(random_values(i, 40, 3, 2, 1, 3)))["temperature"]) for i in range(20)]
    assert sum(low <= truth <= high for _, low, high in made) >= 15


def test_one_run_leaves_the_dice_in_the_other_shares_and_says_so() -> None:
    result = shared(table_of(random_values(0, 6, 3, 2, 1, 1)))
    (sampling,) = (share.share for share in result.shares if share.kind == "sampling")
    assert sampling.value is None and "one run alone" in (sampling.reason or "")
    assert not result.splits[0].has_sampling
    whole = [share.share.value for share in result.shares if not share.is_piece and share.share.value is not None]
    assert sum(whole) == pytest.approx(1)


def test_closed_book_is_left_out_beside_methods_that_search() -> None:
    table = table_of(random_values(0, 5, 2, 2, 1, 2))
    closed = score_rows({f"q{q}": (0, 0) for q in range(5)}, metric="contains", method="closed_book")
    closed = closed.with_columns(perturbation=pl.lit(None, dtype=pl.String), retriever=pl.lit(None, dtype=pl.String))
    together = shared(pl.concat([table, closed]))
    assert together.shares == shared(table).shares
    assert together.splits[0].unsearching == ("closed_book",)
    alone = shared(pl.concat([closed, closed.with_columns(temperature=pl.lit(1.0))]))
    assert alone.shares and alone.splits[0].unsearching == ()


def test_what_cannot_be_split_says_why() -> None:
    values = random_values(0, 4, 2, 2, 1, 2)
    table = table_of(values)
    hole = (pl.col("temperature") == 1) & (pl.col("perturbation") == "unchanged")
    for part, reason in (
        (table.filter(~hole), "the settings are not fully crossed"),
        (table.filter(hole), "no setting has two values or more"),
        (table.filter(question_id="q0"), "fewer than two questions have a score in every setting"),
    ):
        result = shared(part)
        assert (result.shares, [own.reason for own in result.splits]) == ((), [reason])
    constant = shared(table_of(np.ones((4, 2, 2, 1, 2))))
    assert {(share.share.value, share.share.reason) for share in constant.shares if share.kind != "sampling"} == {
        (None, "nothing varies")
    }


def test_a_question_with_a_hole_is_left_out_and_counted() -> None:
    table = table_of(random_values(3, 6, 2, 2, 1, 2))
    hole = (pl.col("question_id") == "q3") & (pl.col("temperature") == 1) & (pl.col("repeat") == 0)
    result = shared(table.with_columns(value=pl.when(~hole).then("value")))
    (own,) = result.splits
    assert (own.n, own.n_left_out, own.n_missing) == (5, 1, 2)
    assert result.shares == shared(table.filter(pl.col("question_id") != "q3")).shares


def test_each_dataset_is_split_by_itself() -> None:
    table = pl.concat([table_of(random_values(seed, 5, 2, 2, 1, 2), dataset=f"d{seed}") for seed in (0, 1)])
    result = shared(table)
    assert [own.cell.dataset for own in result.splits] == ["d0", "d1"]
    assert {share.cell.dataset for share in result.shares} == {"d0", "d1"}


def test_each_setting_is_tested_by_what_it_does_to_questions() -> None:
    """By hand: temperature acts on all of ten questions alike, p = 2 · 2⁻¹⁰; evidence on none."""
    values = np.zeros((10, 2, 2, 1, 2))
    values[:, 0] = 1.0
    result = variance_shares(few_tables(table_of(values)))
    p_values = {own.settings: own.p for own in result.shares if own.kind == "setting"}
    assert p_values == {("temperature",): 2 * 0.5**10, ("evidence",): 1.0}
    assert {claim.subject.other for claim in result.claims()} == {"temperature", "evidence"}


def test_a_setting_that_answers_which_failed_may_have_made_is_not_shown() -> None:
    """Cool, one of two runs is right. Hot, one is wrong and one failed: had it been right nothing would differ."""
    cool = score_rows({f"q{i}": (1.0, 0.0) for i in range(10)}, metric="contains")
    hot = score_rows({f"q{i}": (0.0, None) for i in range(10)}, metric="contains", temperature=1.0)
    (own,) = [own for own in variance_shares(few_tables(pl.concat([cool, hot]))).shares if own.kind == "setting"]
    assert own.share.value is not None and own.p == 1.0
