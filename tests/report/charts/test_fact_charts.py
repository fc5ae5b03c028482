"""Charts of factual robustness, drawn from findings of facts that were made by a rule."""

from __future__ import annotations

import functools

import pytest
from made_facts import made_curve, made_facts

from shaketable.catalog import find
from shaketable.facts.score import f, frs
from shaketable.report.charts.certainty_histogram import histogram_rows
from shaketable.report.charts.drawing import draw_png, draw_svg
from shaketable.report.charts.fact_panels import scored_facts
from shaketable.report.charts.facts_by_temperature import accuracy_rows
from shaketable.report.charts.fragility_curves import curve_rows
from shaketable.report.charts.robustness_density import density_rows
from shaketable.report.charts.robustness_surfaces import surface_rows
from shaketable.types import OldFinding

ANALYSES = {
    "facts_by_temperature": "fact_accuracy",
    "certainty_histogram": "certainty_bins",
    "entropy_by_breaking": "breaking",
    "robustness_scatter": "factual_robustness",
    "robustness_density": "factual_robustness",
    "robustness_surfaces": "factual_robustness",
    "type_ratios": "question_types",
    "fragility_curves": "weakest_facts",
}
"""What each chart draws."""


@functools.cache
def found(analysis: str) -> OldFinding:
    table = made_facts(models=("smollm2", "gpt"), datasets=("squad", "triviaqa"), n=12)
    ask = functools.partial(find("analysis", analysis), table)
    if analysis == "weakest_facts":
        return ask(curves=[made_curve(key, 1.5) for key in table.filter(metric="entropy")["key"]])
    return ask(n_resamples=50, **({"d": (1, 50)} if analysis == "factual_robustness" else {}))


@pytest.mark.parametrize("name", ANALYSES)
def test_every_chart_of_facts_draws_at_the_width_of_the_page(name: str) -> None:
    chart = find("chart", name)(found(ANALYSES[name]))
    svg = draw_svg(chart, name)
    assert 850 < float(svg.split('width="')[1].split('"')[0]) < 1100
    assert draw_png(chart).startswith(b"\x89PNG")
    if name != "robustness_surfaces":  # it shows formulas, the same for all systems
        assert "smollm2" in svg and "gpt" in svg


def test_accuracy_leaves_out_temperatures_at_which_the_scan_had_stopped() -> None:
    rows = [
        {"system": "a", "dataset": "x", "source": "sampled", "is_partial": partial, "value": 0.5, "temperature": t}
        for t, partial in ((0.2, False), (0.4, True))
    ]
    finding = OldFinding(analysis="fact_accuracy", question="?", rows=tuple(rows))
    assert [row["temperature"] for row in accuracy_rows(finding)] == [0.2]


def test_accuracy_draws_curves_only_where_nothing_was_sampled() -> None:
    rows = [
        {"system": system, "dataset": "x", "source": source, "is_partial": False, "value": 0.5, "temperature": 1.0}
        for system, source in (("a", "sampled"), ("a", "curve"), ("b", "curve"))
    ]
    finding = OldFinding(analysis="fact_accuracy", question="?", rows=tuple(rows))
    assert [(row["system"], row["source"]) for row in accuracy_rows(finding)] == [("a", "sampled"), ("b", "curve")]


def test_bars_of_certainty_stand_on_their_bins_and_add_up() -> None:
    rows = histogram_rows(found("certainty_bins"))
    assert {round(row["bin_end"] - row["bin"], 9) for row in rows} == {0.1}
    groups = {(row["group"], row["at"]) for row in rows}
    for group, at in groups:
        assert sum(row["value"] for row in rows if (row["group"], row["at"]) == (group, at)) == pytest.approx(1)


def test_points_have_the_score_of_the_d_that_is_drawn() -> None:
    for row in scored_facts(found("factual_robustness"), 50):
        assert row["frs"] == frs(row["entropy"], row["breaking"], 50)


def test_the_area_of_a_density_is_the_share_of_broken_facts_and_the_rest_is_the_spike() -> None:
    rows = density_rows(found("factual_robustness"), 1)
    for panel, system in {(row["panel"], row["system"]) for row in rows}:
        here = [row for row in rows if (row["panel"], row["system"]) == (panel, system)]
        (spike,) = [row for row in here if row["density"] is None]
        area = sum(row["density"] for row in here if row["density"] is not None) / 100
        assert area == pytest.approx(1 - spike["unbroken"], abs=0.03)


def test_surfaces_show_the_formulas_at_the_middle_of_each_cell() -> None:
    rows = surface_rows((1, 5))
    assert len(rows) == 2 * 20 * 20
    cell = next(row for row in rows if (row["column"], row["entropy"], row["breaking"]) == ("d = 5", 0.5, 1.0))
    assert (cell["f"], cell["frs"]) == (f(0.525, 1.05, 5), frs(0.525, 1.05, 5))


def test_each_curve_is_marked_once_where_it_breaks() -> None:
    rows = curve_rows(found("weakest_facts"))
    assert [row["mark"] for row in rows if row["mark"] is not None] == [1.5] * 6  # three facts of two systems
