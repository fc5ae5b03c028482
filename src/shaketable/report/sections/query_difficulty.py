"""The wordings themselves: how likely, how long, and how near to the original."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from shaketable.analyses.wording.query_difficulty import QueryDifficulty
from shaketable.factors import ORIGINAL, Cell
from shaketable.report.charts.forest import ForestStyle, forest
from shaketable.report.charts.layout import Axis, Picture, beside, break_names
from shaketable.report.charts.looks import WIDTH, ordered_looks
from shaketable.report.charts.marks import Mark, Titles, names_in
from shaketable.report.claim_words import FAMILY, UNADJUSTED, describe_unshown
from shaketable.report.section import Headline, Page, Section
from shaketable.report.wording_choices import Chosen, choose_rewordings
from shaketable.report.wording_figures import Plan, choose_drawn, has_several_ways, make_figures
from shaketable.report.wording_tables import make_tables
from shaketable.report.wording_words import (
    describe_numbers,
    join_details,
    make_headline,
    name_dataset,
    name_rewording,
    name_system,
)
from shaketable.report.words import format_difference, format_level, format_number, sentence_case
from shaketable.types import Estimate

TITLES = {
    ("query_loss", False): "loss, nats a token",
    ("query_words", False): "words",
    ("query_tokens", False): "tokens",
    ("query_similarity", False): "similarity",
}
DRAWN = {
    "query_loss": "Loss, nats a token",
    "query_words": "Length, words",
    "query_similarity": "Similarity to the original",
}


def _draw(marks: Sequence[Mark], titles: Titles) -> Picture:
    """A forest for each number, each on its own axis; the first names the lines of all."""
    shown = [name for name in DRAWN.values() if any(mark.panel == name for mark in marks)]
    names = break_names(names_in(str(mark.x) for mark in marks), n_panels=len(shown))
    width, series = (WIDTH - names.room) // len(shown), names_in(mark.series for mark in marks)
    looks = ordered_looks(series)
    other = ForestStyle(width=width, names=names, has_names=False, series=tuple(series) if len(series) > 1 else ())
    first = replace(other, width=width + names.room, has_names=True)
    return beside(
        *(
            forest(
                [replace(mark, panel="") for mark in marks if mark.panel == name],
                titles,
                looks=looks,
                axis=Axis(title=name, has_zero=False),
                style=first if name == shown[0] else other,
            )
            for name in shown
        )
    )


FIGURE = Plan(
    name="query_panels",
    title="The wordings themselves",
    note="Loss under the answering model, length, and similarity to the original.",
    titles=Titles(panel="Number", series="Model", x="Asked"),
    draw=_draw,
)


def section(result: QueryDifficulty, page: Page) -> Section:
    drawn = choose_drawn(result.numbers, DRAWN, page)
    several = len(names_in(point.panel for point in drawn)) > 1
    marks = [
        Mark.of(
            point.estimate,
            x=point.way,
            series=f"{point.system} · {point.panel}" if several else point.system,
            panel=point.number,
        )
        for point in drawn
    ]
    return Section(
        chapter="wording",
        title="The wordings themselves",
        question="Are reworded questions harder to read for a model?",
        headlines=_headlines(result, page),
        figures=make_figures(FIGURE, marks, page) if has_several_ways(drawn) else (),
        tables=make_tables(result.numbers, TITLES, page, kind="query"),
        caveats=describe_numbers(
            result.numbers, page, f"Wordings are compared as vectors of {result.encoder}.", FAMILY, UNADJUSTED
        ),
    )


def _headlines(result: QueryDifficulty, page: Page) -> tuple[Headline, ...]:
    """One for each model whose losses are known."""
    levels = {(number.metric, number.cell): number.estimate for number in result.numbers if not number.is_loss}
    return tuple(_headline(chosen, levels, page) for chosen in choose_rewordings(result.losses, "query", page))


def _headline(chosen: Chosen, levels: Mapping[tuple[str, Cell], Estimate], page: Page) -> Headline:
    cell, cause = chosen.number.cell, name_rewording(chosen.number.cell.variation)
    of_both = [cell, replace(cell, variation=ORIGINAL)]
    loss, loss_before = (levels["query_loss", own] for own in of_both)
    words, before = (format_number(levels["query_words", own].value or 0.0, "score") for own in of_both)
    where = f"for {name_system(cell, page)} on {name_dataset(cell)}"
    lengths = f"{words} words, {before} before"
    if chosen.is_shown:
        likely = "less" if chosen.value < 0 else "more"
        sentence = (
            f"{sentence_case(cause)} makes questions {likely} likely {where}: {format_level(loss)} nats a token, "
            f"{format_level(loss_before)} before, a difference of {format_difference(chosen.size)}."
        )
        details = [lengths, *chosen.describe_others()]
    else:
        sentence = f"No rewording is shown to make questions less likely {where}, or more."
        details = [
            f"{sentence_case(cause)}: {format_level(loss)} nats a token, {format_level(loss_before)} before; "
            f"{describe_unshown(chosen.claim)}",
            lengths,
        ]
    headline = make_headline("query", cell, sentence, join_details(details, chosen.number), page)
    return headline.with_claims(*chosen.claims)
