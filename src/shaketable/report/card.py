"""What a run says of each system on one page: a few numbers with their intervals, and what was not measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from shaketable.analyses.claims import NOTHING_TO_LOSE
from shaketable.analyses.evidence.correctness import Correctness, EvidenceDrop
from shaketable.analyses.evidence.degradation import Degradation, Loss
from shaketable.analyses.evidence.guidelines import Guidelines
from shaketable.analyses.evidence.undone import describe_undone
from shaketable.analyses.facts.factual_robustness import FactualRobustness
from shaketable.analyses.floors import has_nothing_to_lose
from shaketable.analyses.gate.quantities import Quantity, bound
from shaketable.analyses.wording.wording_accuracy import WordingAccuracy
from shaketable.factors import ORIGINAL, Cell, title_of, word_for
from shaketable.report.claim_words import describe_unshown
from shaketable.report.section import Page
from shaketable.report.sections.guidelines import has_headline
from shaketable.report.sections.guidelines_words import ceiling_sentence, is_shown_safe, settle
from shaketable.report.words import (
    count,
    count_questions,
    describe_not_applied,
    describe_nothing_to_lose,
    format_amount,
    format_interval,
    format_value,
    name_direction,
    name_part,
    sentence_case,
    without_sign,
)
from shaketable.types import Estimate

Look = Literal["stated", "shown", "not shown", "nothing to lose", "not measured"]


@dataclass(frozen=True, kw_only=True, slots=True)
class CardLine:
    """One number of a card."""

    name: str
    number: str
    """Empty: there is none."""
    interval: str = ""
    detail: str
    """What it is of, with n; or why there is none."""
    look: Look = "stated"
    """`shown` and `not shown` are verdicts over all that the run may claim; a level is stated with its interval."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SystemCard:
    name: str
    lines: tuple[CardLine, ...]
    notes: tuple[str, ...] = ()
    """What must be known to read the numbers."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunCard:
    title: str
    systems: tuple[SystemCard, ...]
    facts: tuple[tuple[str, str], ...]
    """Data, date, study, version, seed."""
    command: str
    """That makes the run anew."""
    notes: tuple[str, ...]
    """What holds for all numbers."""


def make_system_cards(page: Page, accuracies: Sequence[Quantity], flips: Sequence[Quantity]) -> tuple[SystemCard, ...]:
    """One for each system and dataset, in the order of their accuracies."""
    return tuple(_system_card(quantity, page, flips) for quantity in accuracies)


def _system_card(accuracy: Quantity, page: Page, flips: Sequence[Quantity]) -> SystemCard:
    (cell,) = accuracy.cells
    own = [quantity for quantity in flips if _is_same(quantity.cells[0], cell)]
    lines = (
        _accuracy_line(accuracy, page),
        _ceiling_line(cell, page),
        _facts_line(cell, page),
        _flip_line(own[0] if own else None, page),
        _evidence_line(cell, page),
        _wording_line(cell, page),
    )
    floors = [
        describe_nothing_to_lose(entry, page.name(cell))
        for entry in page.findings.nothing_to_lose
        if entry.metric == page.findings.main_metric
        and entry.temperature is None
        and entry.dataset == cell.dataset
        and cell.system is not None
        and (entry.model, entry.method, entry.retriever) == (
            cell.system.model, cell.system.method, cell.system.retriever
        )
        and entry.group is None
        and entry.variation == ORIGINAL
    ]  # fmt: skip
    flat = [
        describe_not_applied(remark)
        for remark in page.findings.not_applied
        if cell.system is not None and (remark.model, remark.method) == (cell.system.model, cell.system.method)
    ]
    name = page.labels.name(replace(cell, variation=None), "dataset")
    return SystemCard(name=name, lines=lines, notes=(*_without_verdict(cell, page), *floors, *flat))


def _without_verdict(cell: Cell, page: Page) -> list[str]:
    """The perturbations of its evidence that were not done on too many questions."""
    return [
        describe_undone(own)
        for own in page.findings.undone
        if cell.system is not None
        and own.dataset == cell.dataset
        and (own.model, own.method, own.retriever) == (cell.system.model, cell.system.method, cell.system.retriever)
    ]


def _is_same(cell: Cell, other: Cell) -> bool:
    """Whether both are of one system and dataset; a dataset of None pools all."""
    return cell.system == other.system and cell.dataset in (None, other.dataset)


def _missing(name: str, why: str) -> CardLine:
    return CardLine(name=name, number="", detail=sentence_case(why), look="not measured")


# --- levels ---------------------------------------------------------------------------------------


def _accuracy_line(quantity: Quantity, page: Page) -> CardLine:
    (level,) = bound(quantity, [(1 - page.findings.confidence) / 2], page.findings.n_resamples)
    (cell,) = quantity.cells
    return CardLine(
        name=title_of(quantity.metric),
        number=format_value(level),
        interval=format_interval(level),
        detail=f"{sentence_case(word_for(quantity.metric))} of the baseline, {_where(cell)}; "
        f"{count_questions(level.n)}",
    )


def _flip_line(quantity: Quantity | None, page: Page) -> CardLine:
    name = "Answers that flip"
    if quantity is None:
        return _missing(name, "each question has one answer in one condition, or no metric tells right from wrong")
    # All conditions share the error, so that the worst of them may be picked out.
    tails = [share * (1 - page.findings.confidence) / 2 for share in quantity.shares()]
    estimates = bound(quantity, tails, page.findings.n_resamples)
    known = [(own, cell) for own, cell in zip(estimates, quantity.cells, strict=True) if own.value is not None]
    if not known:
        return _missing(name, "no question has answers in two conditions")
    worst, cell = max(known, key=lambda pair: pair[0].value or 0.0)
    several = f", the worst of {len(known)} conditions" if len(known) > 1 else ""
    return CardLine(
        name=name,
        number=format_value(worst),
        interval=format_interval(worst),
        detail=f"Chance that an answer is judged otherwise than in the baseline: {_where(cell)}{several}; "
        f"{count_questions(worst.n)}",
    )


def _facts_line(cell: Cell, page: Page) -> CardLine:
    name = "Factual Robustness Score"
    result = page.result(FactualRobustness)
    if result is None:
        return _missing(name, "the study does not ask for the analysis factual_robustness")
    scores = [
        own for own in result.scores if own.d == result.d[0] and own.is_capped and _is_same(own.cell, cell)
    ]  # fmt: skip
    best = next((own for own in scores if own.cell.dataset == cell.dataset), next(iter(scores), None))
    if best is None or best.score.value is None:
        return _missing(name, "no fact that it knows was scanned" if best is None else best.score.reason or "no value")
    return CardLine(
        name=name,
        number=format_value(best.score),
        interval=format_interval(best.score),
        detail=f"Mean over the facts it knows at temperature 0 (d = {best.d:g}); n = {count(best.score.n, 'fact')}",
    )


def _ceiling_line(cell: Cell, page: Page) -> CardLine:
    name = "Temperature ceiling"
    result = page.result(Guidelines)
    if result is None:
        return _missing(name, "the study does not ask for the analysis guidelines")
    ceilings = [
        settle(own, page)
        for own in result.ceilings
        if own.metric == result.metric and has_headline(own) and _is_same(own.cell, cell)
    ]
    if not ceilings:
        return _missing(name, "one temperature alone was tried")
    ceiling = ceilings[0]
    margin = next(margin for margin in result.margins if margin.metric == ceiling.metric)
    n = count_questions(ceiling.ceiling.n)
    if ceiling.ceiling.value is None:
        is_lost = (ceiling.ceiling.reason or "").startswith(NOTHING_TO_LOSE)
        why = ceiling_sentence(ceiling, margin, page).rstrip(".")
        return CardLine(name=name, number="none", detail=why, look="nothing to lose" if is_lost else "not shown")
    sided = " (one-sided bound)" if ceiling.is_bound else " (by point values)"
    detail = f"{ceiling_sentence(ceiling, margin, page).rstrip('.')}{sided}; {n}"
    if not is_shown_safe(ceiling, margin, page):
        return CardLine(name=name, number="", detail=detail, look="not shown")
    return CardLine(name=name, number=f"≤ {format_value(ceiling.ceiling)}", detail=detail)


# --- the worst ------------------------------------------------------------------------------------


def _evidence_line(cell: Cell, page: Page) -> CardLine:
    name = "Worst evidence"
    losses = [own for own in _losses(page) if _is_same(own.cell, cell) and own.cell.variation in (None, ORIGINAL)]
    if not losses and (undone := _without_verdict(cell, page)):
        return _missing(name, undone[0])
    if not losses:
        return _missing(name, "no evidence was disturbed, or the study does not ask for the analysis degradation")
    shown = [own for own in losses if page.is_shown("evidence", own.cell, own.metric) and (own.drop.value or 0) > 0]
    worst = max(shown or losses, key=lambda own: own.drop.value or 0.0)
    claim = page.claim("evidence", worst.cell, worst.metric)
    is_lost = has_nothing_to_lose(worst.cell, page.findings, worst.metric)
    return _loss_line(
        name,
        name_part(worst.cell.perturbation or ""),
        worst.drop,
        worst.metric,
        f"{word_for(worst.metric)} {_at(worst.cell)}, against unchanged evidence at the same temperature, the "
        f"largest of {len(losses)} differences",
        "nothing to lose" if is_lost else "shown" if shown else "not shown",
        describe_unshown(claim),
    )


def _losses(page: Page) -> list[Loss | EvidenceDrop]:
    """What disturbances cost by the number that is spoken of, of all questions together."""
    degradation, correctness = page.result(Degradation), page.result(Correctness)
    drops = [] if correctness is None else [drop for drop in correctness.evidence_drops if not drop.is_as_asked]
    every: Sequence[Loss | EvidenceDrop] = drops if degradation is None else degradation.losses
    metric = correctness.metric if degradation is None and correctness else degradation.metric if degradation else None
    return [
        own
        for own in every
        if own.metric == metric
        and own.cell.group is None
        and own.drop.value is not None
        and not own.cell.is_undisturbed
    ]


def _wording_line(cell: Cell, page: Page) -> CardLine:
    name = "Worst wording"
    result = page.result(WordingAccuracy)
    if result is None:
        asked = "the study does not ask for the analysis wording_accuracy"
        return _missing(name, asked if "variation" in page.labels.differing else "no question was asked in other words")
    losses = [own for own in result.losses if _is_same(own.cell, cell) and own.estimate.value is not None]
    if not losses:
        return _missing(name, "no question was asked in another wording")
    shown = [own for own in losses if page.is_shown("wording", own.cell, own.metric) and (own.estimate.value or 0) > 0]
    worst = max(shown or losses, key=lambda own: own.estimate.value or 0.0)
    is_lost = has_nothing_to_lose(worst.cell, page.findings, worst.metric)
    several = f", the largest of {len(losses)} differences" if len(losses) > 1 else ""
    return _loss_line(
        name,
        name_part(worst.cell.variation or ""),
        worst.among or worst.estimate,
        worst.metric,
        f"{word_for(worst.metric)} {_where(replace(worst.cell, variation=None))}".rstrip() + several,
        "nothing to lose" if is_lost else "shown" if shown else "not shown",
        describe_unshown(page.claim("wording", worst.cell, worst.metric)),
    )


def _loss_line(name: str, cause: str, loss: Estimate, metric: str, of: str, look: Look, behind: str) -> CardLine:
    lost = f"Lost to {cause}: {of}" if look == "shown" else f"{sentence_case(cause)}: {of}"
    unshown = f"; {behind}" if look == "not shown" else ""
    return CardLine(
        name=name,
        number=f"{name_direction(loss, metric)} of {format_amount(without_sign(loss))}",
        interval=format_interval(without_sign(loss)),
        detail=f"{lost}; {count_questions(loss.n)}{unshown}",
        look=look,
    )


# --- where ----------------------------------------------------------------------------------------


def _at(cell: Cell) -> str:
    return "" if cell.temperature is None else f"at temperature {cell.temperature:g}"


def _where(cell: Cell) -> str:
    """The condition in words: wording and evidence where they are not the original, and the temperature."""
    parts = [
        "" if cell.variation in (None, ORIGINAL) else f"wording {name_part(cell.variation)}",
        "" if cell.is_undisturbed else f"evidence {name_part(cell.perturbation or '')}",
        _at(cell),
    ]
    return ", ".join(part for part in parts if part)
