"""The chain from wording to answer, as rank correlations."""

from __future__ import annotations

from collections.abc import Sequence

from shaketable.analyses.wording.drift_chain import LINKS, Correlation, DriftChain, Stage
from shaketable.report.charts.forest import ForestStyle, forest
from shaketable.report.charts.layout import Axis, Picture
from shaketable.report.charts.marks import Mark, Titles
from shaketable.report.claim_words import FAMILY, UNADJUSTED
from shaketable.report.section import Headline, Page, Section, Table
from shaketable.report.wording_figures import Plan, make_figures, name_panel
from shaketable.report.wording_words import (
    make_headline,
    name_dataset,
    name_rewording,
    name_system,
    name_system_and_heat,
    name_way,
    name_where,
    order_of_way,
)
from shaketable.report.words import Entry, caveats_of_agreement, count, describe_bootstrap, format_level

STAGES: dict[Stage, str] = {
    "loss": "query loss",
    "length": "query length",
    "mss": "similarity of queries",
    "collapse": "collapse of what they find",
    "rfr": "failed searches",
    "gap": "change in correctness",
}
SHORT: dict[Stage, str] = STAGES | {"loss": "loss", "length": "length", "collapse": "collapse"}
"""In pictures and tables."""


def _draw(marks: Sequence[Mark], titles: Titles) -> Picture:
    axis = Axis(domain=(-1.0, 1.0))
    return forest(marks, titles, axis=axis, style=ForestStyle(has_zero_line=True))


FIGURE = Plan(
    name="chain_correlations",
    title="From the wording to the answer",
    note="Rank correlations along the chain; left of the line the second falls as the first rises.",
    titles=Titles(panel="Dataset", row="System", series="Asked", x="Link", value="Spearman's rho"),
    draw=_draw,
)


def section(result: DriftChain, page: Page) -> Section:
    known = [link for link in result.correlations if link.rho.value is not None]
    caveats = (
        describe_bootstrap(page.bootstrap),
        *caveats_of_agreement(link.rho for link in result.correlations),
        "Spearman's rho, ties at average ranks; questions are resampled with all their wordings. It shows no cause.",
        FAMILY,
        UNADJUSTED,
    )
    return Section(
        chapter="wording",
        title="Does drift explain lost answers?",
        question="Does the drift of queries explain lost answers?",
        headlines=tuple(_headline(chain, page) for chain in result.chains),
        figures=make_figures(FIGURE, _marks(known, page), page),
        tables=(_table(result.correlations, page),) if result.correlations else (),
        caveats=caveats if result.correlations else (),
    )


def _headline(chain: Sequence[Correlation], page: Page) -> Headline:
    """Which links are shown, and which are not."""
    first = chain[0]
    claims = [page.claim("chain", link.cell, link.first, other=link.second) for link in chain]
    shown = [link for link, claim in zip(chain, claims, strict=True) if claim is not None and claim.is_shown]
    rest = [link for link in chain if link not in shown]
    where = f"{name_where(first.cell, page)}, {name_rewording(first.cell.variation)}"
    sentence = f"No link of the chain from wording to answer is shown for {where}."
    if shown:
        sentence = f"Along the chain from wording to answer of {where}: {'; '.join(map(_describe, shown))}."
    not_shown = "; ".join(f"{STAGES[link.first]} and {STAGES[link.second]} {format_level(link.rho)}" for link in rest)
    details = f"Not shown: {not_shown}. " if rest else ""
    sample = f"On {count(first.n_wordings, 'wording')} of {count(first.rho.n, 'question')}."
    return make_headline("chain", first.cell, sentence, f"{details}{sample}", page).with_claims(*claims)


def _describe(link: Correlation) -> str:
    moves = "rises" if (link.rho.value or 0.0) > 0 else "falls"
    return f"{STAGES[link.second]} {moves} with {STAGES[link.first]} (rank correlation {format_level(link.rho)})"


def _marks(links: Sequence[Correlation], page: Page) -> list[Mark]:
    several = len({link.cell.temperature for link in links}) > 1
    marks = [
        Mark.of(
            link.rho,
            x=_name(link.first, link.second),
            series=name_way(link.cell.variation),
            panel=name_panel(link.cell, with_temperature=several),
            row=name_system(link.cell, page),
        )
        for link in sorted(links, key=lambda link: order_of_way(link.cell.variation))
    ]
    order = [_name(*link) for link in LINKS]
    return sorted(marks, key=lambda mark: (mark.panel, mark.row, order.index(str(mark.x))))


def _table(links: Sequence[Correlation], page: Page) -> Table:
    """A line per system and way of asking, a column per link."""
    lines: dict[object, list[Correlation]] = {}
    for link in links:
        lines.setdefault(link.cell, []).append(link)
    rows = [_row(line, page) for line in lines.values()]
    titles = (_name(*link) for link in LINKS)
    columns = ("System", "Dataset", "Asked", *titles, "Questions", "Trials missing")
    return Table(columns=columns, rows=tuple(sorted(rows, key=lambda row: (str(row[0]), str(row[1])))))


def _row(line: Sequence[Correlation], page: Page) -> tuple[Entry, ...]:
    cell = line[0].cell
    entries = {(link.first, link.second): format_level(link.rho) for link in line}
    return (
        name_system_and_heat(cell, page),
        name_dataset(cell),
        name_way(cell.variation),
        *(entries.get(link) for link in LINKS),
        max(link.rho.n for link in line),
        max(link.n_failed for link in line),
    )


def _name(first: Stage, second: Stage) -> str:
    return f"{SHORT[first]} → {SHORT[second]}"
