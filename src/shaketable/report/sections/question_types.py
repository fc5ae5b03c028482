"""Facts about what a model holds most firmly: types of question among the extremes, and their mean scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import altair as alt

from shaketable.analyses.facts.question_types import QuestionTypes, TypeDifference, TypeMean, Untyped
from shaketable.factors import Cell
from shaketable.report.charts.bars import BarStyle, bars
from shaketable.report.charts.forest import ForestStyle, forest
from shaketable.report.charts.layout import Axis, beside
from shaketable.report.charts.looks import WIDTH, Look
from shaketable.report.charts.marks import Mark, Titles
from shaketable.report.claim_words import UNADJUSTED, describe_unshown
from shaketable.report.known_facts import make_headline, name_system
from shaketable.report.section import Figure, Headline, Page, Section, Table
from shaketable.report.words import (
    caveats_of_agreement,
    count_questions,
    format_level,
    name_questions,
    name_resamples,
    sentence_case,
)
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
    """One for each system: of the types that are shown to differ those furthest apart, else of all."""
    systems: dict[str, list[TypeDifference]] = {}
    for own in result.differences:
        if own.difference.low is not None:
            systems.setdefault(name_system(own.cell, page), []).append(own)
    means = {(replace(mean.cell, group=None), mean.cell.group): mean for mean in result.means}
    headlines = [_nothing_said(untyped, page) for untyped in result.untyped if untyped.n_untyped == untyped.n_scored]
    for pairs in systems.values():
        largest = max(pairs, key=lambda own: (_is_shown(own, page), abs(own.difference.value or 0.0)))
        system = replace(largest.cell, group=None)
        types = (largest.cell.group or "", largest.other)
        firm, loose = types if (largest.difference.value or 0.0) > 0 else types[::-1]
        firmer = _firmer(means[system, firm], means[system, loose], page)
        headlines.append(firmer if _is_shown(largest, page) else _not_shown(largest, len(pairs), page))
        headlines[-1] = headlines[-1].with_claims(*(page.claim_of(own.subject) for own in pairs))
    return tuple(headlines)


def _is_shown(own: TypeDifference, page: Page) -> bool:
    claim = page.claim_of(own.subject)
    return claim is not None and claim.is_shown


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


def _firmer(firm: TypeMean, loose: TypeMean, page: Page) -> Headline:
    system = name_system(firm.cell, page)
    return make_headline(
        "types",
        firm.cell,
        f"{system} holds facts about {WORDS[firm.cell.group or '']} more firmly ({format_level(firm.score)}) "
        f"than facts about {WORDS[loose.cell.group or '']} ({format_level(loose.score)}).",
        f"Mean robustness scores ({count_questions(firm.score.n)} and {loose.score.n:,}).",
        page,
    )


def _not_shown(largest: TypeDifference, n_pairs: int, page: Page) -> Headline:
    system = name_system(largest.cell, page)
    first, second = WORDS[largest.cell.group or ""], WORDS[largest.other]
    which = "the largest difference" if n_pairs > 1 else "the difference"
    return make_headline(
        "types",
        largest.cell,
        f"That {system} holds facts of one type more firmly than of another is not shown: {which}, {first} less "
        f"{second}, is {format_level(largest.difference)} robustness score.",
        f"{sentence_case(describe_unshown(page.claim_of(largest.subject)))}.",
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
        "Types are compared in pairs, by shuffling facts between them.",
        UNADJUSTED,
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
