"""The sentences of guidelines, made by rule; none says more than its interval allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, log

from shaketable.analyses.claims import NOTHING_TO_LOSE, Claim
from shaketable.analyses.evidence.choices import Choice, Noise
from shaketable.analyses.evidence.guidelines import SomeCeiling
from shaketable.analyses.evidence.heat_ceilings import Ceiling
from shaketable.analyses.evidence.margins import Margin
from shaketable.analyses.evidence.onsets import Onset
from shaketable.analyses.floors import has_nothing_to_lose
from shaketable.factors import Cell, word_for
from shaketable.report.claim_words import describe_unshown
from shaketable.report.section import Page
from shaketable.report.words import (
    count_questions,
    format_difference,
    format_level,
    format_loss,
    format_margin,
    join_temperatures,
    name_part,
    name_questions,
    name_wording,
    negate,
)
from shaketable.types import Unit

# --- how hot --------------------------------------------------------------------------------------


def settle(ceiling: SomeCeiling, page: Page) -> SomeCeiling:
    """The same, without a ceiling where there is nothing to lose: never being right is not being robust."""
    is_lost = has_nothing_to_lose(ceiling.cell, page.findings, ceiling.metric, is_of_evidence=False)
    if not is_lost or not ceiling.is_applied:
        return ceiling
    return replace(ceiling, ceiling=replace(ceiling.ceiling, value=None, reason=NOTHING_TO_LOSE), by_means=None)


def ceiling_sentence(ceiling: Ceiling, margin: Margin, page: Page) -> str:
    system = page.name(ceiling.cell)
    if not ceiling.is_applied:
        return f"{system} does not apply the temperature: it has no ceiling, and its flat line is no robustness."
    loss = f"{_format_amount(margin.value, margin.unit)} {word_for(ceiling.metric)}"
    value, by_values = ceiling.ceiling.value, "" if ceiling.is_bound else "by point values "
    if value is None:
        return f"{system} has no ceiling: {ceiling.ceiling.reason}."
    if ceiling.next_loss is None:
        lost = f"it loses {by_values}no more than {loss}{_with_the_worst(ceiling)}"
        return f"{system} may run at every temperature tried, up to {ceiling.hottest:g}: {lost}."
    beyond, worst = f"at {ceiling.next_temperature:g}", _with_the_worst(ceiling)
    if ceiling.is_bound and not _is_loss_shown(ceiling, margin, page):
        beyond += f" a loss of more than {loss} cannot be ruled out{worst}"
        if value > ceiling.coolest:
            return f"{system} is shown to lose no more than {loss} up to {value:g}; {beyond}."
        return f"{system} is not shown to bear any temperature above {value:g}: {beyond}."
    keep = f"Keep {system} at {'or below ' if value > ceiling.coolest else ''}{value:g}"
    return f"{keep}: {beyond}, answers lose {by_values}more than {loss}{worst}."


def _is_loss_shown(ceiling: Ceiling, margin: Margin, page: Page) -> bool:
    """A loss is told as one only where what heat costs is shown among all claims of the study."""
    low = None if ceiling.next_loss is None else ceiling.next_loss.low
    return low is not None and low > margin.value and is_heat_shown(ceiling.worst, ceiling.metric, page)


def is_heat_shown(cell: Cell, metric: str, page: Page) -> bool:
    return heat_claim(cell, metric, page) is not None


def heat_claim(cell: Cell, metric: str, page: Page) -> Claim | None:
    """That the hottest temperature costs something, with undisturbed evidence and all types together; None: it is not
    shown."""
    shown = (
        claim
        for claim in page.claims.shown
        if (claim.subject.kind, claim.subject.metric) == ("heat", metric)
        if (of := claim.subject.cell).system == cell.system
        and (of.dataset, of.variation) == (cell.dataset, cell.variation)
    )
    return next((claim for claim in shown if (claim.estimate.value or 0.0) > 0), None)


def name_worst(ceiling: Ceiling) -> list[str]:
    """What the pair that decides is of: evidence, wording where several were asked, type of question."""
    worst = ceiling.worst
    wording = worst.variation if ceiling.cell.variation is None else None
    return [
        *(name_wording(part) for part in (worst.perturbation, wording) if part),
        *([worst.group] if worst.group else []),
    ]


def _with_the_worst(ceiling: Ceiling) -> str:
    """` with the worst evidence (sentence removal, comparison)`."""
    has_wording, has_evidence = ceiling.cell.variation is None, ceiling.worst.perturbation is not None
    what = "evidence and wording" if has_wording and has_evidence else "wording" if has_wording else "evidence"
    names = name_worst(ceiling)
    return f" with the worst {what} ({', '.join(names)})" if names else ""


def is_shown_safe(ceiling: Ceiling, margin: Margin, page: Page) -> bool:
    """Whether its number says something: the coolest temperature is allowed also where nothing is shown."""
    value = ceiling.ceiling.value
    return value is not None and (
        value > ceiling.coolest or not ceiling.is_bound or _is_loss_shown(ceiling, margin, page)
    )


def ceiling_detail(ceiling: Ceiling, margin: Margin, page: Page) -> str:
    """What the means say, mean scores at both ends, stability baseline."""
    sentences = []
    estimate, cool, hot = ceiling.ceiling, ceiling.cool, ceiling.hot
    if estimate.value is not None and ceiling.by_means is not None and ceiling.by_means > estimate.value:
        n = _n_that_lose_nothing(margin, page)
        least = "" if n is None else f", at least {n} of each type that lose nothing,"
        sentences.append(f"By the means alone it would be {ceiling.by_means:g}; more questions{least} can tell.")
    if cool is not None and hot is not None and cool.value is not None and hot.value is not None:
        baseline = ceiling.baseline_cv
        steady = (
            f"; repeated answers to a question vary by {format_level(baseline)} of their mean (the stability baseline)"
            if baseline is not None
            else ""
        )
        ends = f"{format_level(cool)} at {ceiling.coolest:g}"
        if ceiling.hottest > ceiling.coolest:
            ends += f", {format_level(hot)} at {ceiling.hottest:g}"
        sample = count_questions(estimate.n)
        sentences.append(f"With undisturbed evidence its {word_for(ceiling.metric)} is {ends}{steady} ({sample}).")
    return " ".join(sentences)


def onset_sentence(onset: Onset, page: Page) -> str:
    system, metric = page.name(onset.cell), word_for(onset.metric)
    at, loss = format_level(onset.onset), format_difference(negate(onset.slope))
    begins = (
        f"falls from temperature {at} on, or from a lower one"
        if onset.is_first
        else f"begins to fall at about temperature {at}"
    )
    return f"The {metric} of {system} {begins}, by {loss} per unit of temperature."


def name_sample(n: int) -> str:
    return f"Measured on {name_questions(n)} with undisturbed evidence."


def describe_ceilings(margin: Margin, page: Page) -> str:
    confidence = page.bootstrap.confidence
    bound = (
        f"A ceiling lies above the true one in at most {100 * (1 - confidence):.3g} % of such studies: up to it every "
        "pair of evidence and type of question is shown to lose less than the margin"
    )
    n = _n_that_lose_nothing(margin, page)
    return f"{bound}." if n is None else f"{bound}, which takes at least {n} questions of each type that lose nothing."


def _n_that_lose_nothing(margin: Margin, page: Page) -> int | None:
    """Questions of a type without which no ceiling above the coolest temperature can be shown; None: it hangs on their
    scores."""
    if margin.unit != "share" or not 0 < margin.value < 1:
        return None
    return ceil(log(1 - page.bootstrap.confidence) / log(1 - margin.value))


# --- which disturbance, which model ---------------------------------------------------------------


def choice_sentence(choice: Choice, page: Page) -> str:
    system, other = page.name(choice.cell), page.name(choice.other)
    where, metric, lead = (
        f"At temperature {choice.cell.temperature:g}",
        word_for(choice.metric),
        format_difference(choice.lead),
    )
    if page.is_shown("choice", choice.cell, choice.metric, other=choice.name_other()):
        return f"{where} {system} has the best {metric}, {lead} above {other}, the next."
    return f"{where} no system is shown to be the best: {system} and {other} lead in {metric}, {lead} apart."


def choice_detail(choice: Choice, page: Page) -> str:
    claim = page.claim("choice", choice.cell, choice.metric, other=choice.name_other())
    measured = f"Measured on {name_questions(choice.lead.n)} with undisturbed evidence"
    return f"{measured}." if claim is not None and claim.is_shown else f"{measured}; {describe_unshown(claim)}."


def noise_sentence(line: Sequence[Noise], page: Page) -> str:
    """`Evidence that hurts smollm2: sentence removal at every temperature tried; masking at temperature 0.`"""
    tried = sorted({noise.cell.temperature or 0.0 for noise in line})
    shown = [noise for noise in line if page.is_shown("evidence", noise.cell, noise.metric)]
    system, sentences = page.name(line[0].cell), []
    for verb, sign in (("hurts", 1), ("helps", -1)):
        at: dict[str, list[float]] = {}
        for noise in shown:
            if sign * (noise.cost.value or 0.0) > 0:
                at.setdefault(noise.cell.perturbation or "", []).append(noise.cell.temperature or 0.0)
        causes = [f"{name_part(name)} {join_temperatures(some, tried)}" for name, some in at.items()]
        sentences += [f"Evidence that {verb} {system}: {'; '.join(causes)}."] if causes else []
    return " ".join(sentences) or f"No disturbance is shown to hurt {system} at any temperature."


def noise_detail(largest: Noise, page: Page) -> str:
    claim = page.claim("evidence", largest.cell, largest.metric)
    behind = "" if claim is not None and claim.is_shown else f"; {describe_unshown(claim)}"
    cause, cost = name_part(largest.cell.perturbation or ""), format_loss(largest.cost, largest.metric)
    return (
        f"The largest difference is that of {cause} at temperature {largest.cell.temperature:g}: {cost} "
        f"({count_questions(largest.cost.n)}){behind}."
    )


def _format_amount(value: float, unit: Unit) -> str:
    """`5 points of` or `0.01`."""
    return f"{format_margin(value, unit)}{' of' if unit == 'share' else ''}"
