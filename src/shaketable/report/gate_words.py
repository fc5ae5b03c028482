"""What a gate found, in words: for the terminal, a pull request and a test report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shaketable.analyses.gate.broken import BrokenQuestion
from shaketable.analyses.gate.broken_pairs import BrokenPairs
from shaketable.analyses.gate.quantities import Threshold
from shaketable.analyses.gate.verdicts import Check, Checked, Worst
from shaketable.analyses.pairs import Unpaired
from shaketable.factors import ORIGINAL, UNCHANGED, Cell, Labels, word_for
from shaketable.report.words import (
    format_difference,
    format_entry,
    format_level,
    format_margin,
    format_number,
    name_wording,
)
from shaketable.text.unseen import visible
from shaketable.types import Estimate

TITLES: dict[Threshold, str] = {
    "min_accuracy": "{metric}, nothing shaken",
    "max_drop": "worst-case drop of {metric}, against the baseline at the lowest temperature",
    "max_flip_rate": "flip rate",
    "min_breaking_temperature": "breaking temperature",
    "min_frs": "Factual Robustness Score",
    "max_cost": "dollars for an answer",
    "max_failures": "answers that failed",
    "max_regression": "{metric} lost against the base",
    "max_broken": "answers broken: right in all runs of the base, wrong in all runs here",
}
MOST_CHARACTERS = 200
"""Of a question or an answer in a summary."""
WHY_UNPAIRED = {
    "question": "a question that the other run does not have",
    "condition": "a condition that the other run does not have",
    "not asked": "was not asked",
    "no score": "has no score",
    "left out": "is left out of the study: its evidence could not be changed as asked",
}


def name_threshold(check: Check) -> str:
    return TITLES[check.threshold].format(metric=word_for(check.metric))


def name_conditions(worst: Worst, labels: Labels) -> str:
    """Which system, and where it is worst."""
    check = worst.check
    where = name_condition(check.cell, is_pooled=check.threshold in ("max_failures", "max_cost", "max_broken"))
    is_overall = check.threshold == "max_regression" and not check.is_detail
    more = f", the worst of {worst.n}" if worst.n > 1 and not is_overall else ""
    return f"{labels.name(check.cell, 'dataset')}: {where}{more}"


def name_condition(cell: Cell, *, is_pooled: bool = False) -> str:
    """`sentence removal at temperature 0.6`, `nothing shaken`, or `all conditions`."""
    if is_pooled or (cell.variation is None and cell.perturbation is None and cell.temperature is None):
        return "all conditions"
    shaken = [
        name_wording(part)
        for part, usual in ((cell.variation, ORIGINAL), (cell.perturbation, UNCHANGED))
        if part not in (None, usual)
    ]
    at = "" if cell.temperature is None else f" at temperature {cell.temperature:g}"
    return f"{' with '.join(shaken) or 'nothing shaken'}{at}"


def format_measured(check: Check) -> str:
    """The number with its interval, in its unit."""
    if check.threshold == "max_cost":
        return _dollars(check.deciding)
    if check.threshold == "min_breaking_temperature":
        return format_level(replace(check.deciding, unit="ratio"))
    if check.is_counted:
        return f"{format_entry(int(check.estimate.value or 0))} of {check.estimate.n:,}"
    if check.is_observed and check.estimate.value is not None:
        n = check.estimate.n
        return f"{round(check.estimate.value * n):,} of {n:,} ({format_level(check.estimate)})"
    is_difference = check.threshold in ("max_drop", "max_regression")
    return format_difference(check.deciding) if is_difference else format_level(check.deciding)


def _dollars(estimate: Estimate) -> str:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return estimate.reason or "–"
    return f"${estimate.value:.3g} [{estimate.low:.3g}, {estimate.high:.3g}]"


def format_limit(check: Check) -> str:
    """`at most 10 points`."""
    side, unit = "at least" if check.is_minimum else "at most", check.estimate.unit
    if check.threshold == "max_cost":
        return f"{side} ${check.limit:.3g}"
    if check.is_counted:
        return f"{side} {check.limit:.0f}"
    if check.threshold in ("max_drop", "max_regression"):
        return f"{side} {format_margin(check.limit, unit)}"
    return f"{side} {format_number(check.limit, unit)}{' %' if unit == 'share' else ''}"


def describe_verdict(check: Check) -> str:
    """`passed`, `failed: shown not to hold`, `failed: not shown to hold`."""
    if check.verdict == "holds":
        return f"passed: {check.reason}" if check.reason else "passed"
    if check.verdict == "broken":
        return "failed" if check.is_observed else "failed: shown not to hold"
    if check.passes:
        return "passed: not shown to be worse" if check.threshold == "max_regression" else "passed: nothing is shown"
    return f"failed: not shown to hold{f' ({check.reason})' if check.reason else ''}"


def describe_checked(checked: Checked) -> str:
    """One sentence over all."""
    lines = checked.worst()
    n_failing = sum(worst.n_failing > 0 for worst in lines)
    verdict = "passed" if checked.passes else f"closed: {n_failing} of {len(lines)} checks fail"
    return f"The gate is {verdict}, with {100 * checked.confidence:g} % confidence."


def name_bounds(checked: Checked) -> str:
    return f"one-sided {100 * checked.confidence:g} % bounds"


def describe_bounds(checked: Checked) -> str:
    """What stands in brackets, which is not what a report has there."""
    both = f"{100 * (2 * checked.confidence - 1):g} %"
    is_adjusted = any(worst.check.is_adjusted for worst in checked.worst())
    wider = "; where something failed or is compared, wider ones that hold for all checks at once"
    return (
        f"In brackets: {name_bounds(checked)}, so that both ends make a confidence interval of {both}"
        f"{wider if is_adjusted else ''}. The intervals of a report are two-sided."
    )


def describe_lines(checked: Checked) -> list[str]:
    """The sentence, and a line for each threshold and system."""
    labels = labels_of(checked.checks)
    return [
        describe_checked(checked),
        *(
            f"{'✗' if worst.n_failing else '✓'} {name_threshold(worst.check)}, {name_conditions(worst, labels)}: "
            f"{format_measured(worst.check)}, {format_limit(worst.check)}; {describe_verdict(worst.check)}"
            for worst in checked.worst()
        ),
        *describe_broken(checked),
        *describe_unpaired(checked, labels),
        describe_bounds(checked),
    ]


def describe_unpaired(checked: Checked, labels: Labels) -> list[str]:
    """What has no partner in the other run, and so has no part in the comparison."""
    return [
        f"{labels.system(system)}: {_count(own)} left out of the comparison."
        for system, every in checked.unpaired.items()
        for own in every
    ]


def _count(own: Unpaired) -> str:
    side = "the base" if own.side == "first" else "this run"
    return f"{own.n:,} pairs of question and condition in {side} ({WHY_UNPAIRED[own.why]}) are"


def describe_broken(checked: Checked) -> list[str]:
    """How many answers broke, what chance would break, and how to set a limit where there is none."""
    is_limited = any(check.is_counted for check in checked.checks)
    labels = labels_of(checked.checks)
    return [
        f"{labels.system(own.system)}: {_broken(own)}{'' if is_limited else '. --max-broken 0 lists and refuses them'}."
        for own in checked.broken
        if own.rows.height or is_limited
    ]


def _broken(own: BrokenPairs) -> str:
    counted = (
        f"{own.rows.height:,} of {own.n_pairs:,} answers (a question counts in each condition) were right in all "
        "runs of the base and are wrong in all runs here; "
    )
    if own.expected is None:
        return counted + "the base has one run of each, so how many chance alone would break is not known"
    among = "" if own.n_repeated == own.n_pairs else f" (of the {own.n_repeated:,} that it repeats)"
    return counted + f"by the base's own repeats chance alone would break {_at_most(own.expected)}{among}"


def _at_most(expected: float) -> str:
    return "none" if expected == 0 else f"at most about {max(expected, 0.1):.1f}"


def describe_broken_question(own: BrokenQuestion) -> str:
    """One line: where, the question, what is accepted, and both answers."""
    accepted = f" (accepted: {_cut('; '.join(own.gold))})" if own.gold else ""
    before, after = (_cut(text) or "no answer" for text in (own.before, own.after))
    where = name_condition(own.cell)
    return f"{own.question_id}, {where}: {_cut(own.wording)}{accepted}: was {before}, is {after}"


def _cut(text: str) -> str:
    flat = " ".join(visible(text).split())
    return flat if len(flat) <= MOST_CHARACTERS else flat[: MOST_CHARACTERS - 1] + "…"


def labels_of(checks: Sequence[Check]) -> Labels:
    return Labels.of_cells(check.cell for check in checks)
