"""Temperature against evidence: which moves the score more?"""

from __future__ import annotations

from shaketable.analyses.claims import Claim
from shaketable.analyses.evidence.dominance import Dominance, Weighing
from shaketable.factors import word_for
from shaketable.report.claim_words import FAMILY, UNADJUSTED, describe_unshown
from shaketable.report.section import Headline, Page, Section
from shaketable.report.tables import TableLine, make_tables
from shaketable.report.words import (
    count_questions,
    describe_bootstrap,
    format_level,
    format_p,
    sentence_case,
)
from shaketable.statistics.intervals import within

OUTCOMES = {"mean": "mean", "cv": "CV over runs"}
COLUMNS = ("Of", "Moves it more", "Temperature", "Evidence", "Interaction", "Difference", "p")


def section(result: Dominance, page: Page) -> Section:
    spoken_of = [weighing for weighing in result.weighings if weighing.metric == result.metric]
    lines = [_line(weighing, page) for weighing in result.weighings]
    return Section(
        chapter="dice",
        title="Temperature against evidence",
        question="Does temperature matter more than evidence?",
        headlines=tuple(_headline(weighing, page) for weighing in spoken_of if _is_known(weighing)),
        tables=make_tables("Partial epsilon squared", COLUMNS, lines, page),
        caveats=_caveats(result, page),
    )


def _is_known(weighing: Weighing) -> bool:
    return weighing.cell.group is None and weighing.difference.value is not None


def _claim(weighing: Weighing, page: Page) -> Claim | None:
    return page.claim("dominance", weighing.cell, weighing.metric, other=weighing.outcome)


def _stronger(weighing: Weighing) -> tuple[str, str]:
    """The stronger and the weaker, by the difference."""
    is_temperature = (weighing.difference.value or 0.0) > 0
    return ("temperature", "evidence") if is_temperature else ("evidence", "temperature")


def _headline(weighing: Weighing, page: Page) -> Headline:
    claim = _claim(weighing, page)
    headline = page.headline("dominance", weighing.cell, _sentence(weighing, page), _detail(weighing, claim))
    return headline.with_level(within(weighing.difference, -1, 1), is_clear=page.is_applied(weighing.cell)).with_claims(
        claim
    )


def _sentence(weighing: Weighing, page: Page) -> str:
    system, metric = page.name(weighing.cell), word_for(weighing.metric)
    if weighing.outcome == "cv":
        metric = f"spread between runs (CV) of the {metric}"
    claim = _claim(weighing, page)
    if claim is None or not claim.is_shown:
        return f"Whether temperature or evidence moves the {metric} of {system} more is undecided."
    stronger, weaker = _stronger(weighing)
    return f"{sentence_case(stronger)} moves the {metric} of {system} more than {weaker} does."


def _detail(weighing: Weighing, claim: Claim | None) -> str:
    temperature, evidence = (format_level(within(own, 0, 1)) for own in (weighing.temperature, weighing.evidence))
    difference = format_level(within(weighing.difference, -1, 1))
    sample = count_questions(weighing.difference.n)
    behind = "" if claim is not None and claim.is_shown else f"; {describe_unshown(claim)}"
    return f"Partial epsilon squared {temperature} against {evidence}, difference {difference} ({sample}){behind}."


def _line(weighing: Weighing, page: Page) -> TableLine:
    shares = (within(own, 0, 1) for own in (weighing.temperature, weighing.evidence, weighing.interaction))
    effects = (*shares, within(weighing.difference, -1, 1))
    return TableLine(
        cell=weighing.cell,
        metric=weighing.metric,
        entries=(
            OUTCOMES[weighing.outcome],
            _verdict(weighing, page),
            *(format_level(effect) for effect in effects),
            format_p(weighing.p),
        ),
        n=weighing.difference.n,
    )


def _verdict(weighing: Weighing, page: Page) -> str | None:
    """None: types of question and other metrics are explored, and get no verdict."""
    claim = _claim(weighing, page)
    if weighing.difference.value is None or claim is None:
        return weighing.difference.reason
    return _stronger(weighing)[0] if claim.is_shown else "undecided"


def _caveats(result: Dominance, page: Page) -> tuple[str, ...]:
    caveats = [
        "Partial epsilon squared is the part of what varies inside questions that a factor does to all of them alike. "
        "Unlike partial eta squared it is not raised by sampling noise: without an effect it is about 0; an "
        "estimate below 0 is shown as 0.",
        f"{describe_bootstrap(page.bootstrap)} The difference is tested by flipping the signs of what questions add.",
        FAMILY,
        UNADJUSTED,
        "Which matters more depends on the temperatures and disturbances that were tried; higher and harsher "
        "ones weigh more.",
    ]
    if any(weighing.n_left_out for weighing in result.weighings):
        caveats.append("Questions without a score in every cell are left out of the decomposition and counted.")
    return tuple(caveats)
