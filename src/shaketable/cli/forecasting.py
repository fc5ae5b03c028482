"""What a plan would take, and what is odd about it, in words."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from shaketable import catalog
from shaketable.analyses.evidence.undone import describe_undone
from shaketable.analyses.floors import N_LEAST
from shaketable.cli.console import out, print_json, say
from shaketable.factors import short_names
from shaketable.protocols import WhiteBoxModel
from shaketable.report.money_words import LOCAL_MODEL, NO_PRICE
from shaketable.report.time_words import duration
from shaketable.report.words import (
    count,
    describe_not_varied,
    format_margin,
    name_questions,
)
from shaketable.stages.advice import advice_on
from shaketable.stages.estimate import Amount, WordingForecast, estimate, estimate_wordings
from shaketable.stages.plan import Plan
from shaketable.stages.reach import CHANGED, Reach, reach_of
from shaketable.stages.readiness import unready
from shaketable.stages.rehearsal import rehearse_perturbations
from shaketable.stages.repeating.looks import n_least_trials
from shaketable.stages.selection import cell_words
from shaketable.types import Precision, Rejected


def forecast(planned: Plan, json_: bool, n_answered: int = 0) -> None:
    """Say what a plan would take, and how much of it the run holds already; nothing is loaded, asked or run."""
    forecasts, rewordings = estimate(planned), estimate_wordings(planned)
    if json_:
        print_json(
            {
                "study": planned.study.name,
                "questions": len(planned.questions),
                "wordings": len(planned.asked),
                "conditions": planned.n_conditions,
                "cells": planned.n_cells,
                "trials": planned.n_trials,
                "least_trials": None if planned.study.precision is None else n_least_trials(planned),
                "answered": n_answered,
                "undone": [dataclasses.asdict(undone) for undone in rehearse_perturbations(planned)],
                "verdicts": [
                    dataclasses.asdict(reach) | {"is_reachable": reach.is_reachable} for reach in reach_of(planned)
                ],
                "not_varied": [dataclasses.asdict(remark) for remark in planned.not_varied],
                "systems": [dataclasses.asdict(system) for system in forecasts],
                "rewordings": [dataclasses.asdict(rewording) for rewording in rewordings],
            }
        )
        return
    out.print(f"{planned.study.name}: {_product(planned)}", highlight=False)
    if n_answered:
        say(f"{n_answered:,} of them are answered already, and are not asked again: the numbers below are of all.")
    for note in (*notes_on_plan(planned), *verdict_lines(planned)):
        say(note)
    for problem in unready(planned):
        say(f"Note: it would not run here. {problem}")
    for rewording in rewordings:
        out.print(_wording_words(rewording), highlight=False, markup=False)
    # A system's name stands above its numbers: beside them both are cut on a narrow terminal.
    names = short_names(system.model for system in forecasts)
    for system in forecasts:
        paid = LOCAL_MODEL if _is_local(planned, system.model) else NO_PRICE
        out.print(Text(f"{names[system.model]} · {system.method}: {count(system.trials, 'trial')}", style="bold"))
        table = Table(" ", "calls", "prompt tokens", "new tokens", "time", "money", box=None, pad_edge=False)
        table.add_row("  likely", *_amount_words(system.likely, "not measured", paid))
        table.add_row("  at most", *_amount_words(system.at_most, "no limit", paid))
        out.print(table)
    out.print(
        "Likely: as many calls and tokens a trial as in this system's last run on this machine. At most: by the "
        "method's own limits, every answer of full length; prompts at 4 characters a token. Nothing was run.",
        highlight=False,
    )


def _is_local(planned: Plan, model: str) -> bool:
    return any(
        catalog.label(condition.model) == model and isinstance(condition.model, WhiteBoxModel)
        for condition in planned.conditions
    )


def _product(planned: Plan) -> str:
    """How the number of trials comes about."""
    study = planned.study
    n_wordings, n_questions = len(planned.asked), len(planned.questions)
    crossed = (
        name_questions(n_questions)
        if n_wordings == n_questions
        else f"{n_wordings:,} wordings (of {n_questions:,} questions)"
    )
    crossed += f" × {count(len(planned.conditions), 'choice')} of system and evidence"
    if study.precision is not None:
        return f"{crossed} × {_temperatures(planned)} temperatures, repeated {_until(planned, study.precision)}"
    if study.scan is None:
        temperatures, repeats = _temperatures(planned), study.repeats
        return f"{crossed} × {temperatures} temperatures × {repeats} repeats = {planned.n_trials:,} trials"
    return f"{crossed} at temperature 0, then the known facts at higher ones: at most {planned.n_trials:,} trials"


def _temperatures(planned: Plan) -> str:
    counts = {len(planned.temperatures_of(condition)) for condition in planned.conditions}
    return " or ".join(map(str, sorted(counts)))


def _until(planned: Plan, precision: Precision) -> str:
    return (
        f"until the mean of a condition is known to ±{precision.until:g} for these questions, at most "
        f"{planned.study.repeats} times: at least {n_least_trials(planned):,}, at most {planned.n_trials:,} trials. "
        "How many it will be depends on the answers; what follows is of the most"
    )


def _wording_words(rewording: WordingForecast) -> str:
    calls, read, written, seconds, dollars = _amount_words(rewording.at_most, "")
    return (
        f"Rewording by {rewording.variation}: at most {calls} calls, {read} prompt tokens, {written} new tokens; "
        f"time: {seconds}; money: {dollars}"
    )


def _amount_words(amount: Amount | None, nothing: str, nothing_paid: str = NO_PRICE) -> list[str]:
    if amount is None:
        return [nothing, "", "", "", ""]
    return [
        f"{amount.calls:,}",
        f"{amount.prompt_tokens:,}",
        f"{amount.new_tokens:,}",
        "not known" if amount.seconds is None else duration(amount.seconds),
        nothing_paid if amount.dollars is None else f"${amount.dollars:,.2f}",
    ]


def describe_rejected(rows: Sequence[Rejected]) -> str:
    """Return how many rows of the data were left out, with the first as an example."""
    return f"Note: rows left out: {len(rows):,}, such as {rows[0].where}: {rows[0].reason}"


def notes_on_plan(planned: Plan) -> list[str]:
    """What was left out of the data or changed, with an example, cells that have too few questions, and advice."""
    notes = [f"Note: {advice}" for advice in advice_on(planned)]
    notes += dict.fromkeys(f"Warning: {describe_undone(undone)}" for undone in rehearse_perturbations(planned))
    notes += [f"Note: {describe_not_varied(remark)}" for remark in planned.not_varied]
    if rejected := planned.rejected_rows:
        notes.append(describe_rejected(rejected))
    if remarks := planned.remarks:
        notes.append(f"Note: changes to rows: {len(remarks):,}, such as {remarks[0].where}: {remarks[0].text}")
    counts = collections.Counter(question.dataset for question in planned.questions)
    for choice in planned.study.datasets:
        n = counts[choice.name]
        if choice.shard is None and choice.limit is not None and 0 < n < choice.limit:
            notes.append(
                f"Note: dataset.limit asks for {count(choice.limit, 'question')}, and {choice.name} gives {n:,}."
            )
    return notes + [f"Note: only {count(cell.n, 'question')} for {cell_words(cell)}." for cell in planned.short_cells]


def verdict_lines(planned: Plan) -> list[str]:
    """What the number of questions can confirm, and what needs more of them."""
    reaches = reach_of(planned)
    if not reaches:
        return []
    if (n := min(reach.n for reach in reaches)) < N_LEAST:
        return [f"With fewer than {N_LEAST} questions the report draws no conclusions; this study has {n}."]
    within = [_reachable_words(reach) for reach in reaches if reach.is_reachable]
    beyond = [_needs_words(reach) for reach in reaches if not reach.is_reachable]
    return [
        *([f"This number of questions can confirm: {'; '.join(within)}."] if within else []),
        *([f"It cannot confirm: {'; '.join(beyond)}."] if beyond else []),
    ]


def _reachable_words(reach: Reach) -> str:
    of_type = " of each type" if reach.per_type else ""
    if reach.verdict == "comparison" and reach.detectable is not None:
        if reach.unit != "share":
            size = f"{reach.detectable:.2g} standard deviations of the differences between questions"
            return f"a drop of about {size} ({name_questions(reach.n)})"
        guess = f"if {CHANGED * 10:.0f} in 10 answers change"
        return f"a drop of about {100 * reach.detectable:.0f} points or more ({name_questions(reach.n)}, {guess})"
    return f"{_verdict_words(reach)} ({name_questions(reach.n)}{of_type}, {reach.n_needed} needed)"


def _needs_words(reach: Reach) -> str:
    of_type = " of each type" if reach.per_type else ""
    return (
        f"{_verdict_words(reach)} (needs at least {name_questions(reach.n_needed)}{of_type}; this study has {reach.n})"
    )


def _verdict_words(reach: Reach) -> str:
    if reach.verdict == "comparison":
        return "any drop"
    margin = format_margin(reach.margin or 0.0, "share")
    if reach.verdict == "equivalence":
        return f"that a perturbation changes less than {margin}"
    return f"a highest safe temperature, with a drop of less than {margin}"
