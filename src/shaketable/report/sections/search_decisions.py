"""The decision to search: how often rewording flips it, and whether it is right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from shaketable.analyses.wording.candidates import spoken_of
from shaketable.analyses.wording.numbers import WordingNumber
from shaketable.analyses.wording.search_decisions import SearchDecisions
from shaketable.factors import ORIGINAL, Cell
from shaketable.report.charts.forest import forest
from shaketable.report.charts.marks import Titles
from shaketable.report.claim_words import FAMILY, UNADJUSTED, describe_unshown
from shaketable.report.grouping import group_by_system
from shaketable.report.section import Headline, Page, Section
from shaketable.report.wording_choices import Chosen, choose_rewordings
from shaketable.report.wording_figures import Plan, compare_ways
from shaketable.report.wording_noise import CHANCE_IS_NOT_KNOWN, BesideNoise, choose_beside_noise, format_beside
from shaketable.report.wording_tables import make_noise_tables, make_paper_table, make_tables
from shaketable.report.wording_words import (
    describe_closed_books,
    describe_numbers,
    join_details,
    make_headline,
    name_rewording,
    name_where,
)
from shaketable.report.words import format_difference, format_level, sentence_case
from shaketable.types import Estimate

TITLES = {
    ("act", False): "searches at all",
    ("flip_any", False): "flips",
    ("flip_pair", False): "flips, by pair",
    ("need", False): "needs a search",
    ("over_confidence", False): "over-confidence",
    ("under_confidence", False): "under-confidence",
}
FLIPS = {"flip_any": "reworded", "noise_any": "the same wording again"}
FLIP_FIGURE = Plan(
    name="flip_rates",
    title="Does rewording flip the decision to search?",
    note="Share of questions where a wording decides otherwise than the original, beside what runs of the original "
    "wording do by chance.",
    titles=Titles(panel="Dataset", row="System", series="Compared", x="Asked", value="Decision to search flips"),
    draw=forest,
)
CONFIDENCE = {"over_confidence": "needed, not made", "under_confidence": "made, not needed"}
CONFIDENCE_FIGURE = Plan(
    name="confidence_by_wording",
    title="Over- and under-confidence",
    note="A search is needed where the closed-book answer is wrong. Shares of all questions.",
    titles=Titles(panel="Dataset", row="System", series="Search", x="Asked", value="Questions"),
    draw=forest,
)


def section(result: SearchDecisions, page: Page) -> Section:
    deciding = _deciding(result)
    flips = choose_beside_noise(deciding, "flip_any", "decision", 1, page)
    decisions = tuple(_decision(pair, chosen, page) for pair, chosen in flips)
    levels = {(number.metric, number.cell): number.estimate for number in deciding if not number.is_loss}
    over = spoken_of(number for number in deciding if number.metric == "over_confidence" and number.is_loss)
    confidence = tuple(_confidence(chosen, levels, page) for chosen in choose_rewordings(over, "confidence", page))
    return Section(
        chapter="wording",
        title="The decision to search",
        question="Does rewording change the decision to search?",
        headlines=(
            *decisions,
            *confidence,
            *(_no_verdict(cell, what, page) for cell, what in result.without_decision.items()),
        ),
        figures=(
            *compare_ways(FLIP_FIGURE, result.numbers, FLIPS, page),
            *(
                replace(figure, caption=confidence[0].text if confidence else "")
                for figure in compare_ways(CONFIDENCE_FIGURE, result.numbers, CONFIDENCE, page)
            ),
        ),
        tables=(
            *make_tables(result.numbers, TITLES, page, kind="confidence"),
            *make_noise_tables(result.numbers, TITLES, page, kind="decision"),
            *make_paper_table(result.numbers, "flip_any", "Flip rate", page),
            *make_paper_table(result.numbers, "over_confidence", "Over-confidence", page),
        ),
        caveats=describe_numbers(
            result.numbers,
            page,
            f"A search is needed where the closed-book answer to the {result.need} wording is wrong.",
            *describe_closed_books(result.closed_books),
            "The noise flip compares runs of the original wording with one another, as many as there are wordings; "
            "what rewording adds is the excess. At temperature 0 a model that computes exactly has no noise.",
            FAMILY,
            UNADJUSTED,
        ),
    )


def _deciding(result: SearchDecisions) -> list[WordingNumber]:
    """Those of systems that decide; what always searches decides nothing."""
    groups = group_by_system(number for number in result.decided if number.estimate.value is not None)
    return [number for group in groups if _is_reworded(group) for number in group]


def _is_reworded(numbers: Sequence[WordingNumber]) -> bool:
    return any(number.metric == "flip_any" for number in numbers)


def _no_verdict(cell: Cell, what: str, page: Page) -> Headline:
    sentence = f"There is no verdict on the decision to search of {name_where(cell, page)}: it {what}."
    return make_headline("no_decision", cell, sentence, "", page)


def _decision(pair: BesideNoise, chosen: Chosen | None, page: Page) -> Headline:
    flip, cause = pair.raw, name_rewording(pair.raw.cell.variation)
    where, share = name_where(flip.cell, page), format_beside(pair, "share")
    if chosen is None:
        sentence = f"After {cause} the decision to search is another in {share} of questions ({where})."
        detail = join_details([CHANCE_IS_NOT_KNOWN], flip)
        headline = make_headline("decision", flip.cell, sentence, detail, page)
        return headline.with_level(flip.estimate, is_clear=False)
    if not chosen.is_shown:
        sentence = f"No rewording is shown to change the decision to search of {where} beyond chance."
        detail = f"{sentence_case(cause)} changes it in {share}; {describe_unshown(chosen.claim)}"
    else:
        does = "changes the decision to search" if chosen.value > 0 else "steadies the decision to search"
        sentence = f"{sentence_case(cause)} {does} of {where}: it is another in {share}."
        detail = "Of questions"
    details = [detail, *chosen.describe_others()]
    headline = make_headline("decision", flip.cell, sentence, join_details(details, flip), page)
    return headline.with_amount(chosen.number.estimate).with_claims(*chosen.claims)


def _confidence(chosen: Chosen, levels: Mapping[tuple[str, Cell], Estimate], page: Page) -> Headline:
    """Losses are below 0 where rewording adds over-confidence."""
    cell = chosen.number.cell
    cause, where = name_rewording(cell.variation), name_where(cell, page)
    over, before = (levels["over_confidence", replace(cell, variation=name)] for name in (cell.variation, ORIGINAL))
    shares = f"{format_level(over)} of questions, with the original wording in {format_level(before)}"
    under = f"It makes one that it does not need in {format_level(levels['under_confidence', cell])}"
    if chosen.is_shown:
        more = "more" if chosen.value < 0 else "less"
        sentence = (
            f"After {cause}, {where} leaves out a search that it needs {more} often: in {shares}, a difference of "
            f"{format_difference(chosen.size)}."
        )
        details = [under, *chosen.describe_others()]
    else:
        sentence = f"No rewording is shown to change how often {where} leaves out a search that it needs."
        details = [f"After {cause} it does in {shares}; {describe_unshown(chosen.claim)}", under]
    headline = make_headline("confidence", cell, sentence, join_details(details, chosen.number), page)
    card = headline.with_amount(chosen.size).with_claims(*chosen.claims)
    return replace(card, links=(CONFIDENCE_FIGURE.name,))
