"""Facts that are wrong when greedy, and right at some higher temperature."""

from __future__ import annotations

from shaketable.analyses.facts.facts import over_all_datasets
from shaketable.analyses.facts.latent_facts import LatentFacts, LatentShare
from shaketable.report.known_facts import make_headline, name_system, read_answers
from shaketable.report.section import Headline, Page, Section, Table
from shaketable.report.words import caveats_of_agreement, count_questions, describe_bootstrap, format_level


def section(result: LatentFacts, page: Page) -> Section:
    return Section(
        chapter="facts",
        title="Latent facts",
        question="Which facts does a model get wrong when greedy, and right at a higher temperature?",
        headlines=tuple(
            _headline(share, result.least, page) for share in over_all_datasets(result.shares) if share.share.value
        ),
        tables=_tables(result, page),
        caveats=_caveats(result, page),
    )


def _headline(share: LatentShare, least: float, page: Page) -> Headline:
    system = name_system(share.cell, page)
    return make_headline(
        "latent",
        share.cell,
        f"Of the facts that {system} gets wrong when greedy, {format_level(share.share)} are right in at "
        f"least {100 * least:g} % of the answers at some higher temperature.",
        f"Sampling several answers may bring them out ({count_questions(share.share.n)}).",
        page,
    )


def _tables(result: LatentFacts, page: Page) -> tuple[Table, ...]:
    rows = [
        (
            name_system(fact.cell, page),
            greedy.question,
            greedy.answer,
            f"{100 * fact.peak:.0f} % at {fact.peak_temperature:g}",
        )
        for fact, greedy in zip(result.facts, read_answers(result.facts, page), strict=True)
    ]
    columns = ("System", "Question", "Wrong answer at 0", "Most often right")
    return (Table(columns=columns, rows=tuple(rows)),) if rows else ()


def _caveats(result: LatentFacts, page: Page) -> tuple[str, ...]:
    if not result.shares:
        return ()
    caveats = [describe_bootstrap(page.bootstrap), *caveats_of_agreement(share.share for share in result.shares)]
    if any(share.n_curves < share.share.n for share in result.shares):
        caveats.append(
            "Without curves a peak is the highest of several shares of few samples, and chance alone lifts it."
        )
    return tuple(caveats)
