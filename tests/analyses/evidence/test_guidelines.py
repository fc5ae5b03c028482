from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from few_resamples import few_tables
from made_study import TEMPERATURES, made_study
from score_rows import score_rows

from shaketable.analyses.evidence.correctness import correctness
from shaketable.analyses.evidence.guidelines import Guidelines
from shaketable.analyses.evidence.guidelines import guidelines as guidelines_of
from shaketable.analyses.evidence.heat_ceilings import Ceiling
from shaketable.analyses.evidence.heat_losses import Bound
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
    assert (own.value, own.reason) == (None, "fewer than 8 questions")


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


def test_every_loss_up_to_the_ceiling_is_bounded_by_the_margin() -> None:
    result = guidelines(made_study(onset=1.0, steepness=0.05, noise=0.006))
    (own,) = result.ceilings
    assert own.ceiling.value is not None and own.by_means is not None
    assert 0 < own.ceiling.value <= own.by_means
    assert (own.ceiling.low, own.ceiling.high) == (None, None), "It is a bound itself."
    hotter = [loss for loss in result.losses if (loss.cell.temperature or 0.0) > 0]
    shown = {loss.cell.temperature for loss in hotter} - {
        loss.cell.temperature for loss in hotter if loss.p is None or loss.p >= 0.05
    }
    assert own.ceiling.value == max(t for t in TEMPERATURES if all(s in shown for s in TEMPERATURES[1:] if s <= t))
    for loss in hotter:
        high = loss.loss.high
        assert loss.p is not None and high is not None
        assert loss.p < 0.025 or high >= 0.01, "An interval of 95 % is wider than the bound."


def test_shares_that_never_lose_have_a_ceiling_only_with_enough_questions() -> None:
    """.95^59 is below .05, .95^58 is not."""
    for n, ceiling in ((58, 0.0), (59, 1.0)):
        right = {f"q{i}": (1.0,) for i in range(n)}
        table = pl.concat([score_rows(right, metric="contains", temperature=t) for t in (0.0, 1.0)])
        own = of_system(table, margin=None)
        assert (own.ceiling.value, own.by_means) == (ceiling, 1.0)


@pytest.mark.slow
def test_ceilings_lie_above_the_true_one_in_a_twentieth_of_studies_at_most() -> None:
    """6 % of the questions break at temperature 1, and the margin is 5 points."""
    rng, too_high = np.random.default_rng(0), []
    for n in (3, 12, 24, 60, 90):
        for _ in range(40):
            runs = {0.0: np.ones(n), 1.0: (rng.random(n) > 0.06).astype(float)}
            table = pl.concat(
                [
                    score_rows({f"q{i}": (v,) for i, v in enumerate(values)}, metric="contains", temperature=t)
                    for t, values in runs.items()
                ]
            )
            too_high.append(of_system(table, margin=None).ceiling.value == 1.0)
    assert np.mean(too_high) < 0.08


def test_types_with_too_few_questions_are_asked_together_with_all_others() -> None:
    table = made_study(onset=1.0, steepness=0.3, noise=0.002)
    is_rare = pl.col("question_id").is_in(["q0000", "q0002"])
    table = table.with_columns(type=pl.when(is_rare).then(pl.lit("rare")).otherwise(pl.col("type")))
    result = guidelines(table)
    assert {pair.cell.group for pair in result.pair_ceilings} == {None, "bridge", "comparison"}
    assert result.ceilings[0].ceiling.value == 1.0


def test_failures_that_decide_end_the_steps() -> None:
    table = made_study(onset=3.0, noise=0.002, metric="contains").with_columns(value=pl.lit(1.0))
    failed = (pl.col("temperature") == 1.0) & (pl.col("question_id") < "q0020")
    table = pl.concat([table, *(table.with_columns(question_id=pl.col("question_id") + f"_{i}") for i in range(6))])
    whole = of_system(table, margin=None)
    value = pl.when(failed & (pl.col("repeat") == 0)).then(None).otherwise("value")
    missing = of_system(table.with_columns(value=value), margin=None)
    assert (whole.ceiling.value, missing.ceiling.value) == (2.0, 0.8)


def test_a_clear_loss_has_a_ceiling_without_doubt() -> None:
    own = of_system(made_study(onset=1.0, steepness=0.3, noise=0.002))
    assert own.ceiling.value == 1.0
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


def test_heat_is_one_claim_of_guidelines_and_correctness() -> None:
    tables = few_tables(made_study(onset=1.0, steepness=0.3, noise=0.002))
    (own,) = (claim for claim in guidelines_of(tables).claims() if claim.subject.kind == "heat")
    (other,) = (claim for claim in correctness(tables).claims() if claim.subject.kind == "heat")
    assert own.subject == other.subject
    assert own.p == other.p
    for end in ("value", "low", "high"):
        assert getattr(own.estimate, end) == pytest.approx(getattr(other.estimate, end))


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
