"""Facts about what a model holds most firmly: types of question among the extremes, and their mean scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import altair as alt

from shaketable.analyses.facts.question_types import QuestionTypes, TypeMean, Untyped
from shaketable.factors import Cell
from shaketable.report.charts.bars import BarStyle, bars
from shaketable.report.charts.forest import ForestStyle, forest
from shaketable.report.charts.layout import Axis, beside
from shaketable.report.charts.looks import WIDTH, Look
from shaketable.report.charts.marks import Mark, Titles
from shaketable.report.known_facts import make_headline, name_system
from shaketable.report.section import Figure, Headline, Page, Section, Table
from shaketable.report.words import caveats_of_agreement, count_questions, format_level, name_questions, name_resamples
from shaketable.types import Estimate, Unit

WORDS = {"NUM": "numbers", "LOC": "places", "ENTY": "things", "HUM": "people"}
NAMES = {"NUM": "number", "LOC": "place", "ENTY": "entity", "HUM": "person"}
LOOKS = {
    "number": Look("#0072B2", (1, 0), "circle"),
    "place": Look("#009E73", (1, 0), "square"),
    "entity": Look("#E69F00", (1, 0), "triangle-up"),
    "person": Look("#D55E00", (1, 0), "diamond"),
}
SIDES: dict[Unit, str] = {"share": "Share in the robust group", "score": "Mean robustness score"}
TITLES = Titles(panel="", row="System", x="Type", label="Kind")
NO_TYPE = "their dataset does not name it, and the metric question_type was not scored"


def section(result: QuestionTypes, page: Page) -> Section:
    return Section(
        chapter="facts",
        title="Types of question",
        question="Facts of which kind does a model hold most firmly?",
        headlines=_headlines(result, page),
        figures=_figures(result, page),
        tables=_tables(result, page),
        caveats=_caveats(result, page),
    )


def _headlines(result: QuestionTypes, page: Page) -> tuple[Headline, ...]:
    """One for each system: the firmest and the loosest type, where their intervals part."""
    systems: dict[str, list[TypeMean]] = {}
    for mean in result.means:
        if mean.score.low is not None:
            systems.setdefault(name_system(mean.cell, page), []).append(mean)
    extremes = [
        (
            max(means, key=lambda mean: mean.score.value or 0.0),
            min(means, key=lambda mean: mean.score.value or 0.0),
        )
        for means in systems.values()
    ]
    return (
        *(_nothing_said(untyped, page) for untyped in result.untyped if untyped.n_untyped == untyped.n_scored),
        *(_firmest(best, worst, page) for best, worst in extremes if _lie_apart(best, worst)),
    )


def _lie_apart(best: TypeMean, worst: TypeMean) -> bool:
    return best.score.low is not None and worst.score.high is not None and best.score.low > worst.score.high


def _nothing_said(untyped: Untyped, page: Page) -> Headline:
    system = name_system(untyped.cell, page)
    return make_headline(
        "types",
        untyped.cell,
        f"Nothing can be said of types of question: the facts of {system} have none.",
        "Add question_type to the metrics of the study, or give the questions the tag type "
        f"({count_questions(untyped.n_scored)}).",
        page,
    )


def _firmest(best: TypeMean, worst: TypeMean, page: Page) -> Headline:
    system = name_system(best.cell, page)
    return make_headline(
        "types",
        best.cell,
        f"{system} holds facts about {WORDS[best.cell.group or '']} most firmly ({format_level(best.score)}) "
        f"and facts about {WORDS[worst.cell.group or '']} least ({format_level(worst.score)}).",
        f"Mean robustness scores ({count_questions(best.score.n)} and {worst.score.n:,}).",
        page,
    )


def _tables(result: QuestionTypes, page: Page) -> tuple[Table, ...]:
    means = {mean.cell: mean for mean in result.means}
    rows = [
        (
            name_system(ratio.cell, page),
            ratio.cell.group,
            ratio.n_top,
            ratio.n_bottom,
            format_level(ratio.share),
            ratio.n_tied,
            format_level(means[ratio.cell].score),
        )
        for ratio in result.ratios
    ]
    columns = (
        *("System", "Type", "In the top group", "In the bottom group", "Top of both", "Tied at the cut", "Mean score"),
    )
    return (Table(title="Most and least robust facts by type", columns=columns, rows=tuple(rows)),) if rows else ()


def _figures(result: QuestionTypes, page: Page) -> tuple[Figure, ...]:
    ratios = _marks([(ratio.cell, ratio.share) for ratio in result.ratios], page)
    means = _marks([(mean.cell, mean.score) for mean in result.means], page)
    if not ratios or not means:
        return ()
    figure = Figure(
        name="type_ratios",
        title="Types of question",
        note="Left: the share of a type's extreme facts that are among the most robust. Right: its mean score.",
        marks=(*ratios, *means),
        titles=TITLES,
        draw=partial(_draw, ratios, means),
    )
    return (figure,)


def _marks(estimates: Sequence[tuple[Cell, Estimate]], page: Page) -> tuple[Mark, ...]:
    return tuple(
        Mark.of(
            estimate,
            x=NAMES[cell.group or ""],
            series=NAMES[cell.group or ""],
            row=name_system(cell, page),
            label=SIDES[estimate.unit],
        )
        for cell, estimate in estimates
        if estimate.value is not None
    )


def _draw(ratios: Sequence[Mark], means: Sequence[Mark]) -> alt.TopLevelMixin:
    """Left of the half line a type is more often among the least robust facts than among the most robust."""
    style = BarStyle(line_at=0.5, step=24, width=WIDTH // 2)
    return beside(
        bars(ratios, replace(TITLES, value=SIDES["share"]), looks=LOOKS, style=style),
        forest(
            means,
            replace(TITLES, value=SIDES["score"]),
            looks=LOOKS,
            axis=Axis(has_zero=False),
            style=ForestStyle(step=24, width=WIDTH // 2),
        ),
    )


def _caveats(result: QuestionTypes, page: Page) -> tuple[str, ...]:
    if not result.ratios and not result.untyped:
        return ()
    caveats = [
        f"Intervals hold {name_resamples(page.bootstrap)}; those of ratios take the two extreme groups as given.",
        *caveats_of_agreement(ratio.share for ratio in result.ratios),
        "A question has the type that its dataset names (a tag `type` with one of these types), else the one that the "
        "metric question_type predicts.",
        *(_left_out(untyped) for untyped in result.untyped),
    ]
    if any((ratio.n_tied or 0) > ratio.n_extreme for ratio in result.ratios):
        caveats.append(
            "More facts share the highest score than the top group has places: the ratios depend on how ties are "
            "broken. The mean scores do not."
        )
    return tuple(caveats)


def _left_out(untyped: Untyped) -> str:
    return f"{untyped.n_untyped:,} of {name_questions(untyped.n_scored)} have no type and are left out: {NO_TYPE}."
