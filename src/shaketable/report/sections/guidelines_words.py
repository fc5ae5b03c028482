"""The sentences of guidelines, made by rule; none says more than its interval allows."""

from __future__ import annotations

from collections.abc import Sequence

from shaketable.analyses.evidence.choices import Choice, Noise
from shaketable.analyses.evidence.heat_ceilings import Ceiling
from shaketable.analyses.evidence.margins import Margin
from shaketable.analyses.evidence.onsets import Onset
from shaketable.factors import word_for
from shaketable.report.claim_words import describe_unshown
from shaketable.report.section import Page
from shaketable.report.words import (
    count_questions,
    format_cost,
    format_difference,
    format_level,
    format_margin,
    join_temperatures,
    name_part,
    name_questions,
    negate,
)
from shaketable.types import Unit

# --- how hot --------------------------------------------------------------------------------------


def ceiling_sentence(ceiling: Ceiling, margin: Margin, page: Page) -> str:
    system = page.name(ceiling.cell)
    if not ceiling.is_applied:
        return f"{system} does not apply the temperature: it has no ceiling, and its flat line is no robustness."
    loss = f"{_format_amount(margin.value, margin.unit)} {word_for(ceiling.metric)}"
    worst = _with_the_worst(ceiling)
    value, beyond = ceiling.ceiling.value or 0.0, ceiling.next_loss
    if beyond is None:
        held = "no more than" if ceiling.ceiling.low is not None else "by its point values no more than"
        return f"{system} may run as hot as was tried ({ceiling.hottest:g}): it loses {held} {loss}{worst}."
    keep = f"Keep {system} at {'or below ' if value > ceiling.coolest else ''}{value:g}"
    if beyond.low is None:
        return f"{keep}: at {ceiling.next_temperature:g}, answers lose by point values more than {loss}{worst}."
    if beyond.low > margin.value:
        return f"{keep}: at {ceiling.next_temperature:g}, answers lose more than {loss}{worst}."
    return f"{keep}: at {ceiling.next_temperature:g}, a loss of more than {loss} cannot be ruled out{worst}."


def name_worst(ceiling: Ceiling) -> list[str]:
    """What the pair that decides is of: evidence, wording where several were asked, type of question."""
    worst = ceiling.worst
    wording = worst.variation if ceiling.cell.variation is None else None
    return [
        *(name_part(part) for part in (worst.perturbation, wording) if part),
        *([worst.group] if worst.group else []),
    ]


def _with_the_worst(ceiling: Ceiling) -> str:
    """` with the worst evidence (sentence removal, comparison)`."""
    has_wording, has_evidence = ceiling.cell.variation is None, ceiling.worst.perturbation is not None
    what = "evidence and wording" if has_wording and has_evidence else "wording" if has_wording else "evidence"
    names = name_worst(ceiling)
    return f" with the worst {what} ({', '.join(names)})" if names else ""


def ceiling_detail(ceiling: Ceiling) -> str:
    """Ceiling with its interval, mean scores at both ends, stability baseline."""
    sentences = []
    estimate, cool, hot = ceiling.ceiling, ceiling.cool, ceiling.hot
    if estimate.value is not None and estimate.low is not None:
        sentences.append(f"The ceiling is {format_level(estimate)}.")
        if ceiling.by_means is not None and ceiling.by_means > estimate.value:
            sentences.append(f"By the means alone it would be {ceiling.by_means:g}; more questions can tell.")
    if cool is not None and hot is not None and cool.value is not None and hot.value is not None:
        baseline = ceiling.baseline_cv
        steady = "" if baseline is None else f"; its stability baseline is {format_level(baseline)}"
        sentences.append(
            f"With undisturbed evidence its {word_for(ceiling.metric)} is {format_level(cool)} at {ceiling.coolest:g}, "
            f"{format_level(hot)} at {ceiling.hottest:g}{steady} ({count_questions(estimate.n)})."
        )
    return " ".join(sentences)


def onset_sentence(onset: Onset, page: Page) -> str:
    system, metric = page.name(onset.cell), word_for(onset.metric)
    at = f"{format_level(onset.onset)}{' or before' if onset.is_first else ''}"
    loss = format_difference(negate(onset.slope))
    return f"The {metric} of {system} begins to fall at about temperature {at}, by {loss} per unit of temperature."


def name_sample(n: int) -> str:
    return f"Measured on {name_questions(n)} with undisturbed evidence."


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
    cause, cost = name_part(largest.cell.perturbation or ""), format_cost(largest.cost, largest.metric)
    return (
        f"The largest difference is that of {cause} at temperature {largest.cell.temperature:g}: {cost} "
        f"({count_questions(largest.cost.n)}){behind}."
    )


def _format_amount(value: float, unit: Unit) -> str:
    """`5 points of` or `0.01`."""
    return f"{format_margin(value, unit)}{' of' if unit == 'share' else ''}"
