"""Known facts against temperature: a picture, and how much is left when hottest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from shaketable.analyses.facts.fact_accuracy import Accuracy, FactAccuracy
from shaketable.analyses.facts.facts import over_all_datasets
from shaketable.report.charts.layout import Axis
from shaketable.report.charts.lines import LineStyle, lines
from shaketable.report.charts.marks import Mark, Titles
from shaketable.report.known_facts import (
    in_panels,
    make_headline,
    name_dataset,
    name_system,
)
from shaketable.report.section import Figure, Headline, Page, Section
from shaketable.report.words import caveats_of_agreement, count_questions, describe_bootstrap, format_level


def section(result: FactAccuracy, page: Page) -> Section:
    return Section(
        chapter="facts",
        title="Known facts against temperature",
        question="How does accuracy on known facts fall with temperature?",
        headlines=_headlines(result, page),
        shown=(),
        figures=_figures(in_panels(drawn_accuracies(result), page), page),
        caveats=_caveats(result, page),
    )


def drawn_accuracies(result: FactAccuracy) -> list[Accuracy]:
    """Samples, save where a system has curves alone; partial temperatures, which are too good, are left out."""
    known = [accuracy for accuracy in result.accuracies if accuracy.share.value is not None]
    sampled = {replace(accuracy.cell, temperature=None) for accuracy in known if accuracy.source == "sampled"}
    return [
        accuracy
        for accuracy in known
        if (accuracy.source == "sampled") == (replace(accuracy.cell, temperature=None) in sampled)
        and not (accuracy.source == "sampled" and accuracy.is_partial)
    ]


def _headlines(result: FactAccuracy, page: Page) -> tuple[Headline, ...]:
    """One for each system: how much is left when hottest."""
    hottest: dict[str, Accuracy] = {}
    for accuracy in over_all_datasets(result.accuracies):
        if accuracy.source == "sampled" and accuracy.share.value is not None and accuracy.cell.temperature:
            hottest[name_system(accuracy.cell, page)] = accuracy
    return tuple(
        make_headline(
            "facts",
            accuracy.cell,
            f"At temperature {accuracy.cell.temperature:g} {system} still gives "
            f"{format_level(accuracy.share)} of the facts it knows.",
            f"All were right at temperature 0 ({count_questions(accuracy.share.n)}).",
            page,
        )
        for system, accuracy in hottest.items()
        if not accuracy.is_partial
    )


def _figures(accuracies: Sequence[Accuracy], page: Page) -> tuple[Figure, ...]:
    marks = tuple(
        Mark.of(
            accuracy.share,
            x=accuracy.cell.temperature,
            series=name_system(accuracy.cell, page),
            panel=name_dataset(accuracy.cell),
        )
        for accuracy in accuracies
    )
    if not marks:
        return ()
    titles = Titles(panel="Dataset", series="System")
    figure = Figure(
        name="facts_by_temperature",
        title="Known facts against temperature",
        note="Accuracy on the facts that each system knows at temperature 0; bands are confidence intervals. "
        "Temperatures at which the scan had left some facts are not drawn.",
        marks=marks,
        titles=titles,
        draw=partial(lines, marks, titles, axis=Axis(title="Correct answers"), style=LineStyle(height=220)),
    )
    return (figure,)


def _caveats(result: FactAccuracy, page: Page) -> tuple[str, ...]:
    if not result.accuracies:
        return ()
    caveats = [
        describe_bootstrap(page.bootstrap),
        *caveats_of_agreement(accuracy.share for accuracy in result.accuracies),
        "Facts are chosen for being right at temperature 0, so accuracy starts at 100 % by definition.",
    ]
    if any(accuracy.is_partial and accuracy.source == "sampled" for accuracy in result.accuracies):
        caveats.append(
            "The scan left some facts before the highest temperature: where fewer facts were tried, those that held so "
            "far are over-represented and accuracy is too high. Curves, or the strategy full, have no such gap."
        )
    return tuple(caveats)
