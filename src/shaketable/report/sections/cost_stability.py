"""Do costs stay the same when a question is reworded?"""

from __future__ import annotations

from dataclasses import replace

from shaketable.analyses.wording.cost_stability import CostStability
from shaketable.report.charts.forest import forest
from shaketable.report.charts.marks import Titles
from shaketable.report.claim_words import describe_unshown
from shaketable.report.section import Headline, Page, Section
from shaketable.report.wording_choices import Chosen
from shaketable.report.wording_figures import Plan, compare_ways
from shaketable.report.wording_noise import (
    BESIDE_NOISE,
    CHANCE_IS_NOT_KNOWN,
    BesideNoise,
    choose_beside_noise,
    format_beside,
    pair_with_noise,
)
from shaketable.report.wording_tables import make_noise_tables, make_paper_table, make_tables
from shaketable.report.wording_words import describe_numbers, join_details, make_headline, name_rewording, name_where

TITLES = {
    ("n_searches", False): "searches",
    ("re_searches", False): "relative change of searches (RE)",
    ("cvr_searches", False): "steadiness of searches (CVR)",
    ("n_calls", False): "model calls",
    ("re_calls", False): "relative change of model calls (RE)",
    ("cvr_calls", False): "steadiness of model calls (CVR)",
    ("n_tokens", False): "tokens generated",
}
BESIDE = {
    ("re_searches", False): "relative change of searches",
    ("cvr_pair_searches", False): "steadiness of searches, by pair",
    ("re_calls", False): "relative change of model calls",
    ("cvr_pair_calls", False): "steadiness of model calls, by pair",
}
DRAWN = {"n_searches": "searches", "n_calls": "model calls"}
FIGURE = Plan(
    name="calls_by_wording",
    title="Searches and model calls by wording",
    note="Means over questions.",
    titles=Titles(panel="Dataset", row="System", series="Count", x="Asked", value="Mean per question"),
    draw=forest,
)
ZEROS = {
    "one": "RE divides by the calls of the original wording, and by 1 where it made none.",
    "zero": "RE divides by the calls of the original wording, and is 0 where it made none.",
    "drop": "RE leaves out questions whose original wording made no call.",
}


def section(result: CostStability, page: Page) -> Section:
    return Section(
        chapter="wording",
        title="Do costs stay the same?",
        question="Does rewording change what an answer costs?",
        headlines=_headlines(result, page),
        figures=compare_ways(FIGURE, result.numbers, DRAWN, page),
        tables=(
            *make_tables(result.numbers, TITLES, page),
            *make_noise_tables(result.numbers, BESIDE, page, kind="cost"),
            *make_paper_table(
                result.numbers, "re_searches", "RE of the retriever", page, whole={"cvr_searches": "CVR"}
            ),
            *make_paper_table(result.numbers, "re_calls", "RE of the LLM", page, whole={"cvr_calls": "CVR"}),
        ),
        caveats=describe_numbers(
            result.numbers,
            page,
            ZEROS[result.zero],
            "Model calls are the method's own: completing an answer and reading documents for it are not counted.",
            BESIDE_NOISE,
            "Steadiness of all wordings depends on how many they are; by pair it does not, so that runs may be fewer.",
        ),
    )


def _headlines(result: CostStability, page: Page) -> tuple[Headline, ...]:
    """One for each system that searches, the largest change first."""
    pairs = pair_with_noise(result.numbers, "cvr_pair_searches")
    steadiness = {pair.raw.cell: pair for pair in pairs if pair.raw.with_people}
    told = choose_beside_noise(result.numbers, "re_searches", "cost", 1, page)
    return tuple(
        _headline(pair, chosen, steadiness.get(replace(pair.raw.cell, variation=None)), page) for pair, chosen in told
    )


def _headline(pair: BesideNoise, chosen: Chosen | None, steadiness: BesideNoise | None, page: Page) -> Headline:
    cell = pair.raw.cell
    cause, where = name_rewording(cell.variation), name_where(cell, page)
    change = f"{cause} by {format_beside(pair, 'share')}, of the original's searches on average"
    if chosen is None:
        sentence, details = f"How often {where} searches changes with {change}.", [CHANCE_IS_NOT_KNOWN]
    elif not chosen.is_shown:
        sentence = f"No rewording is shown to change how often {where} searches beyond chance."
        details = [f"It changes with {change}; {_describe_unshown(chosen)}"]
    elif chosen.value > 0:
        sentence, details = f"Rewording changes how often {where} searches: {change}.", []
    else:
        sentence, details = f"Rewording steadies how often {where} searches: {change}.", []
    if steadiness is not None:
        details.append(f"Steadiness of two wordings is {format_beside(steadiness)}")
    details += chosen.describe_others("share") if chosen else []
    headline = make_headline("cost", cell, sentence, join_details(details, pair.raw), page)
    return headline if chosen is None else headline.with_claims(*chosen.claims)


def _describe_unshown(chosen: Chosen) -> str:
    """In points of the original's searches, as the change is."""
    claim = chosen.claim
    return describe_unshown(claim and replace(claim, estimate=replace(claim.estimate, unit="share")))
