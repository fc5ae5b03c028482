"""What searching did to the answer, for each way of asking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shaketable.analyses.wording.candidates import spoken_of
from shaketable.analyses.wording.outcomes import Outcomes
from shaketable.factors import ORIGINAL, Cell
from shaketable.report.charts.bars import bars
from shaketable.report.charts.layout import Picture
from shaketable.report.charts.looks import Look
from shaketable.report.charts.marks import Mark, Titles
from shaketable.report.claim_words import FAMILY, UNADJUSTED, describe_unshown
from shaketable.report.section import Headline, Page, Section
from shaketable.report.wording_choices import Chosen, choose_rewordings
from shaketable.report.wording_figures import Plan, compare_ways
from shaketable.report.wording_tables import make_tables
from shaketable.report.wording_words import (
    describe_closed_books,
    describe_numbers,
    join_details,
    make_headline,
    name_where,
)
from shaketable.report.words import format_level, format_more
from shaketable.types import Estimate

TITLES = {(name, False): name for name in ("helpful", "harmful", "stable", "unhelpful", "net")}
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
            "Net is what searching mends less what it spoils.",
            FAMILY,
            UNADJUSTED,
        ),
    )


def _headlines(result: Outcomes, page: Page) -> tuple[Headline, ...]:
    """One for each system, of the original wording; what is shown first."""
    nets = (number for number in result.numbers if number.metric == "net" and number.cell.variation == ORIGINAL)
    levels = {(number.metric, number.cell): number.estimate for number in result.numbers}
    chosen = choose_rewordings(spoken_of(nets), "outcome", page)
    return tuple(_headline(own, levels, page) for own in chosen)


def _headline(chosen: Chosen, levels: Mapping[tuple[str, Cell], Estimate], page: Page) -> Headline:
    net, cell = chosen.number.estimate, chosen.number.cell
    mends, spoils = (format_level(levels[name, cell]) for name in ("helpful", "harmful"))
    where = f"the answers of {name_where(cell, page)}"
    if not chosen.is_shown:
        sentence = f"Searching is not shown to mend more of {where} than it spoils, or less, with the original wording."
        detail = f"It mends {mends} and spoils {spoils}: net {format_more(net)}; {describe_unshown(chosen.claim)}"
    else:
        more = "more" if chosen.value > 0 else "less"
        sentence = (
            f"With the original wording, searching mends {more} of {where} than it spoils: {mends} against {spoils}, "
            f"net {format_more(net)}."
        )
        detail = "Against its closed-book answers"
    headline = make_headline("outcome", cell, sentence, join_details([detail], chosen.number), page)
    return headline.with_amount(net).with_claims(*chosen.claims)
