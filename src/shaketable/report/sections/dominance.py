"""Temperature against evidence: which moves the score more?"""

from __future__ import annotations

from shaketable.analyses.evidence.dominance import Dominance, Weighing
from shaketable.factors import word_for
from shaketable.report.section import Headline, Page, Section
from shaketable.report.tables import TableLine, make_tables
from shaketable.report.words import (
    count_questions,
    describe_bootstrap,
    format_level,
    sentence_case,
)

OUTCOMES = {"mean": "mean", "cv": "CV over runs"}
COLUMNS = ("Of", "Moves it more", "Temperature", "Evidence", "Interaction", "Difference")


def section(result: Dominance, page: Page) -> Section:
    return Section(
        chapter="dice",
        title="Temperature against evidence",
        question="Does temperature matter more than evidence?",
        headlines=tuple(_headline(weighing, page) for weighing in result.weighings if _is_decidable(weighing)),
        tables=make_tables("Partial eta squared", COLUMNS, [_line(weighing) for weighing in result.weighings], page),
        caveats=_caveats(result, page),
    )


def _is_decidable(weighing: Weighing) -> bool:
    return weighing.cell.group is None and weighing.stronger is not None and weighing.difference.low is not None


def _headline(weighing: Weighing, page: Page) -> Headline:
    headline = page.headline("dominance", weighing.cell, _sentence(weighing, page), _detail(weighing))
    is_clear = weighing.stronger != "undecided" and page.is_applied(weighing.cell)
    return headline.with_level(weighing.difference, is_clear=is_clear)


def _sentence(weighing: Weighing, page: Page) -> str:
    system, metric = page.name(weighing.cell), word_for(weighing.metric)
    if weighing.outcome == "cv":
        metric = f"spread between runs (CV) of the {metric}"
    if weighing.stronger == "undecided":
        return f"Whether temperature or evidence moves the {metric} of {system} more is undecided."
    stronger, weaker = ("temperature", "evidence")[:: 1 if weighing.stronger == "temperature" else -1]
    return f"{sentence_case(stronger)} moves the {metric} of {system} more than {weaker} does."


def _detail(weighing: Weighing) -> str:
    temperature, evidence, difference = (
        format_level(estimate) for estimate in (weighing.temperature, weighing.evidence, weighing.difference)
    )
    sample = count_questions(weighing.difference.n)
    return f"Partial eta squared {temperature} against {evidence}, difference {difference} ({sample})."


def _line(weighing: Weighing) -> TableLine:
    effects = (weighing.temperature, weighing.evidence, weighing.interaction, weighing.difference)
    return TableLine(
        cell=weighing.cell,
        metric=weighing.metric,
        entries=(
            OUTCOMES[weighing.outcome],
            weighing.stronger or weighing.difference.reason,
            *(format_level(effect) for effect in effects),
        ),
        n=weighing.difference.n,
    )


def _caveats(result: Dominance, page: Page) -> tuple[str, ...]:
    caveats = [
        f"{describe_bootstrap(page.bootstrap)} Partial eta squared is never negative, so its own interval cannot show "
        "that an effect is absent.",
        "Which matters more depends on the temperatures and disturbances that were tried; hotter ones weigh more.",
    ]
    if any(weighing.n_left_out for weighing in result.weighings):
        caveats.append("Questions without a score in every cell are left out of the decomposition and counted.")
    return tuple(caveats)
