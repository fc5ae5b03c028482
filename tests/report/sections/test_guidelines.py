from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
from few_resamples import few_tables
from made_page import made_page
from made_study import TEMPERATURES, made_study
from score_rows import score_rows

from shaketable.analyses.evidence.correctness import correctness
from shaketable.analyses.evidence.guidelines import guidelines
from shaketable.analyses.floors import find_nothing_to_lose
from shaketable.report.cards import choose_headlines
from shaketable.report.section import Headline, Section
from shaketable.report.sections.guidelines import section
from shaketable.types import NotApplied

FLAT = (0.900, 0.901, 0.899, 0.900, 0.902, 0.898, 0.900, 0.901, 0.899, 0.900, 0.900)
FALLING = (0.930, 0.930, 0.929, 0.925, 0.915, 0.905, 0.895, 0.880, 0.865, 0.850, 0.835)


def section_of(
    table: pl.DataFrame,
    margin: float | None = 0.01,
    not_applied: tuple[NotApplied, ...] = (),
    **settings: Any,
) -> Section:
    tables = few_tables(table, not_applied=not_applied)
    result = guidelines(tables, margin=margin, **settings)
    return section(result, made_page(tables, correctness(tables), result))


def of_kind(made: Section, kind: str) -> list[Headline]:
    return [headline for headline in made.headlines if headline.kind == kind]


def curve(means: tuple[float, ...], **factors: Any) -> pl.DataFrame:
    """One question whose score at each temperature is the mean."""
    return pl.concat(
        [score_rows({"q": (mean,)}, temperature=t, **factors) for t, mean in zip(TEMPERATURES, means, strict=True)]
    )


def test_a_clear_loss_is_told_as_one() -> None:
    (headline,) = of_kind(section_of(made_study(onset=1.0, steepness=0.3, noise=0.002)), "ceiling")
    assert headline.sentence.startswith("Keep smollm2 at or below 1: at 1.2, bertscore drops by more than 0.01 on ")
    assert headline.detail.startswith("Bertscore with unchanged evidence: 0.9")
    assert (headline.number, headline.interval) == ("≤ 1", "")


def test_the_card_of_a_ceiling_shows_the_scores_of_the_pair_that_decides() -> None:
    (headline,) = of_kind(section_of(made_study(onset=1.0, steepness=0.3, noise=0.002)), "ceiling")
    assert [point.temperature for point in headline.spark] == list(TEMPERATURES)
    assert headline.spark[0].value > headline.spark[-1].value
    worst = headline.cell
    evidence = str(worst.perturbation).replace("_", " ")
    assert headline.spark_title.endswith(f" by temperature, {evidence}, {worst.group}")


def test_a_loss_that_intervals_allow_cannot_be_ruled_out() -> None:
    (headline,) = of_kind(section_of(made_study(onset=1.0, steepness=0.03, noise=0.012)), "ceiling")
    assert headline.sentence.startswith("Temperature: inconclusive for smollm2. No temperature above 0 ")
    assert "By the means alone it would be 1." in headline.detail


def test_a_flat_line_may_run_as_hot_as_was_tried() -> None:
    (headline,) = of_kind(section_of(curve(FLAT), bound="point"), "ceiling")
    assert headline.sentence == (
        "Every temperature up to 2 is safe for smollm2: bertscore drops by less than 0.01 by point values."
    )


def test_a_system_that_may_not_be_heated_is_told_so() -> None:
    (headline,) = of_kind(section_of(made_study(onset=0.0, steepness=0.3, noise=0.002)), "ceiling")
    assert headline.sentence.startswith("Keep smollm2 at 0: at 0.2, bertscore drops by more than 0.01")


def test_too_few_questions_have_no_ceiling() -> None:
    (headline,) = of_kind(section_of(made_study(n_questions=4, steepness=0.3, noise=0.002)), "ceiling")
    assert headline.sentence == "smollm2 has no highest safe temperature: fewer than 8 questions."
    assert (headline.number, headline.is_clear) == ("", False)


def test_where_nothing_can_be_lost_there_is_no_ceiling() -> None:
    """A model that only ever says banana is never right, hot or cool."""
    tables = few_tables(made_study(metric="contains", n_questions=70).with_columns(value=pl.lit(0.0)))
    result = guidelines(tables)
    page = made_page(tables, correctness(tables), result)
    page = replace(page, findings=replace(page.findings, nothing_to_lose=find_nothing_to_lose(tables)))
    made = section(result, page)
    (headline,) = of_kind(made, "ceiling")
    reason = "the baseline is at chance level, no better than a system that is never right"
    assert headline.sentence == f"smollm2 has no highest safe temperature: {reason}."
    assert (headline.number, headline.is_clear) == ("no ceiling", False)
    systems, pairs = made.tables
    told = {systems.rows[0][1], *(row[2] for row in pairs.rows)}
    assert told == {reason}, "No table says otherwise."


def test_without_a_loss_from_heat_that_is_shown_nothing_begins_to_fall() -> None:
    """Three questions of twelve fall, which the hinge sees and the test among all claims does not."""
    falls = {t: {f"q{i:02}": (0.9 - 0.1 * t * (i < 3) + 0.001 * i,) for i in range(12)} for t in TEMPERATURES}
    table = pl.concat([score_rows(runs, temperature=t) for t, runs in falls.items()])
    assert any(onset.onset.value is not None for onset in guidelines(few_tables(table), bound="point").onsets)
    assert not of_kind(section_of(table, bound="point"), "onset")


def all_right(n_questions: int) -> Section:
    shares = made_study(metric="contains", temperatures=(0.0, 1.0), n_questions=n_questions)
    return section_of(shares.with_columns(value=pl.lit(1.0)), margin=None)


def test_a_ceiling_out_of_reach_has_no_card() -> None:
    (headline,) = of_kind(all_right(20), "ceiling")
    assert (headline.number, headline.is_clear) == ("", False)
    assert "needs at least 59 questions of each type; this run has 10." in headline.detail
    assert choose_headlines([headline]) == []


def test_a_ceiling_within_reach_has_a_card() -> None:
    """59 questions of each type that lose nothing show 1 to be safe."""
    (headline,) = of_kind(all_right(118), "ceiling")
    assert (headline.number, headline.is_clear) == ("≤ 1", True)
    assert "needs" not in headline.text


def test_temperature_alone_is_not_blamed_on_a_perturbation() -> None:
    """Both kinds of evidence lose beyond the margin, the perturbed one a little more."""
    costs = {"unchanged": 0.0, "source_reordering": 0.0}
    table = made_study(onset=0.0, steepness=0.3, noise=0.002, costs=costs)
    is_worse = (pl.col("perturbation") == "source_reordering") & (pl.col("temperature") > 0)
    table = table.with_columns(value=pl.col("value") - pl.when(is_worse).then(0.05).otherwise(0.0))
    (headline,) = of_kind(section_of(table), "ceiling")
    assert headline.cell.perturbation == "unchanged"
    assert "reordering" not in headline.sentence and "unchanged" not in headline.sentence


def test_a_perturbation_that_alone_breaks_the_margin_is_named() -> None:
    table = pl.concat([curve(FLAT), curve(FALLING, perturbation="sentence_removal")])
    (headline,) = of_kind(section_of(table, bound="point"), "ceiling")
    assert headline.cell.perturbation == "sentence_removal" and "with sentence removal" in headline.sentence


def test_how_many_questions_a_ceiling_of_a_share_takes_is_told() -> None:
    shares = made_study(metric="contains", temperatures=(0.0, 1.0)).with_columns(value=pl.lit(1.0))
    caveats = section_of(shares, margin=None).caveats
    assert any(caveat.endswith("takes at least 59 questions of each type that lose nothing.") for caveat in caveats)


def test_points_of_a_share_are_points() -> None:
    shares = made_study(metric="contains", steepness=2.0, onset=0.9)
    made = section_of(shares.with_columns(value=(pl.col("value") > 0.5).cast(pl.Float64)), margin=None)
    (headline,) = of_kind(made, "ceiling")
    assert (
        "to keep the drop in correctness under 5 points. Measured at 0.2 on bridge questions: a " in headline.sentence
    )
    assert "needs at least 59 questions of each type; this run has 10." in headline.detail
    assert made.tables[0].title == "Ceilings for a loss of at most 5 points: correctness"


def test_a_model_that_ignores_temperature_is_named_and_claims_nothing() -> None:
    table = made_study(models=("deepseek", "smollm2"), steepness=0.3, noise=0.002)
    flat = NotApplied(model="deepseek", method=table["method"][0], reason="it says so")
    made = section_of(table, not_applied=(flat,))
    (ignoring,) = (headline for headline in of_kind(made, "ceiling") if headline.system == "deepseek")
    assert ignoring.sentence.startswith("deepseek does not apply the temperature, so ")
    assert (ignoring.number, ignoring.is_clear) == ("no ceiling", False)
    assert (
        "A model that does not apply the temperature is flat whatever is asked; that is no robustness." in made.caveats
    )


def test_an_onset_at_the_first_temperature_it_can_have_may_be_earlier() -> None:
    (headline,) = of_kind(section_of(made_study(onset=0.0, steepness=0.3, noise=0.002)), "onset")
    assert headline.sentence.startswith("The bertscore of smollm2 drops from the first step: by 0.03")
    assert headline.detail == "Measured on 20 questions with unchanged evidence."
    assert (headline.number, headline.interval) == ("0.2", "")


def test_which_noise_hurts_where_is_a_sentence_without_a_card() -> None:
    made = section_of(made_study(costs={"unchanged": 0.0, "harmless": 0.0, "harmful": 0.05}))
    (headline,) = of_kind(made, "noise")
    assert "harmful at every temperature tried" in headline.sentence and not headline.number
    assert headline.detail.startswith("The largest difference is that of harmful at temperature ")
    assert headline.text not in made.sentences


def test_the_best_model_is_named_only_where_it_is_clear() -> None:
    strong = made_study(models=("strong",), steepness=0.3, noise=0.002)
    steady = made_study(models=("steady",), steepness=0.0).with_columns(pl.col("value") - 0.05)
    twin = made_study(models=("twin",), steepness=0.0, seed=0).with_columns(pl.col("value") - 0.05)
    cool, hot = of_kind(section_of(pl.concat([strong, steady])), "choice")
    assert cool.sentence.startswith("At temperature 0 strong has the best bertscore, 0.0")
    assert cool.sentence.endswith(" above steady, the next.")
    assert hot.sentence.startswith("At temperature 2 steady has the best bertscore, ") and hot.is_clear
    same = of_kind(section_of(pl.concat([steady, twin])), "choice")
    assert all("no system is shown to be the best: steady and twin lead in bertscore" in one.sentence for one in same)
    assert not any(headline.is_clear for headline in same)


def test_over_several_wordings_the_worst_wording_is_named_and_single_ones_are_not_told() -> None:
    table = pl.concat(
        [
            curve(FLAT),
            curve(FLAT, perturbation="sentence_removal"),
            curve(FLAT, variation="spelling"),
            curve(FALLING, variation="spelling", perturbation="sentence_removal"),
        ]
    )
    made = section_of(table, bound="point")
    (headline,) = of_kind(made, "ceiling")
    assert headline.system == "smollm2"
    assert headline.sentence.endswith("by point values with sentence removal and spelling.")
    assert headline.spark_title.endswith(", sentence removal, spelling")
    assert [row[0] for row in made.tables[0].rows] == ["smollm2 · original", "smollm2 · spelling", "smollm2"]


def test_tables_have_systems_and_folded_pairs() -> None:
    systems, pairs = section_of(made_study(onset=1.0, steepness=0.3, noise=0.002)).tables
    assert systems.title == "Ceilings for a loss of at most 0.01: bertscore"
    ((name, keep, worst, beyond, falls, n),) = systems.rows
    assert (name, keep, falls, n) == ("smollm2", "1", "1", 20)
    assert isinstance(beyond, str) and beyond.endswith(" at 1.2") and isinstance(worst, str)
    assert pairs.is_folded and len(pairs.rows) == 8
    assert pairs.columns[1:5] == ("Evidence", "Ceiling", "Change per unit beyond the onset", "Begins to fall at")
    assert str(pairs.rows[0][3]).startswith("−0.3")
