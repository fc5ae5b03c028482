"""How certain a model is of its answers, and whether it is right then."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from shaketable.analyses.facts.certainty_bins import CertaintyBin, CertaintyBins, SureAndWrong
from shaketable.report.charts.bars import histogram
from shaketable.report.charts.few import few
from shaketable.report.charts.looks import Look
from shaketable.report.charts.marks import Mark, Titles
from shaketable.report.known_facts import make_headline, name_dataset, name_system
from shaketable.report.section import Figure, Headline, Page, Section
from shaketable.report.words import count, count_questions, format_level, name_resamples

LOOKS = {"correct": Look("#0072B2", (1, 0), "circle"), "wrong": Look("#D55E00", (1, 0), "square")}


def section(result: CertaintyBins, page: Page) -> Section:
    return Section(
        chapter="facts",
        title="Certainty of sampled answers",
        question="How certain is the model of what it says, and is it right when it is certain?",
        headlines=_headlines(result, page),
        shown=(),
        figures=_figures(_marks(result.bins, page)),
        caveats=_caveats(page) if result.bins else (),
    )


def _headlines(result: CertaintyBins, page: Page) -> tuple[Headline, ...]:
    """One for each system and dataset: how often the hottest answers are certain and wrong."""
    hottest: dict[tuple[str, str | None], SureAndWrong] = {}
    for sure in result.sure_and_wrong:
        if sure.share.value is not None and sure.cell.temperature:
            hottest[name_system(sure.cell, page), sure.cell.dataset] = sure
    return tuple(
        make_headline(
            "facts",
            sure.cell,
            f"Of the answers that {system} gives at temperature {sure.cell.temperature:g} with a certainty of "
            f"0.9 or more, {format_level(sure.share)} are wrong.",
            f"Dataset {dataset}, {count(sure.n_answers, 'answer')} in all ({count_questions(sure.share.n)}).",
            page,
        )
        for (system, dataset), sure in hottest.items()
    )


def _marks(bins: Sequence[CertaintyBin], page: Page) -> tuple[Mark, ...]:
    """At a few temperatures, the ends among them."""
    known = [bin for bin in bins if bin.share.value is not None]
    temperatures = few(sorted({bin.cell.temperature or 0.0 for bin in known}))
    shown = [bin for bin in known if (bin.cell.temperature or 0.0) in temperatures]
    several = len({bin.cell.dataset for bin in shown}) > 1
    shown.sort(key=lambda bin: (bin.cell.temperature, name_system(bin.cell, page), name_dataset(bin.cell), bin.start))
    return tuple(
        Mark.of(
            bin.share,
            x=bin.start,
            series="correct" if bin.is_correct else "wrong",
            panel=f"temperature {bin.cell.temperature:g}",
            row=name_system(bin.cell, page) + (f" · {bin.cell.dataset}" if several else ""),
            temperature=bin.cell.temperature,
        )
        for bin in shown
    )


def _figures(marks: tuple[Mark, ...]) -> tuple[Figure, ...]:
    if not marks:
        return ()
    titles = Titles(panel="", row="System", series="Answer", temperature="Temperature", x="Certainty", value="Answers")
    figure = Figure(
        name="certainty_histogram",
        title="Certainty of sampled answers",
        note="Share of answers by the mean probability of their tokens, wrong answers stacked on correct ones.",
        marks=marks,
        titles=titles,
        draw=partial(histogram, marks, titles, looks=LOOKS),
    )
    return (figure,)


def _caveats(page: Page) -> tuple[str, ...]:
    return (
        f"Intervals hold {name_resamples(page.bootstrap)}; every question weighs the same, however many answers it "
        "has.",
        "At temperature 0 the distribution that is sampled has one token, so every answer is certain there.",
    )
