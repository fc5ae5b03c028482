"""What `shake` says at its end: the worst case with examples of it, and what would confirm it."""

from __future__ import annotations

import dataclasses
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from shaketable.analyses.shakes import Shaken
from shaketable.cli.console import out, say
from shaketable.stages.answer import Answered
from shaketable.stages.confirm import POWER, QUESTIONS, Confirmation
from shaketable.store import Run
from shaketable.store.findings_file import cell_columns
from shaketable.types import Json

if TYPE_CHECKING:  # The drawing library takes a second to import; only results that are told need it.
    from shaketable.report.section import Section


def tell_shake(run: Run, answered: Answered, confirmation: Confirmation | None, file: Path | None) -> None:
    section = _section(run)
    if section is None or not section.headlines:
        say("No answer could be compared, so there is nothing to tell. The report says what is missing, and why.")
    else:
        for headline in section.headlines[:4]:
            out.print(f"• {headline.text}", highlight=False, markup=False)
        if confirmation is not None:
            for line in _examples(section):
                out.print(line, highlight=False, markup=False)
    if file is not None and confirmation is not None:
        say(f"{_needs(confirmation)}\nConfirm it: {shlex.join(['shaketable', 'run', str(file)])}")
    elif answered.has_spent_budget or answered.n_reused == answered.n_trials:
        say("Run it again with a larger --budget to look further: what was asked is kept.")
    else:
        say("Every question was asked in every way: more questions would show more, a larger budget would not.")
    say(f"{describe_spent(run)} The report: {run.folder / 'report.html'}")


def describe_spent(run: Run) -> str:
    """`Spent: 195 of 300 calls.`"""
    summary, limits = run.summary(), run.study.limits
    dollars = sum(system.dollars or 0.0 for system in summary.spent) + summary.lost.dollars
    n_calls = summary.n_generations + summary.lost.n_calls
    minutes = f"{summary.seconds / 60:.1f}"
    amounts = [
        *([f"{n_calls:,} of {limits.max_calls:,} calls"] if limits.max_calls is not None else []),
        *([f"{dollars:,.2f} of {limits.max_cost:,.2f} USD"] if limits.max_cost is not None else []),
        *([f"{minutes} of {limits.max_minutes:.3g} minutes"] if limits.max_minutes is not None else []),
    ]
    return f"Spent: {', '.join(amounts)}."


def _examples(section: Section) -> list[str]:
    """Of the worst case: each question plainly and as shaken, with the answers."""
    table = next((table for table in section.tables if table.title.startswith("Smallest examples")), None)
    if table is None:
        return []
    lines = [table.title + ":"]
    for asked, question, answer, accepted in table.rows:
        beside = f" (accepted: {accepted})" if accepted and asked == "plainly" else ""
        lines.append(f"  {asked}: {_short(question)}\n    → {_short(answer)}{beside}")
    return lines


def _short(text: object) -> str:
    flat = " ".join(str(text).split())
    return flat if len(flat) <= 160 else f"{flat[:157]}…"


def _needs(confirmation: Confirmation) -> str:
    points = f"{100 * confirmation.loss:.0f} points"
    n = confirmation.n_needed
    needed = "more than 1,000 questions" if n is None else f"{n:,} questions"
    if confirmation.has_enough:
        return f"To confirm a loss of {points} takes {needed}; {QUESTIONS} has new ones, which were not asked here."
    return (
        f"To confirm a loss of {points} takes {needed} that were not asked here, and the table has "
        f"{confirmation.n_fresh:,} of those: add new ones to it before."
    )


def describe_confirmation(run: Run, confirmation: Confirmation | None) -> str:
    """The head of the study file."""
    if confirmation is None:
        return ""
    from shaketable.report.sections.shaken import describe_way

    worst = confirmation.worst
    return "\n".join(
        [
            f"Would confirm what was found in {run.folder}: it breaks {describe_way(worst.cell)}.",
            "The design is fixed before anything is asked: the same questions plainly and so, nothing else.",
            "The worst of many estimates is too large, so it is planned for half of the loss that was seen, or for the",
            f"lower end of its interval if that is more, and shows it in {POWER:.0%} of such studies.",
            _needs(confirmation),
        ]
    )


def values_of(run: Run, confirmation: Confirmation | None, file: Path | None) -> dict[str, Json]:
    """For programs."""
    results = [finding.result for finding in run.findings().findings if isinstance(finding.result, Shaken)]
    worst = results[0].worst if results else None
    return {
        "report": str(run.folder / "report.html"),
        "worst": None
        if worst is None
        else {
            "way": {key: value for key, value in cell_columns(worst.cell).items() if value is not None},
            "metric": worst.metric,
            "loss": dataclasses.asdict(worst.loss),
            "plain": worst.clean,
            "shaken": worst.disturbed,
            "e_value": worst.e_value,
            "e_value_needed": worst.e_needed,
        },
        "confirm": None if file is None else str(file),
        "questions_to_confirm": None if confirmation is None else confirmation.n_needed,
    }


def _section(run: Run) -> Section | None:
    from shaketable.report.page import make_section
    from shaketable.stages.report import page_of

    findings = run.findings()
    page = page_of(run, findings)
    shaken = next((finding for finding in findings.findings if isinstance(finding.result, Shaken)), None)
    return None if shaken is None else make_section(shaken, page)
