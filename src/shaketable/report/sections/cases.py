"""The questions that lose most when their evidence is disturbed, and how their answers fail."""

from __future__ import annotations

import textwrap

from shaketable.analyses.evidence.cases import Cases, LargestDrop
from shaketable.factors import Cell, word_for
from shaketable.report.extremes import system_cell
from shaketable.report.section import Headline, Page, Section
from shaketable.report.words import format_number, name_part, name_questions, sentence_case

N_LETTERS = 90
"""Of a question in a sentence."""


def section(result: Cases, page: Page) -> Section:
    return Section(
        chapter="evidence",
        question="Which questions lose most when their evidence is disturbed, and how do their answers fail?",
        headlines=tuple(_headline(drop, page) for drop in _largest(result)),
        shown=(),
        caveats=_caveats(result),
    )


def _largest(result: Cases) -> list[LargestDrop]:
    """Of each system, where anything is lost."""
    largest: dict[tuple[str, Cell], LargestDrop] = {}
    for drop in result.drops:
        key = drop.metric, system_cell(drop.cell)
        if (drop.drop.value or 0.0) > (largest[key].drop.value or 0.0 if key in largest else 0.0):
            largest[key] = drop
    return [drop for drop in result.drops if drop in largest.values()]


def _headline(drop: LargestDrop, page: Page) -> Headline:
    system = page.name(drop.cell)
    cause, temperature = sentence_case(name_part(drop.cell.perturbation or "")), f"{drop.cell.temperature:g}"
    before, after = describe_ends(drop)
    tags = sorted({tag for record in drop.disturbed_records for tag in record.tags or ()})
    failed = f"Its answers are tagged {', '.join(tags)}. " if tags else ""
    sentence = (
        f"{cause} at temperature {temperature} takes {_name_question(drop, page)} from {before} to {after} "
        f"{word_for(drop.metric)}, the largest loss of {system} here."
    )
    if not drop.is_beyond_noise:
        sentence = (
            f"With {name_part(drop.cell.perturbation or '')} at temperature {temperature}, {system} scores {after} "
            f"instead of {before} {word_for(drop.metric)} on {_name_question(drop, page)}. {describe_noise(drop)}"
        )
    return page.headline(
        "cases",
        drop.cell,
        sentence,
        f"{failed}It is the extreme of {name_questions(drop.drop.n)}.",
    )


def _name_question(drop: LargestDrop, page: Page) -> str:
    """`“Which river flows through Paris?”`, shortened; its id where the text is not at hand."""
    texts = [question.text for question in page.read_questions({drop.question_id})]
    if not texts:
        return f"question {drop.question_id}"
    return f"“{textwrap.shorten(texts[0], N_LETTERS, placeholder=' …')}”"


def describe_noise(drop: LargestDrop) -> str:
    """Why a difference that is observed may be chance."""
    if drop.noise is None:
        return "A single run of each shows no cause: how much repeats differ is not known."
    return "Repeats with unchanged evidence alone vary that much, so this may be chance."


def describe_ends(drop: LargestDrop) -> tuple[str, str]:
    """With the original evidence, and with the disturbed."""
    percent = " %" if drop.drop.unit == "share" else ""
    before, after = (format_number(mean, drop.drop.unit) + percent for mean in (drop.original, drop.disturbed))
    return before, after


def _caveats(result: Cases) -> tuple[str, ...]:
    if not result.drops:
        return ()
    caveats = ["These are extremes, picked for being so: they show how answers fail, not how often."]
    if not result.has_tags:
        caveats.append("Without refusal, gibberish, terse or correct among the metrics, failures have no tags.")
    return tuple(caveats)
