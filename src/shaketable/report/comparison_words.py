"""What is said of two systems beside each other: nothing that the interval does not show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from shaketable.analyses.changes import Change
from shaketable.analyses.compared import Compared, Comparisons
from shaketable.analyses.comparing import Comparison
from shaketable.analyses.efforts import LEAST_EFFORT, Effort, Measured
from shaketable.analyses.pairs import Unpaired, Why
from shaketable.factors import Cell, measure_of, word_for
from shaketable.report.claim_words import N_MOST, WHATEVER_FAILED, describe_unshown, rounded
from shaketable.report.words import (
    count,
    count_questions,
    format_amount,
    format_apart,
    format_interval,
    format_level,
    format_margin,
    format_p,
    format_value,
    name_evidence,
    name_wording,
    sentence_case,
    without_sign,
)

EFFORTS: dict[Measured, str] = {
    "dollars": "USD",
    "seconds": "seconds",
    "n_generations": "calls",
    "n_searches": "searches",
    "n_prompt_tokens": "tokens read",
    "n_tokens": "tokens written",
}
"""Of one answer."""
SPREAD = "if questions differ as widely as this interval allows"
"""What the number of questions that would be needed assumes."""
WHY: dict[Why, str] = {
    "question": "{n} of {side}: the other side was not asked these questions",
    "condition": "{n} of {side}: the other side was not asked under these conditions",
    "not asked": "{n} that {side} was not asked yet",
    "no score": "{n} that have no score with {side}: no answer, or none that the metric can score",
    "left out": "{n} that the study leaves out with {side}, because their evidence could not be changed as asked",
    "text": "{n} whose question has the same id on both sides, but another text or other accepted answers",
}


def describe_comparison(compared: Compared, told: Comparisons) -> list[str]:
    """The verdict first, then where it differs, the worst case, flips and what is missing."""
    comparison = compared.comparison
    sentences = [describe_verdict(compared, told), *_levels(compared, told)]
    if comparison.worst_case is not None:
        sentences.append(describe_worst(compared, told))
    if comparison.flips is not None:
        sentences.append(describe_flips(compared))
    return [*sentences, *describe_unpaired(compared)]


def describe_verdict(compared: Compared, told: Comparisons) -> str:
    """`long is better than short: 12 points [4, 20] of correctness more`, or that nothing is shown and what would be
    needed."""
    return ": ".join(verdict_and_evidence(compared, told))


def verdict_and_evidence(compared: Compared, told: Comparisons) -> tuple[str, str]:
    comparison = compared.comparison
    overall, what = comparison.overall, word_for(comparison.metric)
    sample = f"{_levels_of(compared, overall)}, {count_questions(overall.difference.n)}"
    failed = _describe_failed(overall)
    if told.is_shown(compared, overall):
        verdict, size = _verdict_and_size(compared, overall)
        return verdict, f"{size} ({sample}).{failed}"
    is_apart = overall.difference.value != 0
    difference = f"{compared.second.name} is {format_change(overall)}" if is_apart else format_change(overall)
    if told.is_equivalent(compared):
        margin = format_margin(comparison.margin.value, comparison.margin.unit)
        verdict = f"{compared.second.name} is as good as {compared.first.name} within {margin} of {what}"
        return verdict, f"{difference} ({sample}).{failed}"
    verdict = f"No difference in {what} is shown between {compared.first.name} and {compared.second.name}"
    return verdict, f"{difference} ({sample}). {describe_power(compared, told)}{failed}"


def describe_power(compared: Compared, told: Comparisons) -> str:
    """How many questions would decide what is not shown."""
    claim, power = told.claim(compared, compared.comparison.overall), compared.power
    if claim is None or claim.detectable is None or power is None:
        return f"{sentence_case(describe_unshown(claim))}."
    effect = format_margin(power.effect, compared.comparison.margin.unit)
    needed = f"more than {N_MOST:,}" if power.n_needed > N_MOST else f"about {rounded(power.n_needed):,}"
    sentence = f"To see a difference of {effect} it would need {needed} questions, {SPREAD}."
    if power.n_needed <= power.n:
        sentence = f"A difference of {effect} would likely have been seen."
    return f"{sentence} {sentence_case(claim.reason)}." if claim.reason else sentence


def describe_needed(compared: Compared, told: Comparisons) -> str:
    """How many more questions would decide the difference overall."""
    if told.is_shown(compared, compared.comparison.overall):
        return "The difference over all questions is shown; it takes no more questions."
    if told.is_equivalent(compared):
        return "That the difference over all questions is too small to matter is shown; it takes no more questions."
    power = compared.power
    more = 0 if power is None else power.n_needed - power.n
    if more <= 0 or more > N_MOST:
        return describe_power(compared, told)
    return f"{describe_power(compared, told)} That is about {rounded(more):,} more."


def describe_effort(effort: Effort, compared: Compared) -> str:
    """`An answer of long takes more tokens written than one of short: 12.0 [9.00, 15.0] (short 18.0, long 30.0).`"""
    claim, levels = effort_and_levels(effort, compared)
    return f"{claim}: {format_effort(effort)} ({levels})."


def format_effort(effort: Effort) -> str:
    """`12.0 more [9.00, 15.0]`, that it is the same, or a difference that is too small or too unsure for a word."""
    if effort.change.is_same:
        return "the same for every question"
    if not effort.is_claimed:
        return " ".join(filter(None, (_signed(effort.change), format_interval(effort.change.difference))))
    return format_change(effort.change, is_effort=True)


def _signed(change: Change) -> str:
    sign = "−" if (change.difference.value or 0.0) < 0 else ""
    return f"{sign}{show(change)[2]}"


def show(change: Change) -> tuple[str, str, str]:
    """Both levels and how far they are apart, whatever the sign, in numbers that add up."""
    first, second, difference = change.first, change.second, change.difference
    if first.value is None or second.value is None or difference.value is None:
        return format_value(first), format_value(second), format_amount(without_sign(difference))
    one, other, apart = format_apart(first.value, second.value, difference.unit)
    level, between = (" %", " points") if difference.unit == "share" else ("", "")
    return f"{one}{level}", f"{other}{level}", f"{apart}{between}"


def format_change(change: Change, *, is_effort: bool = False) -> str:
    """`11 points better [−6, 26]`: what the second is beside the first; the interval goes the way the word says."""
    amount = amount_and_interval(change, is_effort=is_effort)
    return " ".join(filter(None, amount))


def amount_and_interval(change: Change, *, is_effort: bool = False) -> tuple[str, str]:
    """`11 points better` and `[−6, 26]`."""
    difference = change.difference
    if difference.value is None:
        return format_amount(difference), ""
    is_higher_better = None if is_effort else measure_of(change.metric).higher_is_better
    more, less = {True: ("better", "worse"), False: ("worse", "better"), None: ("more", "less")}[is_higher_better]
    if difference.value == 0:
        return "no difference", format_interval(difference)
    return f"{show(change)[2]} {less if difference.value < 0 else more}", format_interval(without_sign(difference))


def _describe_failed(change: Change) -> str:
    """What the difference could be, whatever the answers that failed would have been; nothing where few failed."""
    if change.worst_low is None or change.worst_high is None:
        return ""
    ends = (
        format_change(replace(change, difference=replace(change.difference, value=end, low=None, high=None)))
        for end in (change.worst_low, change.worst_high)
    )
    return f" {WHATEVER_FAILED} {' and '.join(ends)}."


def effort_and_levels(effort: Effort, compared: Compared) -> tuple[str, str]:
    difference, unit = effort.change.difference, EFFORTS[effort.measured]
    one, other, is_more = compared.first.name, compared.second.name, (difference.value or 0.0) > 0
    if effort.change.is_same:
        claim = f"Answers of {one} and {other} take equally many {unit}"
        if effort.measured in ("dollars", "seconds"):
            claim = f"Answers of {one} and {other} take the same {unit}"
    elif not effort.is_claimed:
        least = f"{100 * LEAST_EFFORT:g} % or more"
        claim = f"No difference of {least} in {unit} is shown between answers of {one} and {other}"
    elif effort.measured == "dollars":
        claim = f"An answer of {other} costs {'more' if is_more else 'less'} than one of {one}"
    else:
        claim = f"An answer of {other} takes {'more' if is_more else 'fewer'} {unit} than one of {one}"
    return claim, _levels_of(compared, effort.change)


def describe_flips(compared: Compared) -> str:
    flips = compared.comparison.flips
    assert flips is not None
    noise = f" Between two runs of the same system {format_level(flips.noise)} flip." if flips.noise else ""
    return (
        f"From {compared.first.name} to {compared.second.name} {format_level(flips.lost)} of the answers turn from "
        f"right to wrong and {format_level(flips.gained)} from wrong to right.{noise}"
    )


def describe_unpaired(compared: Compared) -> Iterator[str]:
    """What could not be compared, and why."""
    sides = {"first": compared.first.name, "second": compared.second.name}
    told = [WHY[own.why].format(n=_count(own), side=sides[own.side]) for own in compared.comparison.unpaired]
    if told:
        yield f"Not compared: {'; '.join(told)}."


def describe_moves(compared: Compared) -> str:
    moves = compared.moves
    n = moves.n_up + moves.n_down + moves.n_both + moves.n_same
    both = f", {moves.n_both:,} both ways" if moves.n_both else ""
    return (
        f"Of {count(n, 'question')} {moves.n_up:,} have more {word_for(compared.comparison.metric)} with "
        f"{compared.second.name}, {moves.n_down:,} less{both}, and {moves.n_same:,} the same."
    )


def name_level(cell: Cell, *, is_condition: bool = False) -> str:
    """`sentence removal`, `temperature 1`; of a condition all of it."""
    parts = [
        name_evidence(cell.perturbation) if cell.perturbation else "",
        f"temperature {cell.temperature:g}" if cell.temperature is not None else "",
        f"{name_wording(cell.variation)} wording" if cell.variation else "",
        f"{cell.group} questions" if cell.group else "",
    ]
    named = [part for part in parts if part]
    return ", ".join([*named, *([cell.dataset] if cell.dataset and (is_condition or not named) else [])])


def name_condition(cell: Cell, comparison: Comparison) -> str:
    """By what differs between the conditions that are compared; empty: there is one."""
    cells = [change.cell for change in comparison.conditions]
    return name_level(
        Cell(
            dataset=cell.dataset if len({own.dataset for own in cells}) > 1 else None,
            variation=cell.variation if len({own.variation for own in cells}) > 1 else None,
            perturbation=cell.perturbation if len({own.perturbation for own in cells}) > 1 else None,
            temperature=cell.temperature if len({own.temperature for own in cells}) > 1 else None,
        ),
        is_condition=True,
    )


def verdict_of(change: Change, compared: Compared, told: Comparisons) -> str:
    """In a table: `better`, `worse`, `other`, `not shown`, or nothing where there is no verdict."""
    claim = told.claim(compared, change)
    if claim is None:
        return ""
    if not claim.is_shown:
        return "○ not shown"
    return {1: "▲ better", -1: "▼ worse", 0: "◆ other"}[_direction(change)]


def format_adjusted(change: Change, compared: Compared, told: Comparisons) -> str:
    claim = told.claim(compared, change)
    return format_p(claim.p_adjusted) if claim is not None else "–"


def _levels(compared: Compared, told: Comparisons) -> Iterator[str]:
    """Those that are shown; the others are counted."""
    levels = compared.comparison.levels
    shown = [change for change in levels if told.is_shown(compared, change)]
    for change in shown:
        yield f"{sentence_case(name_level(change.cell))}: {_better(compared, change)} ({_levels_of(compared, change)})."
    if others := [change for change in levels if change not in shown and change.difference.n]:
        yield f"One by one, no difference is shown for: {_names(others)}."
    if unpaired := [change for change in levels if not change.difference.n]:
        yield f"Without a pair that has a score on both sides: {_names(unpaired)}."


def _names(changes: Sequence[Change]) -> str:
    return ", ".join(name_level(change.cell) for change in changes)


def describe_worst(compared: Compared, told: Comparisons) -> str:
    return ": ".join(worst_and_evidence(compared, told))


def worst_and_evidence(compared: Compared, told: Comparisons) -> tuple[str, str]:
    worst = compared.comparison.worst_case
    assert worst is not None
    start, levels = "In the worst condition of each question", _levels_of(compared, worst)
    if told.is_shown(compared, worst):
        verdict, size = _verdict_and_size(compared, worst)
        return f"{start} {verdict}", f"{size} ({levels})."
    return f"{start} no difference is shown", f"{compared.second.name} is {format_change(worst)} ({levels})."


def _better(compared: Compared, change: Change) -> str:
    """`long is better than short: 12 points [4, 20] of correctness more`."""
    return ": ".join(_verdict_and_size(compared, change))


def _verdict_and_size(compared: Compared, change: Change) -> tuple[str, str]:
    direction, what = _direction(change), word_for(change.metric)
    is_more = (change.difference.value or 0.0) > 0
    size = " ".join(filter(None, (show(change)[2], format_interval(without_sign(change.difference)))))
    of = f"{size}{' of' if change.difference.unit == 'share' else ''} {what} {'more' if is_more else 'less'}"
    verdict = {1: "is better than", -1: "is worse than", 0: "differs from"}[direction]
    return f"{compared.second.name} {verdict} {compared.first.name}", of


def _direction(change: Change) -> int:
    """1: the second is better, -1: it is worse, 0: neither more nor less is better."""
    is_higher_better = measure_of(change.metric).higher_is_better
    if is_higher_better is None:
        return 0
    return 1 if ((change.difference.value or 0.0) > 0) == is_higher_better else -1


def _levels_of(compared: Compared, change: Change) -> str:
    first, second, _ = show(change)
    return f"{compared.first.name} {first}, {compared.second.name} {second}"


def _count(own: Unpaired) -> str:
    n = f"{own.n:,} {'pair' if own.n == 1 else 'pairs'}"
    return n if own.n == own.n_questions else f"{n} of {own.n_questions:,} questions"
