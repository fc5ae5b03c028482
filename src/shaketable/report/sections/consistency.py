"""Do answers stay the same when a question is reworded?"""

from __future__ import annotations

from shaketable.analyses.wording.consistency import Consistency
from shaketable.analyses.wording.numbers import WordingNumber
from shaketable.report.claim_words import describe_unshown
from shaketable.report.section import Headline, Page, Section
from shaketable.report.wording_choices import Chosen
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
from shaketable.report.words import format_level, sentence_case

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
        tables=(
            *make_tables(result.numbers, TITLES, page),
            *make_noise_tables(result.numbers, TITLES, page, kind="consistency"),
            *make_paper_table(result.numbers, "similarity", "Similarity", page, whole={"diversity": "diversity"}),
        ),
        caveats=describe_numbers(
            result.numbers,
            page,
            f"Answers are compared as vectors of {result.encoder}. Two empty answers have similarity 1, so read "
            "similarity beside the share of empty answers and of pairs that are both empty, and the similarity of "
            "pairs where neither is.",
            "Diversity is one minus the mean cosine of all pairs of wordings, the original among them; a question "
            "that lacks some wordings counts with those it has (n_incomplete).",
            BESIDE_NOISE,
        ),
    )


def _headlines(result: Consistency, page: Page) -> tuple[Headline, ...]:
    """One for each system, the answers that moved furthest first."""
    pairs = pair_with_noise(result.numbers, "similarity")
    alone = {pair.raw.cell: pair.raw for pair in pairs if pair.raw.answered_only}
    told = choose_beside_noise(result.numbers, "similarity", "consistency", -1, page)
    return tuple(_headline(pair, chosen, alone.get(pair.raw.cell), page) for pair, chosen in told)


def _headline(pair: BesideNoise, chosen: Chosen | None, alone: WordingNumber | None, page: Page) -> Headline:
    cell = pair.raw.cell
    cause, where = name_rewording(cell.variation), name_where(cell, page)
    similarity = f"their similarity to those to the original wording is {format_beside(pair)}"
    if chosen is None:
        sentence, details = f"Answers of {where} after {cause}: {similarity}.", [CHANCE_IS_NOT_KNOWN]
    elif not chosen.is_shown:
        sentence = f"No rewording is shown to move the answers of {where} further than chance does."
        details = [f"After {cause} {similarity}; {describe_unshown(chosen.claim)}"]
    elif chosen.value < 0:
        sentence, details = f"{sentence_case(cause)} moves the answers of {where}: {similarity}.", []
    else:
        sentence = f"After {cause} the answers of {where} are steadier than those of two runs: {similarity}."
        details = []
    if alone is not None:
        details.append(f"Where neither answer is empty it is {format_level(alone.estimate)}")
    details += chosen.describe_others() if chosen else []
    headline = make_headline("consistency", cell, sentence, join_details(details, pair.raw), page)
    return headline if chosen is None else headline.with_claims(*chosen.claims)
