from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from few_resamples import quick
from made_study import TEMPERATURES, made_study
from score_rows import score_rows

from shaketable.analyses.evidence.guidelines import guidelines as with_all_resamples
from shaketable.statistics.ceilings import ceiling_index, hinge
from shaketable.types import OldFinding

every_margin = quick(with_all_resamples)


def guidelines(table: pl.DataFrame, margin: float | str | None = 0.01, **settings: Any) -> OldFinding:
    """With the published margin, which fits these made scores, unless another is asked for."""
    return every_margin(table, margin=margin, **settings)


# The worked examples of the specification, section 12.3.
GPT = (0.962, 0.961, 0.962, 0.960, 0.961, 0.960, 0.958, 0.953, 0.905, 0.830, 0.760)
LLAMA = (0.930, 0.930, 0.929, 0.925, 0.915, 0.905, 0.895, 0.880, 0.865, 0.850, 0.835)
FLAT = (0.900, 0.901, 0.899, 0.900, 0.902, 0.898, 0.900, 0.901, 0.899, 0.900, 0.900)


def curve(means: tuple[float, ...], **factors: Any) -> pl.DataFrame:
    """One question whose score at each temperature is the mean."""
    return pl.concat(
        [score_rows({"q": (mean,)}, temperature=t, **factors) for t, mean in zip(TEMPERATURES, means, strict=True)]
    )


def of_system(table: pl.DataFrame, **settings: Any) -> dict[str, Any]:
    (row,) = (row for row in guidelines(table, **settings).rows if row["kind"] == "ceiling" and row["decides"])
    return dict(row)


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
    row = of_system(curve(means), margin=delta, bound="point")
    assert (row["value"], row["point"]) == (ceiling, ceiling)


@pytest.mark.parametrize(("means", "onset", "slope"), [(GPT, 1.4, -0.327839), (LLAMA, 0.6, -0.0651587)])
def test_the_hinges_of_the_specification_come_out(means: tuple[float, ...], onset: float, slope: float) -> None:
    found = hinge(TEMPERATURES, np.array(means)[:, None])
    assert found[0][0] == pytest.approx(onset)
    assert found[1][0] == pytest.approx(slope, abs=1e-6)
    (row,) = (row for row in guidelines(curve(means), bound="point").rows if row["kind"] == "onset")
    assert (row["value"], row["slope"]) == (pytest.approx(onset), pytest.approx(slope, abs=1e-6))


def test_with_the_published_margin_the_papers_ceilings_come_out() -> None:
    """GPT 1.4, Llama 0.6, deepseek none: 2.0 is the hottest that was tried."""
    found = {name: of_system(curve(means), bound="point") for name, means in (("g", GPT), ("l", LLAMA), ("f", FLAT))}
    assert {name: row["value"] for name, row in found.items()} == {"g": 1.4, "l": 0.6, "f": 2.0}
    assert found["f"]["sentence"].startswith("smollm2 may run as hot as was tried (2): it loses by its point values no")


def test_a_recovery_does_not_lift_the_ceiling() -> None:
    assert ceiling_index(np.array([0.0, 0.02, 0.0, 0.0]), 0.01) == 0


def test_a_loss_of_exactly_the_margin_is_allowed() -> None:
    assert ceiling_index(np.array([0.0, 0.95 - 0.94, 0.02]), 0.01) == 1


def test_an_unknown_loss_is_not_within_the_margin() -> None:
    assert ceiling_index(np.array([np.nan, 0.0]), 0.01) == -1
    row = of_system(curve(GPT))
    assert (row["value"], row["reason"]) == (None, "too few questions for an interval")


def test_the_worst_evidence_and_type_decide() -> None:
    table = pl.concat(
        [
            curve(GPT, type="bridge"),
            curve(LLAMA, perturbation="sentence_removal", type="bridge"),
            curve(GPT, type="comparison").with_columns(question_id=pl.lit("r")),
            curve(GPT, perturbation="sentence_removal", type="comparison").with_columns(question_id=pl.lit("r")),
        ]
    )
    row = of_system(table, bound="point")
    assert row["value"] == 0.6
    assert (row["worst_perturbation"], row["worst_type"]) == ("sentence_removal", "bridge")
    assert "with the worst evidence (sentence removal, bridge)." in row["sentence"]
    pairs = {
        (row["perturbation"], row["type"]): row["value"]
        for row in guidelines(table, bound="point").rows
        if row["kind"] == "ceiling" and not row["decides"]
    }
    assert pairs == {
        ("unchanged", "bridge"): 1.4,
        ("sentence_removal", "bridge"): 0.6,
        ("unchanged", "comparison"): 1.4,
        ("sentence_removal", "comparison"): 1.4,
    }


def test_the_upper_end_of_the_interval_decides_and_lies_in_the_interval_of_the_ceiling() -> None:
    table = made_study(onset=1.0, steepness=0.05, noise=0.02)
    found = guidelines(table)
    row = of_system(table)
    heat = [row for row in found.rows if row["kind"] == "heat"]
    allowed = [t for t in TEMPERATURES if all(one["high"] <= 0.01 + 1e-9 for one in heat if one["temperature"] <= t)]
    assert row["value"] == max(allowed)
    assert row["value"] <= row["point"]
    assert row["low"] <= row["value"] <= row["high"]
    assert "cannot be ruled out with the worst evidence" in row["sentence"]


def test_a_clear_loss_is_told_as_one() -> None:
    row = of_system(made_study(onset=1.0, steepness=0.3, noise=0.002))
    assert row["value"] == 1.0
    assert row["sentence"].startswith(
        "Keep smollm2 at or below 1: at 1.2, answers lose more than 0.01 bertscore with the worst evidence ("
    )
    assert row["detail"].startswith("The ceiling is 1 [1, 1]. With undisturbed evidence its bertscore is 0.9")
    assert "its stability baseline is 0.0" in row["detail"]


def test_the_onset_of_a_made_decline_is_found() -> None:
    onsets = [
        row for row in guidelines(made_study(onset=1.0, steepness=0.3, noise=0.002)).rows if row["kind"] == "onset"
    ]
    assert {row["value"] for row in onsets} == {1.0}
    assert all(row["low"] <= 1.0 <= row["high"] and row["slope_high"] < 0 for row in onsets)


def test_a_flat_line_has_no_onset() -> None:
    onsets = [row for row in guidelines(made_study(steepness=0.0, seed=3)).rows if row["kind"] == "onset"]
    pooled = [row for row in onsets if row["type"] is None and row["perturbation"] == "unchanged"]
    assert [(row["value"], row["reason"]) for row in pooled] == [(None, "no decline was found")]


def test_a_model_that_ignores_temperature_has_no_ceiling() -> None:
    table = made_study(models=("deepseek", "smollm2"), steepness=0.3, noise=0.002)
    found = guidelines(table, not_applied=(("deepseek", table["method"][0]),))
    rows = {row["system"]: row for row in found.rows if row["kind"] == "ceiling" and row["decides"]}
    assert (rows["deepseek"]["value"], rows["deepseek"]["reason"]) == (None, "temperature not applied")
    assert rows["smollm2"]["value"] == 1.0
    assert {row["value"] for row in found.rows if row["kind"] == "onset" and row["model"] == "deepseek"} == {None}
    assert any(text.startswith("deepseek does not apply the temperature") for text in found.sentences)


def test_the_margin_of_a_share_is_five_points() -> None:
    shares = made_study(metric="contains", steepness=2.0, onset=0.9)
    shares = shares.with_columns(value=(pl.col("value") > 0.5).cast(pl.Float64))
    row = of_system(shares, margin=None)
    assert row["delta"] == 0.05
    assert "answers lose more than 5 points of correctness with" in row["sentence"]


def test_which_noise_hurts_where_is_told() -> None:
    found = guidelines(made_study(costs={"unchanged": 0.0, "harmless": 0.0, "harmful": 0.05}))
    verdicts = {row["verdict"] for row in found.rows if row["kind"] == "noise" and row["perturbation"] == "harmful"}
    assert verdicts == {"hurts"}
    assert any("harmful at every temperature tried" in text for text in found.sentences)


def test_the_best_model_is_named_only_where_it_is_clear() -> None:
    strong = made_study(models=("strong",), steepness=0.3, noise=0.002)
    steady = made_study(models=("steady",), steepness=0.0).with_columns(pl.col("value") - 0.05)
    twin = made_study(models=("twin",), steepness=0.0, seed=0).with_columns(pl.col("value") - 0.05)
    choices = [row for row in guidelines(pl.concat([strong, steady])).rows if row["kind"] == "choice"]
    assert [(row["temperature"], row["system"], row["verdict"]) for row in choices] == [
        (0.0, "strong", "best"),
        (2.0, "steady", "best"),
    ]
    same = [row for row in guidelines(pl.concat([steady, twin])).rows if row["kind"] == "choice"]
    assert {row["verdict"] for row in same} == {"no clear winner"}


def test_a_method_that_does_not_search_has_a_ceiling_too() -> None:
    table = made_study(costs={"unchanged": 0.0}, steepness=0.3, noise=0.002).with_columns(
        perturbation=pl.lit(None, dtype=pl.String), retriever=pl.lit(None, dtype=pl.String)
    )
    row = of_system(table)
    assert row["value"] == 1.0
    assert row["worst_perturbation"] is None


def test_a_system_that_may_not_be_heated_is_told_so() -> None:
    row = of_system(made_study(onset=0.0, steepness=0.3, noise=0.002))
    assert row["sentence"].startswith("Keep smollm2 at 0: at 0.2, answers lose more than 0.01 bertscore")


def test_an_onset_at_the_first_place_it_can_have_may_be_earlier() -> None:
    found = guidelines(made_study(onset=0.0, steepness=0.3, noise=0.002))
    (sentence,) = (text for text in found.sentences if "begins to fall" in text)
    assert "begins to fall at about temperature 0.2 [0.2, 0.2] or before, by 0.3" in sentence


def test_over_several_wordings_the_worst_evidence_in_the_worst_wording_decides() -> None:
    table = pl.concat(
        [
            curve(GPT),
            curve(GPT, perturbation="sentence_removal"),
            curve(GPT, variation="spelling"),
            curve(LLAMA, variation="spelling", perturbation="sentence_removal"),
        ]
    )
    finding = guidelines(table, bound="point")
    over, *each = sorted(
        (row for row in finding.rows if row["kind"] == "ceiling" and row["decides"]),
        key=lambda row: row["worst_variation"] is None,
    )
    assert (over["system"], over["variation"], over["value"]) == ("smollm2", None, 0.6)
    assert (over["worst_perturbation"], over["worst_variation"]) == ("sentence_removal", "spelling")
    assert {row["variation"]: row["value"] for row in each} == {"original": 1.4, "spelling": 0.6}
    # The one over all wordings speaks for them.
    assert [row["sentence"] is not None for row in (over, *each)] == [True, False, False]
    assert "with the worst evidence and wording (sentence removal, spelling)." in over["sentence"]


def test_one_wording_has_no_ceiling_over_wordings() -> None:
    assert of_system(curve(GPT), bound="point").get("worst_variation") is None
