"""The sentences of correctness; none says more than its interval allows."""

from __future__ import annotations

from shaketable.analyses.claims import Claim
from shaketable.analyses.evidence.correctness import EvidenceDrop, HeatDrop, Level
from shaketable.factors import judges, measure_of, word_for
from shaketable.report.claim_words import describe_not_shown
from shaketable.report.section import Page
from shaketable.report.words import (
    count_questions,
    format_amount,
    format_interval,
    format_level,
    format_loss,
    format_number,
    name_part,
    name_questions,
    sentence_case,
    without_sign,
)
from shaketable.types import Estimate


def heat_sentence(heat: HeatDrop, system: str, claim: Claim | None) -> str:
    cause = f"Raising the temperature from {heat.coolest:g} to {heat.cell.temperature:g}"
    if claim is None or not claim.is_shown:
        return f"{cause}: {_nothing_shown(heat.metric, system)} ({describe_not_shown(claim)})."
    return f"{_describe_effect(cause, system, heat.drop, heat.metric)}."


def evidence_sentence(drop: EvidenceDrop, system: str, claim: Claim | None) -> str:
    cause, where = name_part(drop.cell.perturbation or ""), f"at temperature {drop.cell.temperature:g}"
    if claim is None or not claim.is_shown:
        nothing = f"{_nothing_shown(drop.metric, system)} {where}"
        return f"{sentence_case(cause)}: {nothing} ({describe_not_shown(claim)})."
    return f"{sentence_case(_describe_effect(cause, system, drop.drop, drop.metric))} {where}."


def describe_when_hot(drop: EvidenceDrop, hot: EvidenceDrop | None, clean: Level | None, claim: Claim | None) -> str:
    """`clean`: what the system reaches there with unchanged evidence."""
    if hot is None:
        return f"Measured on {name_questions(drop.drop.n)}."
    where, n = f"At temperature {hot.cell.temperature:g}", count_questions(drop.drop.n)
    if clean is not None and clean.mean.value == 0 and _tells_correct_answers(clean.metric):
        level = format_level(clean.mean)
        return f"{where} the baseline itself is at {level}, so this perturbation cannot be measured there ({n})."
    if claim is None or not claim.is_shown:
        return f"{where} a difference is not shown ({format_loss(hot.drop, hot.metric)}; {n})."
    return f"{where} it is {format_loss(hot.drop, hot.metric)} ({n})."


def _nothing_shown(metric: str, system: str) -> str:
    return f"an effect on the {word_for(metric)} of {system} is not shown"


def describe_as_asked(drop: EvidenceDrop | None) -> str:
    """What stays without the questions whose evidence carries a flag."""
    if drop is None:
        return ""
    return f" Where it was done as asked it is {format_loss(drop.drop, drop.metric)} ({count_questions(drop.drop.n)})."


def describe_floor(metric: str, level: Estimate, loss: Estimate | None, floor: float | None) -> str:
    """` Answers to other questions score 0.491, so 0.237 of the 0.241 above this floor are lost.`, or nothing."""
    if floor is None or level.value is None:
        return ""
    text = f" Answers to other questions score {format_number(floor, level.unit)}"
    room = level.value - floor
    if loss is None or loss.value is None or loss.value <= 0 or room <= 0:
        return f"{text}: the floor of {word_for(metric)}."
    lost, of_all = (format_number(number, level.unit) for number in (loss.value, room))
    return f"{text}, so {lost} of the {of_all} above this floor is lost."


def name_subject(level: Level, page: Page) -> str:
    perturbation = level.cell.perturbation
    evidence = f" with {name_part(perturbation)} evidence" if perturbation else ""
    return f"{page.name(level.cell)}{evidence}"


def _tells_correct_answers(metric: str) -> bool:
    """Whether a number is what people call correctness, and not one of the stricter measures of it."""
    return judges(metric) and bool(measure_of(metric).words)


def describe_level(level: Level) -> str:
    value = f"{format_level(level.mean)} at temperature {level.cell.temperature:g}"
    if _tells_correct_answers(level.metric):
        return f"is correct in {value}"
    return f"has a mean {level.metric} of {value}"


def _describe_effect(cause: str, system: str, drop: Estimate, metric: str) -> str:
    """`Cause costs smollm2 19 points of correctness [8, 30]`, in neutral words for other metrics."""
    is_loss = (drop.value or 0.0) > 0
    size = without_sign(drop)
    interval = f" {format_interval(size)}".rstrip()
    if _tells_correct_answers(metric):
        words = measure_of(metric).words
        return f"{cause} {'costs' if is_loss else 'gains'} {system} {format_amount(size)} of {words}{interval}"
    return f"{cause} {'lowers' if is_loss else 'raises'} the {metric} of {system} by {format_amount(size)}{interval}"
