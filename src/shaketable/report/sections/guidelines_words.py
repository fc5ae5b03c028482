"""The sentences of guidelines, made by rule; none says more than its interval allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shaketable.analyses.claims import TOO_FEW, Claim, reason_of_floor
from shaketable.analyses.evidence.choices import Choice, Noise
from shaketable.analyses.evidence.guidelines import SomeCeiling
from shaketable.analyses.evidence.heat_ceilings import Ceiling
from shaketable.analyses.evidence.margins import Margin
from shaketable.analyses.evidence.onsets import Onset
from shaketable.analyses.floors import N_LEAST, nothing_to_lose_at
from shaketable.factors import ORIGINAL, UNCHANGED, Cell, word_for
from shaketable.report.claim_words import describe_unshown
from shaketable.report.section import Page
from shaketable.report.words import (
    count_questions,
    describe_repeats,
    format_difference,
    format_level,
    format_loss,
    format_margin,
    format_number,
    join_temperatures,
    join_words,
    name_part,
    name_questions,
    name_wording,
    negate,
    sentence_case,
)
from shaketable.statistics.ceilings import n_that_lose_nothing

# --- how hot --------------------------------------------------------------------------------------


def settle(ceiling: SomeCeiling, page: Page) -> SomeCeiling:
    """The same, without a ceiling where the baseline is not above chance level: never being right is not robustness."""
    floor = nothing_to_lose_at(ceiling.cell, page.findings, ceiling.metric, is_of_evidence=False)
    if floor is None or not ceiling.is_applied:
        return ceiling
    return replace(ceiling, ceiling=replace(ceiling.ceiling, value=None, reason=reason_of_floor(floor)), by_means=None)


def ceiling_sentence(ceiling: Ceiling, margin: Margin, page: Page) -> str:
    system, word = page.name(ceiling.cell), word_for(ceiling.metric)
    if not ceiling.is_applied:
        return f"{system} does not apply the temperature, so there is no highest safe temperature to report."
    value, by_values = ceiling.ceiling.value, "" if ceiling.is_bound else " by point values"
    if value is None:
        return f"{system} has no highest safe temperature: {ceiling.ceiling.reason}."
    least, where = format_margin(margin.value, margin.unit), _where(ceiling)
    if ceiling.next_loss is None:
        return (
            f"Every temperature up to {ceiling.hottest:g} is safe for {system}: {word} drops by less than "
            f"{least}{by_values}."
        )
    measured = f"Measured at {ceiling.next_temperature:g}{where}: {format_loss(ceiling.next_loss, ceiling.metric)}"
    if not ceiling.is_bound or _is_loss_shown(ceiling, margin, page):
        keep = f"Keep {system} at {'or below ' if value > ceiling.coolest else ''}{value:g}"
        beyond = f"at {ceiling.next_temperature:g}, {word} drops by more than {least}{by_values}{where}"
        return f"{keep}: {beyond}."
    if value > ceiling.coolest:
        return f"Temperatures up to {value:g} are safe for {system}: {word} drops by less than {least}. {measured}."
    return (
        f"Temperature: inconclusive for {system}. No temperature above {value:g} is confirmed to keep the drop in "
        f"{word} under {least}. {measured}."
    )


def needs_words(ceiling: Ceiling, n_smallest: int, margin: Margin, page: Page) -> str:
    """How many questions of each type a ceiling takes, where the smallest type has fewer; empty: there are enough.

    A drop that is confirmed needs no more of them.
    """
    n = n_needed_for_ceiling(margin, page) or N_LEAST
    is_open = ceiling.is_applied and ceiling.is_bound and ceiling.ceiling.reason in (None, TOO_FEW)
    if not is_open or is_shown_safe(ceiling, margin, page) or n_smallest >= n:
        return ""
    of_type = " of each type" if ceiling.worst.group is not None else ""
    return f"A highest safe temperature needs at least {name_questions(n)}{of_type}; this run has {n_smallest}."


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


def _where(ceiling: Ceiling) -> str:
    """` on bridge questions with sentence removal`; empty: on all questions, where nothing but temperature varies."""
    names = [ceiling.worst.perturbation if ceiling.worst.perturbation != UNCHANGED else None]
    if ceiling.cell.variation is None and ceiling.worst.variation != ORIGINAL:
        names.append(ceiling.worst.variation)
    group = f" on {ceiling.worst.group} questions" if ceiling.worst.group else ""
    return group + (f" with {join_words([name_wording(name) for name in names if name])}" if any(names) else "")


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
        sentences.append(f"By the means alone it would be {ceiling.by_means:g}.")
    if cool is not None and hot is not None and cool.value is not None and hot.value is not None:
        baseline = ceiling.baseline_cv
        has_repeats = baseline is not None and baseline.value is not None
        steady = f". {sentence_case(describe_repeats(baseline))}" if baseline is not None and has_repeats else ""
        ends = f"{format_level(cool)} at {ceiling.coolest:g}"
        if ceiling.hottest > ceiling.coolest:
            ends += f", {format_level(hot)} at {ceiling.hottest:g}"
        level = f"{word_for(ceiling.metric)}{_with_unchanged(ceiling.worst)}: {ends}"
        floor = page.floor(ceiling.worst, ceiling.metric)
        if floor is not None:
            level += f", where answers to other questions score {format_number(floor, cool.unit)}"
        sentences.append(f"{sentence_case(level)} ({count_questions(estimate.n)}){steady}.")
    return " ".join(sentences)


def onset_sentence(onset: Onset, page: Page) -> str:
    """`The correctness of smollm2 drops from about temperature 0.6 on: by 4 points [3, 5] per 0.1.`"""
    subject = f"The {word_for(onset.metric)} of {page.name(onset.cell)}"
    begins = "from the first step" if onset.is_first else f"from about temperature {format_level(onset.onset)} on"
    slope = onset.slope
    low, high = ((end and end / 10) for end in (slope.low, slope.high))
    tenth = replace(slope, value=(slope.value or 0.0) / 10, low=low, high=high)
    return f"{subject} drops {begins}: by {format_difference(negate(tenth))} per 0.1 of temperature."


def name_sample(onset: Onset) -> str:
    return f"Measured on {name_questions(onset.onset.n)}{_with_unchanged(onset.cell)}."


def _with_unchanged(cell: Cell) -> str:
    """Nothing where a system is given no evidence."""
    searches = cell.system is not None and cell.system.retriever is not None
    return " with unchanged evidence" if cell.perturbation is not None or searches else ""


def describe_ceilings(margin: Margin, page: Page) -> str:
    confidence = page.bootstrap.confidence
    bound = (
        f"A ceiling lies above the true one in at most {100 * (1 - confidence):.3g} % of such studies: up to it every "
        "case (evidence and type of question) is shown to lose less than the margin"
    )
    n = n_needed_for_ceiling(margin, page)
    return f"{bound}." if n is None else f"{bound}, which takes at least {n} questions of each type that lose nothing."


def n_needed_for_ceiling(margin: Margin, page: Page) -> int | None:
    """Questions of a type without which no ceiling above the coolest temperature can be shown; None: it hangs on their
    scores."""
    if margin.unit != "share" or not 0 < margin.value < 1:
        return None
    return n_that_lose_nothing(margin.value, 1 - page.bootstrap.confidence)


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
    measured = f"Measured on {name_questions(choice.lead.n)}{_with_unchanged(choice.cell)}"
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
