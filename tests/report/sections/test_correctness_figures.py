from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import polars as pl
import pytest
from drawn import draw
from few_resamples import few_tables
from made_page import made_page
from made_study import made_study
from score_rows import score_rows

from shaketable.analyses.evidence.correctness import correctness
from shaketable.analyses.evidence.guidelines import guidelines
from shaketable.report.charts.few import few
from shaketable.report.section import Band, Figure
from shaketable.report.sections.correctness import section
from shaketable.report.sections.single_questions import cool_and_hot
from shaketable.types import NotApplied


def figures(table: pl.DataFrame, band: Band = "interval", **more: object) -> dict[str, Figure]:
    tables = few_tables(table, **more)
    result = correctness(tables)
    page = dataclasses.replace(made_page(tables, result), band=band)
    return {figure.name: figure for figure in section(result, page).figures}


SMALL = made_study(temperatures=(0.0, 0.4, 1.0), n_questions=4)


def test_there_are_lines_a_forest_and_boxes_of_each_type() -> None:
    made = figures(SMALL)
    assert list(made) == [
        "score_by_temperature_bertscore",
        "evidence_drops_bertscore",
        "score_boxes_bertscore_smollm2_comparison",
        "score_boxes_bertscore_smollm2_bridge",
    ]
    assert [figure.chapter for figure in made.values()] == ["dice", None, None, None]
    for figure in made.values():
        assert "sentence removal" in " ".join(draw(figure.draw()).texts).replace(
            "sentence  removal", "sentence removal"
        )


def test_lines_are_of_types_where_there_are_several_in_the_order_of_the_paper() -> None:
    marks = figures(SMALL)["score_by_temperature_bertscore"].marks
    assert list(dict.fromkeys(mark.row for mark in marks)) == ["comparison", "bridge"]
    untyped = figures(SMALL.with_columns(type=pl.lit(None, dtype=pl.String)))["score_by_temperature_bertscore"]
    assert {mark.row for mark in untyped.marks} == {"all types"}


def test_a_figure_says_what_it_shows_how_to_read_it_and_of_how_many_questions() -> None:
    figure = figures(SMALL)["score_by_temperature_bertscore"]
    assert figure.title == "bertscore against temperature"
    assert figure.caption.startswith("Raising the temperature from 0 to 1")
    assert figure.note == (
        "Lines are means over questions, bands 95 % confidence intervals over questions. "
        "n = 2 questions behind each point."
    )


def test_bands_are_intervals_or_deviations_between_runs_as_asked() -> None:
    runs = {"q1": (0.5, 0.7), "q2": (0.6, 0.8)}  # Both deviate by 0.1 √2.
    table = pl.concat([score_rows(runs, temperature=t) for t in (0.0, 1.0)])
    first = figures(table, "sd")["score_by_temperature_bertscore"].marks[0]
    assert (first.value, first.low, first.high) == pytest.approx((0.65, 0.65 - 0.1 * 2**0.5, 0.65 + 0.1 * 2**0.5))
    first = figures(table)["score_by_temperature_bertscore"].marks[0]
    # Student's t with one degree of freedom reaches far: 0.65 ± 12.706 · 0.05, one more question at 0 further still.
    assert (first.low, first.high) == (0, 1)
    single = figures(table.filter(repeat=0), "sd")["score_by_temperature_bertscore"]
    assert {(mark.low, mark.high) for mark in single.marks} == {(None, None)}
    assert "± the standard deviation between runs" in single.note


def test_a_system_that_temperature_did_not_reach_is_marked_in_its_panels() -> None:
    flat = NotApplied(model="smollm2", method="single_retrieval", reason="it says so")
    figure = figures(SMALL, not_applied=(flat,))["score_by_temperature_bertscore"]
    assert {mark.panel for mark in figure.marks} == {"smollm2 · temperature not applied"}
    assert {"smollm2", "temperature not applied"} <= set(draw(figure.draw()).texts)


def test_a_ceiling_is_marked_in_the_panels_of_its_system_and_metric_alone() -> None:
    both = made_study(models=("firm", "soft"), temperatures=(0.0, 1.0, 2.0), n_questions=8, steepness=0.3)
    both = pl.concat([both, both.with_columns(metric=pl.lit("token_f1"))])
    tables = few_tables(both)
    result = correctness(tables)
    page = made_page(tables, result, guidelines(tables, margin=0.05))
    made = {figure.name: figure for figure in section(result, page).figures}
    assert draw(made["score_by_temperature_bertscore"].draw()).texts.count("ceiling 1") == 2 * 2  # systems × types
    assert "Dashed line: highest temperature confirmed safe." in made["score_by_temperature_bertscore"].note
    assert not any("ceiling" in text for text in draw(made["score_by_temperature_token_f1"].draw()).texts)


def test_the_forest_shows_paired_drops_of_all_types_with_the_largest_on_top() -> None:
    figure = figures(made_study(models=("gpt", "smollm2"), temperatures=(0.0, 1.0)))["evidence_drops_bertscore"]
    assert {mark.row for mark in figure.marks} == {""}
    assert len(figure.marks) == 2 * 3 * 2
    names = {mark.x for mark in figure.marks if mark.label == "gpt"}
    assert names == {f"gpt · {name}" for name in ("entity masking", "sentence removal", "sentence replacement")}
    assert figure.draw_live is not None
    alone = figures(made_study(temperatures=(0.0,)))["evidence_drops_bertscore"]
    assert alone.draw_live is None
    texts = [text for text in draw(alone.draw()).texts if text.startswith(("sentence", "entity"))]
    assert texts == ["sentence replacement", "sentence removal", "entity masking"]


def test_a_forest_picks_a_few_temperatures_with_both_ends() -> None:
    assert few([0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0]) == [0.0, 0.6, 1.4, 2.0]
    assert few([0.0, 1.0]) == [0.0, 1.0]
    assert few([0.7]) == [0.7]


def test_other_metrics_are_folded_away() -> None:
    both = pl.concat([SMALL, SMALL.with_columns(metric=pl.lit("token_f1"))])
    made = figures(both)
    assert {name: figure.is_main for name, figure in made.items() if "drops" in name} == {
        "evidence_drops_bertscore": True,
        "evidence_drops_token_f1": False,
    }


def test_boxes_show_a_cool_temperature_beside_the_hottest() -> None:
    # The study's grid has 0.6; of two equally near the cooler is taken.
    assert cool_and_hot({0.0, 0.6, 2.0}, 0.6) == [0.6, 2.0]
    assert cool_and_hot({0.5, 0.7, 2.0}, 0.6) == [0.5, 2.0]
    assert cool_and_hot({0.6}, 0.6) == [0.6]
    marks = figures(SMALL)["score_boxes_bertscore_smollm2_bridge"].marks
    assert {mark.panel for mark in marks} == {"temperature 0.4", "temperature 1"}


def test_boxes_hold_the_mean_of_each_question_over_its_runs_and_their_numbers() -> None:
    table = score_rows({"q1": (0.2, 0.4), "q2": (0.5, 0.5), "q3": (0.9, None)}, metric="token_f1")
    (figure,) = figures(table).values()
    assert {mark.label: mark.value for mark in figure.marks} == pytest.approx({"q1": 0.3, "q2": 0.5, "q3": 0.9})
    assert figure.title == "Single questions: token_f1 of smollm2, all types"
    assert figure.caption == "3 questions are too few to speak of a median."
    assert figure.table is not None
    assert figure.table.rows == (("unchanged", "0", 3, "0.3", "0.4", "0.5", "0.7", "0.9"),)


def test_of_many_systems_those_that_heat_moves_most_and_least_are_on_the_page() -> None:
    tables = [
        made_study(models=(model,), steepness=steepness, temperatures=(0.0, 2.0), costs={"unchanged": 0.0})
        for model, steepness in (("firm", 0.0), ("middling", 0.1), ("soft", 0.3))
    ]
    made = figures(pl.concat(tables))
    shown = {name: figure.is_on_page for name, figure in made.items() if name.endswith("bridge")}
    assert shown == {
        "score_boxes_bertscore_firm_bridge": True,
        "score_boxes_bertscore_middling_bridge": False,
        "score_boxes_bertscore_soft_bridge": True,
    }
    assert made["score_boxes_bertscore_soft_bridge"].is_main and not made["score_boxes_bertscore_firm_bridge"].is_main


def joint_table() -> pl.DataFrame:
    settings = itertools.product(("original", "spelling"), ("unchanged", "sentence_removal"), (0.0, 0.5, 1.5))
    rows = {f"q{i}": (float(i % 2),) for i in range(4)}
    return pl.concat(
        [
            *(
                score_rows(rows, metric="contains", variation=variation, perturbation=perturbation, temperature=t)
                for variation, perturbation, t in settings
            ),
            score_rows(rows, metric="contains", method="closed_book", retriever=None, perturbation=None),
        ]
    )


def test_the_surface_has_a_box_for_every_setting_of_those_that_search() -> None:
    figure = figures(joint_table())["correctness_surface"]
    assert figure.chapter == "together"
    assert len(figure.marks) == 2 * 2 * 3
    assert {mark.y for mark in figure.marks} == {"unchanged", "sentence removal"}
    assert (figure.marks[0].row, figure.marks[0].y) == ("original", "unchanged")
    assert figure.title == "The surface: correctness by wording, evidence and temperature"
    assert figure.caption.startswith("It runs from 50 % [")
    assert figure.note.endswith("n = 4 questions.")


def test_without_wordings_there_is_no_surface() -> None:
    assert "correctness_surface" not in figures(joint_table().filter(variation="original"))


def test_of_very_many_questions_boxes_show_some_and_stay_where_they_are() -> None:
    """499 questions of each type: the quartiles of all, by numpy, are those of the points that are drawn."""
    costs = {"unchanged": 0.0, "sentence_removal": 0.02}
    table = made_study(temperatures=(0.6, 1.0), n_questions=998, n_runs=1, costs=costs, noise=0.1)
    figure = figures(table)["score_boxes_bertscore_smollm2_bridge"]
    assert len(figure.marks) == 499 * 4, "The CSV has all."
    assert "201 of them are drawn, evenly spaced by rank; the CSV has all." in figure.note
    drawn = figure.draw.args[0]
    assert len(drawn) == 201 * 4
    for panel, series in itertools.product(("temperature 0.6", "temperature 1"), ("unchanged", "sentence removal")):
        every, some = (
            [mark.value for mark in marks if (mark.panel, mark.series) == (panel, series)]
            for marks in (figure.marks, drawn)
        )
        quartiles = np.quantile(every, (0, 0.25, 0.5, 0.75, 1))
        assert np.quantile(some, (0, 0.25, 0.5, 0.75, 1)) == pytest.approx(quartiles, abs=0.002)
        assert (min(some), max(some)) == (min(every), max(every))
