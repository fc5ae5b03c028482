"""The decision to search: how often rewording flips it, and whether it is right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from shaketable.analyses.wording.measurements import ONE_RUN
from shaketable.analyses.wording.numbers import WordingNumber
from shaketable.analyses.wording.search_decisions import SearchDecisions
from shaketable.factors import ORIGINAL, is_by_people
from shaketable.report.charts.forest import forest
from shaketable.report.charts.marks import Titles
from shaketable.report.grouping import group_by_system
from shaketable.report.section import Headline, Page, Section
from shaketable.report.wording_figures import Plan, compare_ways
from shaketable.report.wording_tables import make_tables
from shaketable.report.wording_words import (
    describe_closed_books,
    describe_numbers,
    make_headline,
    name_rewording,
    name_where,
)
from shaketable.report.words import (
    count_questions,
    format_difference,
    format_level,
    format_value,
    holds_zero,
    is_above_zero,
    sentence_case,
)

TITLES = {
    ("act", False): "searches at all",
    ("flip_any", False): "flips",
    ("noise_any", False): "flips by chance",
    ("excess_any", False): "flips beyond chance",
    ("flip_pair", False): "flips, by pair",
    ("noise_pair", False): "by chance, by pair",
    ("excess_pair", False): "beyond chance, by pair",
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
ByMetric = dict[str, WordingNumber]


@dataclass(frozen=True, kw_only=True, slots=True)
class OverConfident:
    """The wording with the most over-confidence, beside the original."""

    most: ByMetric
    original: WordingNumber
    n_rewordings: int


def section(result: SearchDecisions, page: Page) -> Section:
    systems = [_by_variation(group) for group in group_by_system(result.numbers)]
    deciding = [system for system in systems if _decides(system)]
    flips = sorted((_most_flipped(system) for system in deciding), key=lambda of: -_value(of["flip_any"]))
    over = [most for system in deciding if (most := _most_over_confident(system))]
    over.sort(key=lambda wording: -_value(wording.most["over_confidence"]))
    decisions = tuple(_decision(numbers, page) for numbers in flips)
    confidence = tuple(_confidence(wording, page) for wording in over)
    return Section(
        chapter="wording",
        title="The decision to search",
        question="Does rewording change the decision to search?",
        headlines=(*decisions, *confidence),
        figures=(
            *compare_ways(FLIP_FIGURE, result.numbers, FLIPS, page),
            *(
                replace(figure, caption=confidence[0].text if confidence else "")
                for figure in compare_ways(CONFIDENCE_FIGURE, result.numbers, CONFIDENCE, page)
            ),
        ),
        tables=make_tables(result.numbers, TITLES, page),
        caveats=describe_numbers(
            result.numbers,
            page,
            f"A search is needed where the closed-book answer to the {result.need} wording is wrong.",
            *describe_closed_books(result.closed_books),
            "The noise flip compares runs of the original wording with one another, as many as there are wordings; "
            "what rewording adds is the excess. At temperature 0 a model that computes exactly has no noise.",
        ),
    )


def _by_variation(numbers: Sequence[WordingNumber]) -> dict[str, ByMetric]:
    """Of one system: variation → metric → its number, where there is one."""
    by_variation: dict[str, ByMetric] = {}
    for number in numbers:
        if number.estimate.value is not None and number.cell.variation is not None:
            by_variation.setdefault(number.cell.variation, {})[number.metric] = number
    return by_variation


def _decides(system: Mapping[str, ByMetric]) -> bool:
    """What always searches decides nothing."""
    acts = [numbers["act"] for numbers in system.values() if "act" in numbers]
    return any("flip_any" in numbers for numbers in system.values()) and any(_value(act) != 1 for act in acts)


def _most_flipped(system: Mapping[str, ByMetric]) -> ByMetric:
    """The variation that flips most, rewrites by people before others."""
    flips = {variation: numbers for variation, numbers in system.items() if "flip_any" in numbers}
    people = [variation for variation in flips if is_by_people(variation)]
    return flips[max(people or flips, key=lambda variation: (_value(flips[variation]["flip_any"]), variation))]


def _most_over_confident(system: Mapping[str, ByMetric]) -> OverConfident | None:
    """None: there are not both the original wording and another."""
    over = {variation: numbers for variation, numbers in system.items() if "over_confidence" in numbers}
    original = over.pop(ORIGINAL, None)
    if original is None or not over:
        return None
    most = max(over.values(), key=lambda numbers: _value(numbers["over_confidence"]))
    return OverConfident(most=most, original=original["over_confidence"], n_rewordings=len(over))


def _decision(numbers: ByMetric, page: Page) -> Headline:
    flip, noise, excess = numbers["flip_any"], numbers.get("noise_any"), numbers.get("excess_any")
    sample = count_questions(flip.estimate.n)
    sentence = (
        f"{sentence_case(name_rewording(flip.cell.variation))} changes the decision to search in "
        f"{format_level(flip.estimate)} of questions ({name_where(flip.cell, page)})"
    )
    detail = f"How much of it is chance is not known: there are {ONE_RUN} ({sample})."
    if noise and excess:
        sentence += f"; runs of the same wording alone change it in {format_value(noise.estimate)}"
        added = f"adds {format_difference(excess.estimate)}"
        detail = f"Rewording {'is not shown to add anything' if holds_zero(excess.estimate) else added} ({sample})."
    headline = make_headline("decision", flip.cell, f"{sentence}.", detail, page)
    return headline.with_level(flip.estimate, is_clear=is_above_zero(flip.estimate))


def _confidence(over: OverConfident, page: Page) -> Headline:
    most, under = over.most["over_confidence"], over.most["under_confidence"]
    headline = make_headline(
        "confidence",
        most.cell,
        f"After {name_rewording(most.cell.variation)}, {name_where(most.cell, page)} leaves out a search that it needs "
        f"in {format_level(most.estimate)} of questions, the most of {over.n_rewordings} rewordings; with the original "
        f"wording in {format_level(over.original.estimate)}.",
        f"It makes one that it does not need in {format_level(under.estimate)} ({count_questions(most.estimate.n)}).",
        page,
    )
    card = headline.with_level(most.estimate, is_clear=is_above_zero(most.estimate))
    return replace(card, links=(CONFIDENCE_FIGURE.name,))


def _value(number: WordingNumber) -> float:
    return number.estimate.value or 0.0
