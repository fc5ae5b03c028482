"""What rewording costs: scores by wording, and the variation that costs most."""

from __future__ import annotations

from collections.abc import Sequence

from shaketable.analyses.wording.numbers import WordingNumber
from shaketable.analyses.wording.wording_accuracy import WordingAccuracy
from shaketable.factors import ORIGINAL, word_for
from shaketable.report.charts.forest import forest
from shaketable.report.charts.marks import Mark, Titles
from shaketable.report.grouping import group_by_system
from shaketable.report.section import Headline, Page, Section
from shaketable.report.wording_figures import Plan, choose_drawn, has_several_ways, make_figures
from shaketable.report.wording_tables import make_tables
from shaketable.report.wording_words import describe_numbers, name_rewording, name_system, name_where
from shaketable.report.words import (
    count_questions,
    format_amount,
    format_cost,
    format_interval,
    format_level,
    holds_zero,
    sentence_case,
)

FIGURE = Plan(
    name="accuracy_by_wording",
    title="Correct answers by wording",
    note="Means over questions.",
    titles=Titles(panel="Dataset", series="System", x="Asked", value="Correct answers"),
    draw=forest,
)
CAVEATS = (
    "Differences are paired by question and run. p values are two-sided, by Wilcoxon's signed ranks, with Holm over "
    "the variations of one system and dataset.",
    "Empty answers count as wrong; numbers where not empty leave them out, in pairs where either is empty.",
    "Rejected wordings were not asked. Trials without a score are left out and counted as missing.",
)


def section(result: WordingAccuracy, page: Page) -> Section:
    titles = {
        (number.metric, number.answered_only): number.metric + ", where not empty" * number.answered_only
        for number in result.numbers
    }
    drawn = choose_drawn(result.numbers, dict.fromkeys(result.metrics[:1], "score"), page)
    marks = [Mark.of(point.estimate, x=point.way, series=point.system, panel=point.panel) for point in drawn]
    return Section(
        chapter="wording",
        title="What rewording costs",
        question="What does rewording a question cost?",
        headlines=_headlines(result, page),
        figures=make_figures(FIGURE, marks, page) if has_several_ways(drawn) else (),
        tables=make_tables(result.numbers, titles, page),
        caveats=describe_numbers(result.numbers, page, *CAVEATS),
    )


def _headlines(result: WordingAccuracy, page: Page) -> tuple[Headline, ...]:
    """One for each system and dataset, the largest loss first."""
    spoken_of = [
        number
        for number in result.numbers
        if number.metric in result.metrics[:1] and not number.answered_only and number.estimate.value is not None
    ]
    groups = [group for group in group_by_system(spoken_of) if any(number.is_loss for number in group)]
    ranked = sorted(((_worst(group), group) for group in groups), key=lambda pair: -(pair[0].estimate.value or 0.0))
    return tuple(_headline(worst, group, page) for worst, group in ranked)


def _worst(numbers: Sequence[WordingNumber]) -> WordingNumber:
    return max((number for number in numbers if number.is_loss), key=lambda number: number.estimate.value or 0.0)


def _headline(worst: WordingNumber, group: Sequence[WordingNumber], page: Page) -> Headline:
    """The variation that costs most, and how many others cost something."""
    losses = [number for number in group if number.is_loss]
    original = next(number for number in group if not number.is_loss and number.cell.variation == ORIGINAL)
    cause, where, cost = name_rewording(worst.cell.variation), name_where(worst.cell, page), _cost(worst)
    sample = count_questions(worst.estimate.n)
    if holds_zero(worst.estimate):
        sentence = f"No rewording is shown to lower the {word_for(worst.metric)} of {where}."
        detail = f"The most is {cost}, by {cause} ({sample})."
    else:
        n_shown = sum(_is_shown(loss) for loss in losses)
        sentence = f"{sentence_case(cause)} costs {where} {cost}, the most of {len(losses)} rewordings."
        detail = (
            f"The original wording has {format_level(original.estimate)}; {n_shown} of {len(losses)} lose after Holm "
            f"({sample})."
        )
    return Headline(
        kind="wording",
        cell=worst.cell,
        system=name_system(worst.cell, page),
        sentence=sentence,
        detail=detail,
        number=format_amount(worst.estimate),
        interval=format_interval(worst.estimate),
        is_clear=not holds_zero(worst.estimate),
    )


def _cost(loss: WordingNumber) -> str:
    return format_cost(loss.estimate, loss.metric)


def _is_shown(loss: WordingNumber) -> bool:
    """Whether something is lost after Holm."""
    return loss.p_adjusted is not None and loss.p_adjusted < 0.05 and (loss.estimate.value or 0.0) > 0
