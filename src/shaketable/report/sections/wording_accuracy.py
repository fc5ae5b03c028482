"""What rewording costs: scores by wording, and the variation that costs most."""

from __future__ import annotations

from dataclasses import replace

from shaketable.analyses.wording.numbers import WordingNumber
from shaketable.analyses.wording.wording_accuracy import WordingAccuracy
from shaketable.analyses.wording.wording_strength import WordingStrength
from shaketable.factors import ORIGINAL, Cell, word_for
from shaketable.report.charts.forest import forest
from shaketable.report.charts.marks import Mark, Titles
from shaketable.report.claim_words import FAMILY, UNADJUSTED, describe_failed, describe_unshown
from shaketable.report.section import Headline, Page, Section
from shaketable.report.wording_choices import Chosen, choose_rewordings
from shaketable.report.wording_figures import Plan, choose_drawn, has_several_ways, make_figures
from shaketable.report.wording_tables import make_paper_table, make_tables
from shaketable.report.wording_words import describe_numbers, join_details, name_rewording, name_system, name_where
from shaketable.report.words import (
    count_questions,
    format_cost,
    format_difference,
    format_level,
    format_loss,
    name_direction,
    sentence_case,
)

FIGURE = Plan(
    name="accuracy_by_wording",
    title="Correct answers by wording",
    note="Means over questions.",
    titles=Titles(panel="Dataset", series="System", x="Asked", value="Correct answers"),
    draw=forest,
)
PAPER_NAMES = {"contains": "InAccuracy (contains)", "token_f1": "F1 (token_f1)"}
"""Numbers that "How You Ask Matters!" prints; its InAccuracy is contains(match='token')."""
CAVEATS = (
    "Differences are paired by question and run, and tested by flipping the signs of questions at random, which for "
    "single runs of right and wrong is McNemar's exact test.",
    "Where a system was asked of several datasets, sentences speak of all of them together.",
    "The largest of several estimates is too large: what a sentence calls the most of several is drawn towards their "
    "mean by the noise between them (empirical Bayes), and its interval holds for all of them together (max-|t|).",
    FAMILY,
    UNADJUSTED,
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
        tables=(
            *make_tables(result.numbers, titles, page, kind="wording"),
            *(
                table
                for metric, name in PAPER_NAMES.items()
                for table in make_paper_table(result.numbers, metric, name, page)
            ),
        ),
        caveats=describe_numbers(result.numbers, page, *CAVEATS),
    )


def _headlines(result: WordingAccuracy, page: Page) -> tuple[Headline, ...]:
    """One for each system, what is shown first."""
    levels = {
        number.cell: number
        for number in result.numbers
        if number.metric in result.metrics[:1] and not (number.is_loss or number.answered_only)
    }
    return tuple(
        _headline(chosen, levels[replace(chosen.number.cell, variation=ORIGINAL)], page)
        for chosen in choose_rewordings(result.losses, "wording", page)
    )


def _headline(chosen: Chosen, original: WordingNumber, page: Page) -> Headline:
    """The rewording that changes most, and how many others are shown to change anything."""
    loss = chosen.number
    headline = Headline(
        kind="wording",
        cell=loss.cell,
        system=name_system(loss.cell, page),
        sentence=_sentence(chosen, page),
        detail=_detail(chosen, original, page),
    )
    if not chosen.is_shown:
        return headline.with_loss(loss.estimate, loss.metric).with_claims(*chosen.claims)
    card = headline.with_amount(chosen.most or chosen.size).with_claims(*chosen.claims)
    return replace(card, direction=name_direction(loss.estimate, loss.metric))


def _sentence(chosen: Chosen, page: Page) -> str:
    loss = chosen.number
    cause, where = sentence_case(name_rewording(loss.cell.variation)), name_where(loss.cell, page)
    if not chosen.is_shown:
        return f"No rewording is shown to change the {word_for(loss.metric)} of {where}."
    size, among = chosen.most or chosen.size, f", the most of {chosen.n_rewordings} rewordings" if chosen.most else ""
    if chosen.value > 0:
        return f"{cause} costs {where} {format_cost(size, loss.metric)}{among}."
    return f"{cause} raises the {word_for(loss.metric)} of {where} by {format_difference(size)}{among}."


def _detail(chosen: Chosen, original: WordingNumber, page: Page) -> str:
    before = f"The original wording has {format_level(original.estimate)}"
    failed = describe_failed(chosen.number, chosen.number.estimate)
    if not chosen.is_shown:
        change = format_loss(chosen.number.estimate, chosen.number.metric)
        which = "the largest change is" if chosen.n_rewordings > 1 else "the change is"
        behind = f"{count_questions(chosen.number.estimate.n)}); {describe_unshown(chosen.claim)}"
        cell, strength = chosen.number.cell, _describe_strength(chosen.number.cell, page)
        return f"{before}; {which} {change}, with {name_rewording(cell.variation)} ({behind}.{failed}{strength}"
    details = [f"{before}; by itself the difference is {format_difference(chosen.size)}" if chosen.most else before]
    return f"{join_details([*details, *chosen.describe_others()], chosen.number)}{failed}"


def _describe_strength(cell: Cell, page: Page) -> str:
    """How much a rewording without a shown effect leaves as it was, where that was measured."""
    strengths = page.result(WordingStrength)
    kept = None if strengths is None else strengths.mean(cell, "terms_kept")
    return "" if kept is None or kept.value is None else f" It keeps {format_level(kept)} of the search terms."
