"""Do answers stay the same when a question is reworded?"""

from __future__ import annotations

from shaketable.analyses.wording.consistency import Consistency
from shaketable.analyses.wording.numbers import WordingNumber
from shaketable.report.grouping import group_by_system
from shaketable.report.section import Headline, Page, Section
from shaketable.report.wording_tables import make_tables
from shaketable.report.wording_words import describe_numbers, make_headline, name_rewording, name_where
from shaketable.report.words import count_questions, format_level, sentence_case

TITLES = {
    ("similarity", False): "similarity",
    ("similarity", True): "similarity, neither empty",
    ("diversity", False): "diversity",
    ("empty", False): "empty answers",
    ("both_empty", False): "both empty",
}


def section(result: Consistency, page: Page) -> Section:
    return Section(
        chapter="wording",
        title="Do answers stay the same?",
        question="Does a reworded question get the same answer?",
        headlines=_headlines(result, page),
        tables=make_tables(result.numbers, TITLES, page),
        caveats=describe_numbers(
            result.numbers,
            page,
            f"Answers are compared as vectors of {result.encoder}. Two empty answers have similarity 1, so read "
            "similarity beside the share of empty answers and of pairs that are both empty, and the similarity of "
            "pairs where neither is.",
            "Diversity is one minus the mean cosine of all pairs of wordings, the original among them; a question "
            "that lacks some wordings counts with those it has (n_incomplete).",
        ),
    )


def _headlines(result: Consistency, page: Page) -> tuple[Headline, ...]:
    """One for each system and dataset, the least similar answers first."""
    similarities = [number for number in result.numbers if number.metric == "similarity"]
    alike = [number for number in similarities if not number.answered_only and number.estimate.value is not None]
    alone = {number.cell: number for number in similarities if number.answered_only}
    ends = [(min(group, key=_value), max(group, key=_value)) for group in group_by_system(alike)]
    ends.sort(key=lambda pair: _value(pair[0]))
    return tuple(_headline(least, most, alone.get(least.cell), page) for least, most in ends)


def _value(number: WordingNumber) -> float:
    return number.estimate.value or 0.0


def _headline(least: WordingNumber, most: WordingNumber, alone: WordingNumber | None, page: Page) -> Headline:
    """The rewording that moves the answers of a system most: they are least alike."""
    detail = "Measured"
    if most is not least:
        detail = f"{sentence_case(name_rewording(most.cell.variation))} moves them least, {format_level(most.estimate)}"
    detail += f" ({count_questions(least.estimate.n)})."
    if alone is not None:
        sample = f" ({count_questions(alone.estimate.n)})" if alone.estimate.value is not None else ""
        detail += f" Of pairs where neither answer is empty: {format_level(alone.estimate)}{sample}."
    return make_headline(
        "consistency",
        least.cell,
        f"{sentence_case(name_rewording(least.cell.variation))} moves the answers of "
        f"{name_where(least.cell, page)} most: similarity {format_level(least.estimate)} to the answer to the original "
        "wording.",
        detail,
        page,
    )
