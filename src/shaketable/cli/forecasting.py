"""What a plan would take, and what is odd about it, in words."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from shaketable import catalog
from shaketable.cli.console import out, print_json, say
from shaketable.factors import short_names
from shaketable.protocols import WhiteBoxModel
from shaketable.report.money_words import LOCAL_MODEL, NO_PRICE
from shaketable.report.time_words import duration
from shaketable.report.words import (
    count,
    describe_not_varied,
    name_questions,
)
from shaketable.stages.advice import advice_on
from shaketable.stages.estimate import Amount, WordingForecast, estimate, estimate_wordings
from shaketable.stages.plan import Plan
from shaketable.stages.readiness import unready
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
                "not_varied": [dataclasses.asdict(remark) for remark in planned.not_varied],
                "systems": [dataclasses.asdict(system) for system in forecasts],
                "rewordings": [dataclasses.asdict(rewording) for rewording in rewordings],
            }
        )
        return
    out.print(f"{planned.study.name}: {_product(planned)}", highlight=False)
    if n_answered:
        say(f"{n_answered:,} of them are answered already, and are not asked again: the numbers below are of all.")
    for note in notes_on_plan(planned):
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
    notes += [f"Note: {describe_not_varied(remark)}" for remark in planned.not_varied]
    if rejected := planned.rejected_rows:
        notes.append(describe_rejected(rejected))
    if remarks := planned.remarks:
        notes.append(f"Note: changes to rows: {len(remarks):,}, such as {remarks[0].where}: {remarks[0].text}")
    counts = collections.Counter(question.dataset for question in planned.questions)
    for choice in planned.study.datasets:
        n = counts[choice.name]
        if choice.shard is None and choice.limit is not None and 0 < n < choice.limit:
            notes.append(f"Note: dataset.limit asks for {choice.limit:,} questions, and {choice.name} gives {n:,}.")
    return notes + [f"Note: only {cell.n} questions for {cell_words(cell)}." for cell in planned.short_cells]
