"""What searching did to the answer, for each way of asking."""

from __future__ import annotations

from collections.abc import Sequence

from shaketable.analyses.wording.numbers import WordingNumber
from shaketable.analyses.wording.outcomes import Outcomes
from shaketable.factors import ORIGINAL
from shaketable.report.charts.bars import bars
from shaketable.report.charts.layout import Picture
from shaketable.report.charts.looks import Look
from shaketable.report.charts.marks import Mark, Titles
from shaketable.report.section import Headline, Page, Section
from shaketable.report.wording_figures import Plan, compare_ways
from shaketable.report.wording_tables import make_tables
from shaketable.report.wording_words import (
    describe_closed_books,
    describe_numbers,
    make_headline,
    name_where,
)
from shaketable.report.words import count_questions, format_level, is_above_zero

TITLES = {(name, False): name for name in ("helpful", "harmful", "stable", "unhelpful")}
NAMES = {
    "helpful": "helpful: wrong to right",
    "stable": "stable: right and right",
    "unhelpful": "unhelpful: wrong and wrong",
    "harmful": "harmful: right to wrong",
}
LOOKS = {
    NAMES["helpful"]: Look("#009E73", (1, 0), "square"),
    NAMES["stable"]: Look("#56B4E9", (1, 0), "square"),
    NAMES["unhelpful"]: Look("#E69F00", (1, 0), "square"),
    NAMES["harmful"]: Look("#D55E00", (1, 0), "square"),
}


def _draw(marks: Sequence[Mark], titles: Titles) -> Picture:
    return bars(marks, titles, looks=LOOKS)


FIGURE = Plan(
    name="outcome_classes",
    title="What searching did to the answer",
    note="Against the closed-book answer to the same wording; the shares sum to one.",
    titles=Titles(panel="Dataset", row="System", series="Searching was", x="Asked", value="Answers"),
    draw=_draw,
)


def section(result: Outcomes, page: Page) -> Section:
    return Section(
        chapter="wording",
        title="Does searching help?",
        question="When does searching help, and when does it harm?",
        headlines=_headlines(result, page),
        figures=compare_ways(FIGURE, result.numbers, NAMES, page),
        tables=make_tables(result.numbers, TITLES, page),
        caveats=describe_numbers(
            result.numbers,
            page,
            f"Compared with {result.closed_book} of the same model, on the {result.need} wording.",
            *describe_closed_books(result.closed_books),
        ),
    )


def _headlines(result: Outcomes, page: Page) -> tuple[Headline, ...]:
    """One for each system and dataset, of the original wording; where most is mended comes first."""
    known = [
        number for number in result.numbers if number.cell.variation == ORIGINAL and number.estimate.value is not None
    ]
    harmful = {number.cell: number for number in known if number.metric == "harmful"}
    helpful = [number for number in known if number.metric == "helpful" and number.cell in harmful]
    helpful.sort(key=lambda number: -(number.estimate.value or 0.0))
    return tuple(_headline(number, harmful[number.cell], page) for number in helpful)


def _headline(helpful: WordingNumber, harmful: WordingNumber, page: Page) -> Headline:
    headline = make_headline(
        "outcome",
        helpful.cell,
        f"With the original wording, searching mends {format_level(helpful.estimate)} of the answers of "
        f"{name_where(helpful.cell, page)} and spoils {format_level(harmful.estimate)}.",
        f"Against its closed-book answers ({count_questions(helpful.estimate.n)}).",
        page,
    )
    return headline.with_level(helpful.estimate, is_clear=is_above_zero(helpful.estimate))
