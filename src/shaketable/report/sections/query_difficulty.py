"""The wordings themselves: how likely, how long, and how near to the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shaketable.analyses.wording.numbers import WordingNumber
from shaketable.analyses.wording.query_difficulty import QueryDifficulty
from shaketable.factors import ORIGINAL
from shaketable.report.charts.forest import ForestStyle, forest
from shaketable.report.charts.layout import Axis, Picture, beside
from shaketable.report.charts.looks import WIDTH, ordered_looks
from shaketable.report.charts.marks import Mark, Titles, names_in
from shaketable.report.grouping import group_by_system
from shaketable.report.section import Headline, Page, Section
from shaketable.report.wording_figures import Plan, choose_drawn, has_several_ways, make_figures
from shaketable.report.wording_tables import make_tables
from shaketable.report.wording_words import describe_numbers, make_headline, name_dataset, name_rewording, name_system
from shaketable.report.words import count_questions, format_level, format_number, sentence_case

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
    """A forest for each number, each on its own axis."""
    shown = [name for name in DRAWN.values() if any(mark.panel == name for mark in marks)]
    style = ForestStyle(width=WIDTH // len(shown))
    looks = ordered_looks(names_in(mark.series for mark in marks))
    return beside(
        *(
            forest(
                [replace(mark, panel="") for mark in marks if mark.panel == name],
                titles,
                looks=looks,
                axis=Axis(title=name, has_zero=False),
                style=style,
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
        tables=make_tables(result.numbers, TITLES, page),
        caveats=describe_numbers(result.numbers, page, f"Wordings are compared as vectors of {result.encoder}."),
    )


def _headlines(result: QueryDifficulty, page: Page) -> tuple[Headline, ...]:
    """One for each model and dataset whose losses are known."""
    known = [number for number in result.numbers if number.estimate.value is not None and not number.is_loss]
    headlines = (_headline(group, page) for group in group_by_system(known))
    return tuple(headline for headline in headlines if headline is not None)


def _headline(numbers: Sequence[WordingNumber], page: Page) -> Headline | None:
    """The wording with the highest loss."""
    by_wording = {(number.metric, number.cell.variation): number.estimate for number in numbers}
    losses = [number for number in numbers if number.metric == "query_loss" and number.cell.variation != ORIGINAL]
    original = by_wording.get(("query_loss", ORIGINAL))
    if not losses or original is None:
        return None
    most = max(losses, key=lambda number: number.estimate.value or 0.0)
    words, before = (
        format_number(by_wording["query_words", variation].value or 0.0, "score")
        for variation in (most.cell.variation, ORIGINAL)
    )
    return make_headline(
        "query",
        most.cell,
        f"{sentence_case(name_rewording(most.cell.variation))} makes the least likely questions for "
        f"{name_system(most.cell, page)} on {name_dataset(most.cell)}: {format_level(most.estimate)} nats a token, "
        f"{format_level(original)} before.",
        f"{words} words, {before} before ({count_questions(most.estimate.n)}).",
        page,
    )
