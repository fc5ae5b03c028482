"""Do costs stay the same when a question is reworded?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shaketable.analyses.wording.cost_stability import CostStability
from shaketable.analyses.wording.numbers import WordingNumber
from shaketable.report.charts.forest import forest
from shaketable.report.charts.marks import Titles
from shaketable.report.grouping import group_by_system
from shaketable.report.section import Headline, Page, Section
from shaketable.report.wording_figures import Plan, compare_ways
from shaketable.report.wording_tables import make_tables
from shaketable.report.wording_words import describe_numbers, make_headline, name_rewording, name_where
from shaketable.report.words import count_questions, format_level, format_number, sentence_case

TITLES = {
    ("n_searches", False): "searches",
    ("re_searches", False): "relative change of searches",
    ("cvr_searches", False): "steadiness of searches",
    ("n_calls", False): "model calls",
    ("re_calls", False): "relative change of model calls",
    ("cvr_calls", False): "steadiness of model calls",
    ("n_tokens", False): "tokens generated",
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
        tables=make_tables(result.numbers, TITLES, page),
        caveats=describe_numbers(
            result.numbers,
            page,
            ZEROS[result.zero],
            "Model calls are the method's own: completing an answer and reading documents for it are not counted.",
        ),
    )


def _headlines(result: CostStability, page: Page) -> tuple[Headline, ...]:
    """One for each system and dataset that searches, the largest change first."""
    known = [number for number in result.numbers if number.estimate.value is not None]
    steadiness = {number.cell: number for number in known if number.metric == "cvr_searches" and number.with_people}
    changes = group_by_system(number for number in known if number.metric == "re_searches")
    ranked = sorted((sorted(group, key=_value, reverse=True) for group in changes), key=lambda group: -_value(group[0]))
    return tuple(_headline(group, steadiness.get(replace(group[0].cell, variation=None)), page) for group in ranked)


def _value(number: WordingNumber) -> float:
    return number.estimate.value or 0.0


def _headline(changes: Sequence[WordingNumber], steadiness: WordingNumber | None, page: Page) -> Headline:
    """The rewording that changes the searches of a system most."""
    most = changes[0]
    where = name_where(most.cell, page)
    sentence = f"No rewording changes how often {where} searches."
    if most.estimate.value:
        sentence = (
            f"{sentence_case(name_rewording(most.cell.variation))} changes how often {where} searches by "
            f"{format_number(most.estimate.value, 'share')} % of the original's searches on average, the most of "
            f"{len(changes)} rewordings."
        )
    detail = "Paired by question"
    if steadiness is not None:
        detail = f"Steadiness over all wordings is {format_level(steadiness.estimate)} of 1"
    return make_headline("cost", most.cell, sentence, f"{detail} ({count_questions(most.estimate.n)}).", page)
