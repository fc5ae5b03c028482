from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from few_resamples import few_tables
from made_study import TEMPERATURES, made_study
from score_rows import score_rows

from shaketable.analyses.evidence.guidelines import Guidelines
from shaketable.analyses.evidence.guidelines import guidelines as guidelines_of
from shaketable.analyses.evidence.heat_ceilings import Bound, Ceiling
from shaketable.statistics.ceilings import ceiling_index, hinge
from shaketable.types import NotApplied


def guidelines(
    table: pl.DataFrame,
    margin: float | str | None = 0.01,
    bound: Bound = "interval",
    not_applied: tuple[NotApplied, ...] = (),
) -> Guidelines:
    """With the published margin, which fits these made scores, unless another is asked for."""
    return guidelines_of(few_tables(table, not_applied=not_applied), margin=margin, bound=bound)


# The worked examples of the specification, section 12.3.
GPT = (0.962, 0.961, 0.962, 0.960, 0.961, 0.960, 0.958, 0.953, 0.905, 0.830, 0.760)
LLAMA = (0.930, 0.930, 0.929, 0.925, 0.915, 0.905, 0.895, 0.880, 0.865, 0.850, 0.835)
FLAT = (0.900, 0.901, 0.899, 0.900, 0.902, 0.898, 0.900, 0.901, 0.899, 0.900, 0.900)


def curve(means: tuple[float, ...], **factors: Any) -> pl.DataFrame:
    """One question whose score at each temperature is the mean."""
    return pl.concat(
        [score_rows({"q": (mean,)}, temperature=t, **factors) for t, mean in zip(TEMPERATURES, means, strict=True)]
    )


def of_system(table: pl.DataFrame, **settings: Any) -> Ceiling:
    (ceiling,) = guidelines(table, **settings).ceilings
    return ceiling


@pytest.mark.parametrize(
    ("means", "delta", "ceiling"),
    [
        (GPT, 0.005, 1.2),
        (GPT, 0.01, 1.4),
        (GPT, 0.02, 1.4),
        (LLAMA, 0.005, 0.6),
        (LLAMA, 0.01, 0.6),
        (LLAMA, 0.02, 0.8),
        (FLAT, 0.01, 2.0),
    ],
)
def test_the_ceilings_of_the_specification_come_out(means: tuple[float, ...], delta: float, ceiling: float) -> None:
    own = of_system(curve(means), margin=delta, bound="point")
    assert (own.ceiling.value, own.by_means) == (ceiling, ceiling)


@pytest.mark.parametrize(("means", "onset", "slope"), [(GPT, 1.4, -0.327839), (LLAMA, 0.6, -0.0651587)])
def test_the_hinges_of_the_specification_come_out(means: tuple[float, ...], onset: float, slope: float) -> None:
    onsets, slopes = hinge(TEMPERATURES, np.array(means)[:, None])
    assert onsets[0] == pytest.approx(onset)
    assert slopes[0] == pytest.approx(slope, abs=1e-6)
    (own,) = guidelines(curve(means), bound="point").onsets
    assert (own.onset.value, own.slope.value) == (pytest.approx(onset), pytest.approx(slope, abs=1e-6))


def test_with_the_published_margin_the_papers_ceilings_come_out() -> None:
    """GPT 1.4, Llama 0.6, deepseek none: 2.0 is the hottest that was tried."""
    ceilings = [of_system(curve(means), bound="point") for means in (GPT, LLAMA, FLAT)]
    assert [own.ceiling.value for own in ceilings] == [1.4, 0.6, 2.0]
    assert [own.next_temperature for own in ceilings] == [1.6, 0.8, None]


def test_a_recovery_does_not_lift_the_ceiling() -> None:
    assert ceiling_index(np.array([0.0, 0.02, 0.0, 0.0]), 0.01) == 0


def test_a_loss_of_exactly_the_margin_is_allowed() -> None:
    assert ceiling_index(np.array([0.0, 0.95 - 0.94, 0.02]), 0.01) == 1


def test_an_unknown_loss_is_not_within_the_margin() -> None:
    assert ceiling_index(np.array([np.nan, 0.0]), 0.01) == -1
    own = of_system(curve(GPT)).ceiling
    assert (own.value, own.reason) == (None, "too few questions for an interval")


def test_the_worst_evidence_and_type_decide() -> None:
    table = pl.concat(
        [
            curve(GPT, type="bridge"),
            curve(LLAMA, perturbation="sentence_removal", type="bridge"),
            curve(GPT, type="comparison").with_columns(question_id=pl.lit("r")),
            curve(GPT, perturbation="sentence_removal", type="comparison").with_columns(question_id=pl.lit("r")),
        ]
    )
    own = of_system(table, bound="point")
    assert own.ceiling.value == 0.6
    assert (own.worst.perturbation, own.worst.group) == ("sentence_removal", "bridge")
    pairs = {
        (pair.cell.perturbation, pair.cell.group): pair.ceiling.value
        for pair in guidelines(table, bound="point").pair_ceilings
    }
    assert pairs == {
        ("unchanged", "bridge"): 1.4,
        ("sentence_removal", "bridge"): 0.6,
        ("unchanged", "comparison"): 1.4,
        ("sentence_removal", "comparison"): 1.4,
    }


def test_the_upper_end_of_the_interval_decides_and_lies_in_the_interval_of_the_ceiling() -> None:
    table = made_study(onset=1.0, steepness=0.05, noise=0.02)
    result = guidelines(table)
    (own,) = result.ceilings
    highs = {(loss.cell.temperature or 0.0): loss.loss.high or 0.0 for loss in result.losses}
    highs = {
        temperature: max(loss.loss.high or 0.0 for loss in result.losses if loss.cell.temperature == temperature)
        for temperature in highs
        if temperature  # The coolest is compared with itself.
    }
    allowed = [t for t in TEMPERATURES if all(high <= 0.01 + 1e-9 for hot, high in highs.items() if hot <= t)]
    value, low, high = own.ceiling.value, own.ceiling.low, own.ceiling.high
    assert value is not None and low is not None and high is not None and own.by_means is not None
    assert value == max(allowed)
    assert value <= own.by_means
    assert low <= value <= high


def test_a_clear_loss_has_a_ceiling_without_doubt() -> None:
    own = of_system(made_study(onset=1.0, steepness=0.3, noise=0.002))
    assert (own.ceiling.value, own.ceiling.low, own.ceiling.high) == (1.0, 1.0, 1.0)
    assert own.next_temperature == 1.2
    assert own.next_loss is not None and own.next_loss.low is not None and own.next_loss.low > 0.01
    assert own.cool is not None and own.cool.value == pytest.approx(0.95, abs=0.01)
    assert own.hot is not None and own.hot.value == pytest.approx(0.65, abs=0.01)
    assert own.baseline_cv is not None and own.baseline_cv.value == pytest.approx(0.002, abs=0.001)


def test_the_onset_of_a_made_decline_is_found() -> None:
    onsets = guidelines(made_study(onset=1.0, steepness=0.3, noise=0.002)).onsets
    assert {own.onset.value for own in onsets} == {1.0}
    for own in onsets:
        assert own.onset.low is not None and own.onset.high is not None and own.slope.high is not None
        assert own.onset.low <= 1.0 <= own.onset.high and own.slope.high < 0


def test_a_flat_line_has_no_onset() -> None:
    onsets = guidelines(made_study(steepness=0.0, seed=3)).onsets
    pooled = [own.onset for own in onsets if own.cell.group is None and own.cell.perturbation == "unchanged"]
    assert [(onset.value, onset.reason) for onset in pooled] == [(None, "no decline was found")]


def test_a_model_that_ignores_temperature_has_no_ceiling() -> None:
    table = made_study(models=("deepseek", "smollm2"), steepness=0.3, noise=0.002)
    flat = NotApplied(model="deepseek", method=table["method"][0], reason="it says so")
    result = guidelines(table, not_applied=(flat,))
    ceilings = {own.cell.system.model: own for own in result.ceilings if own.cell.system is not None}
    deepseek = ceilings["deepseek"]
    assert (deepseek.ceiling.value, deepseek.ceiling.reason) == (None, "temperature not applied")
    assert not deepseek.is_applied and deepseek.by_means is None
    assert ceilings["smollm2"].ceiling.value == 1.0 and ceilings["smollm2"].is_applied
    ignored = [own for own in result.onsets if own.cell.system == deepseek.cell.system]
    assert {(own.onset.value, own.slope.value, own.is_applied) for own in ignored} == {(None, None, False)}


def test_the_margin_of_a_share_is_five_points() -> None:
    shares = made_study(metric="contains", steepness=2.0, onset=0.9)
    shares = shares.with_columns(value=(pl.col("value") > 0.5).cast(pl.Float64))
    (margin,) = guidelines(shares, margin=None).margins
    assert (margin.metric, margin.value, margin.unit) == ("contains", 0.05, "share")


def test_which_noise_hurts_where_is_found() -> None:
    noise = guidelines(made_study(costs={"unchanged": 0.0, "harmless": 0.0, "harmful": 0.05})).noise
    pooled = [own for own in noise if own.cell.group is None]
    assert all(own.p is not None and own.p < 0.001 for own in pooled if own.cell.perturbation == "harmful")
    assert any(own.p is not None and own.p > 0.05 for own in pooled if own.cell.perturbation == "harmless")


def test_the_best_model_is_named_only_where_it_is_clear() -> None:
    strong = made_study(models=("strong",), steepness=0.3, noise=0.002)
    steady = made_study(models=("steady",), steepness=0.0).with_columns(pl.col("value") - 0.05)
    twin = made_study(models=("twin",), steepness=0.0, seed=0).with_columns(pl.col("value") - 0.05)
    choices = guidelines(pl.concat([strong, steady])).choices
    assert [(own.cell.temperature, own.cell.system and own.cell.system.model, own.p < 0.001) for own in choices] == [
        (0.0, "strong", True),
        (2.0, "steady", True),
    ]
    assert choices[0].other.system is not None and choices[0].other.system.model == "steady"
    assert {own.p for own in guidelines(pl.concat([steady, twin])).choices} == {1}


def test_the_best_must_be_shown_to_lead_each_of_the_others() -> None:
    """It leads the next by a little on every question, and the third by more, but only on average."""
    scores = {"best": 0.9, "next": 0.89, "third": 0.85}
    table = pl.concat(
        [
            score_rows({f"q{i:02}": (mean + (name == "third") * 0.2 * (-1) ** i,) for i in range(12)}, model=name)
            for name, mean in scores.items()
        ]
    )
    (choice,) = guidelines(table).choices
    assert choice.lead.value == pytest.approx(0.01)
    assert choice.other.system is not None and choice.other.system.model == "next"
    assert choice.p > 0.3


def test_a_method_that_does_not_search_has_a_ceiling_too() -> None:
    table = made_study(costs={"unchanged": 0.0}, steepness=0.3, noise=0.002).with_columns(
        perturbation=pl.lit(None, dtype=pl.String), retriever=pl.lit(None, dtype=pl.String)
    )
    own = of_system(table)
    assert own.ceiling.value == 1.0
    assert own.worst.perturbation is None


def test_a_system_that_may_not_be_heated_has_the_coolest_as_its_ceiling() -> None:
    own = of_system(made_study(onset=0.0, steepness=0.3, noise=0.002))
    assert (own.ceiling.value, own.coolest, own.next_temperature) == (0.0, 0.0, 0.2)


def test_an_onset_at_the_first_place_it_can_have_may_be_earlier() -> None:
    early, late = (guidelines(made_study(onset=at, steepness=0.3, noise=0.002)).onsets[0] for at in (0.0, 1.0))
    assert (early.onset.value, early.is_first) == (0.2, True)
    assert (late.onset.value, late.is_first) == (1.0, False)


def test_over_several_wordings_the_worst_evidence_in_the_worst_wording_decides() -> None:
    table = pl.concat(
        [
            curve(GPT),
            curve(GPT, perturbation="sentence_removal"),
            curve(GPT, variation="spelling"),
            curve(LLAMA, variation="spelling", perturbation="sentence_removal"),
        ]
    )
    *each, over = guidelines(table, bound="point").ceilings
    assert (over.cell.variation, over.ceiling.value) == (None, 0.6)
    assert (over.worst.perturbation, over.worst.variation) == ("sentence_removal", "spelling")
    assert {own.cell.variation: own.ceiling.value for own in each} == {"original": 1.4, "spelling": 0.6}
    assert [own.is_part for own in (*each, over)] == [True, True, False]


def test_one_wording_has_no_ceiling_over_wordings() -> None:
    own = of_system(curve(GPT), bound="point")
    assert (own.cell.variation, own.is_part) == ("original", False)


def test_the_margin_of_the_study_holds_for_its_own_number_alone() -> None:
    both = pl.concat([made_study(temperatures=(0.0, 1.0), metric=metric) for metric in ("rouge1", "bertscore")])
    tables = few_tables(both, margin=0.5)
    assert [margin.value for margin in guidelines_of(tables).margins] == [0.5]
    assert guidelines_of(tables, metric="bertscore").margins[0].times == 0.2
