"""Where the searches of reworded questions go: drift of queries, and what they find, search by search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from shaketable.analyses.wording.trajectories import Trajectories
from shaketable.factors import ORIGINAL, Cell
from shaketable.report.charts.layout import Axis, Picture
from shaketable.report.charts.lines import LineStyle, lines
from shaketable.report.charts.looks import ordered_looks
from shaketable.report.charts.marks import Mark, Titles, names_in
from shaketable.report.claim_words import describe_unshown
from shaketable.report.section import Figure, Headline, Page, Section
from shaketable.report.wording_choices import Chosen
from shaketable.report.wording_figures import Drawn, Plan, choose_drawn, has_several_ways, make_figures
from shaketable.report.wording_noise import (
    BESIDE_NOISE,
    CHANCE_IS_NOT_KNOWN,
    BesideNoise,
    choose_beside_noise,
    format_beside,
)
from shaketable.report.wording_tables import make_noise_tables, make_paper_table, make_tables
from shaketable.report.wording_words import describe_numbers, join_details, make_headline, name_rewording, name_where
from shaketable.report.words import format_level
from shaketable.types import Estimate

TITLES = {
    ("mss", False): "similarity of queries (MSS)",
    ("rfr", False): "failed searches (RFR)",
    ("collapse", False): "collapse of what is found",
    ("disjoint", False): "nothing in common",
}
DRIFT = {"mss": "similarity of queries", "gold": "searches without a supporting document"}
SKIPPED = {"skip": "are left out", "zero": "count as similarity 0"}


def _draw_drift(marks: Sequence[Mark], titles: Titles) -> Picture:
    # Only the second panel has the original, which comes first.
    ways = names_in(mark.series for mark in sorted(marks, key=lambda mark: mark.panel == DRIFT["mss"]))
    axis = Axis(title="", numbers="plain", domain=(0.0, 1.0))
    style = LineStyle(x="steps", height=170, row_names="top")
    return lines(marks, titles, looks=ordered_looks(ways), axis=axis, style=style)


def _draw_gold(marks: Sequence[Mark], titles: Titles) -> Picture:
    return lines(marks, titles, style=LineStyle(x="steps", height=190, row_names="top"))


DRIFT_FIGURE = Plan(
    name="drift_by_hop",
    title="Drift of the searches",
    note="Left or above: similarity of the queries of aligned searches. Then: searches without a supporting document.",
    titles=Titles(panel="Number", row="System", series="Asked", x="Search"),
    draw=_draw_drift,
)
GOLD_FIGURE = Plan(
    name="gold_by_hop",
    title="Supporting documents by search",
    note="Of the trials that searched so often.",
    titles=Titles(panel="Dataset", row="System", series="Asked", x="Search", value="Brings a supporting document"),
    draw=_draw_gold,
)


def section(result: Trajectories, page: Page) -> Section:
    return Section(
        chapter="wording",
        title="Where the searches go",
        question="Where do the searches of a reworded question go?",
        headlines=_headlines(result, page),
        figures=_figures(result, page),
        tables=(
            *make_tables(result.numbers, TITLES, page),
            *make_noise_tables(result.numbers, TITLES, page, kind="drift"),
            *make_paper_table(result.numbers, "mss", "MSS", page),
            *make_paper_table(result.numbers, "rfr", "RFR", page),
        ),
        caveats=describe_numbers(
            result.numbers,
            page,
            f"Queries are compared as vectors of {result.encoder}; hops that only one of two trials made "
            f"{SKIPPED[result.missing_hops]}.",
            "A supporting document is told by its title. Questions that name none are left out of rfr and gold. "
            "Later hops are those of trials that came so far.",
            BESIDE_NOISE,
        ),
    )


def _figures(result: Trajectories, page: Page) -> tuple[Figure, ...]:
    by_hop = [number for number in result.numbers if number.hop is not None]
    drift, gold = choose_drawn(by_hop, DRIFT, page), choose_drawn(by_hop, {"gold": "gold"}, page)
    return (
        *(make_figures(DRIFT_FIGURE, _drift_marks(drift), page) if has_several_ways(drift) else ()),
        *(make_figures(GOLD_FIGURE, _gold_marks(gold), page) if has_several_ways(gold) else ()),
    )


def _drift_marks(drawn: Sequence[Drawn]) -> list[Mark]:
    """Failed searches are those that gold inclusion leaves."""
    several = len(names_in(point.panel for point in drawn)) > 1
    drifts = [point for point in drawn if point.number == DRIFT["mss"]]
    failed = [replace(point, estimate=_rest(point.estimate)) for point in drawn if point.number == DRIFT["gold"]]
    return [
        Mark.of(
            point.estimate,
            x=point.hop or 0,
            series=point.way,
            panel=point.number,
            row=f"{point.system} · {point.panel}" if several else point.system,
        )
        for point in (*drifts, *failed)
    ]


def _gold_marks(drawn: Sequence[Drawn]) -> list[Mark]:
    return [
        Mark.of(point.estimate, x=point.hop or 0, series=point.way, panel=point.panel, row=point.system)
        for point in drawn
    ]


def _rest(estimate: Estimate) -> Estimate:
    """What a share leaves of 1."""

    def rest(number: float | None) -> float | None:
        return None if number is None else 1 - number

    return replace(estimate, value=rest(estimate.value), low=rest(estimate.high), high=rest(estimate.low))


def _headlines(result: Trajectories, page: Page) -> tuple[Headline, ...]:
    """One for each system, the queries that drift furthest first."""
    levels = [number for number in result.numbers if number.hop is None and not number.is_loss]
    failures = {number.cell: number.estimate for number in levels if number.metric == "rfr"}
    told = choose_beside_noise(levels, "mss", "drift", -1, page)
    return tuple(_headline(pair, chosen, failures, page) for pair, chosen in told)


def _headline(pair: BesideNoise, chosen: Chosen | None, failures: Mapping[Cell, Estimate], page: Page) -> Headline:
    cell = pair.raw.cell
    cause, where = name_rewording(cell.variation), name_where(cell, page)
    similarity = f"their similarity to those after the original wording is {format_beside(pair)}"
    if chosen is None:
        sentence, details = f"Queries of {where} after {cause}: {similarity}.", [CHANCE_IS_NOT_KNOWN]
    elif not chosen.is_shown:
        sentence = f"No rewording is shown to make the queries of {where} drift further than chance does."
        details = [f"After {cause} {similarity}; {describe_unshown(chosen.claim)}"]
    elif chosen.value < 0:
        sentence, details = f"After {cause} the queries of {where} drift: {similarity}.", []
    else:
        sentence = f"After {cause} the queries of {where} are steadier than those of two runs: {similarity}."
        details = []
    failed, before = (failures.get(replace(cell, variation=name)) for name in (cell.variation, ORIGINAL))
    if failed is not None and before is not None and failed.value is not None:
        details.append(
            f"Searches without a supporting document: {format_level(failed)}, {format_level(before)} with the original "
            "wording"
        )
    details += chosen.describe_others() if chosen else []
    headline = make_headline("drift", cell, sentence, join_details(details, pair.raw), page)
    return headline if chosen is None else headline.with_claims(*chosen.claims)
