"""What `shake` says at its end: the worst case with examples of it, and what would confirm it."""

from __future__ import annotations

import dataclasses
import shlex
from pathlib import Path

from shaketable.analyses.shakes import Shaken
from shaketable.cli.console import out, say, say_left_out
from shaketable.report.words import name_questions
from shaketable.stages.answer import Answered
from shaketable.stages.shaking.confirm import POWER, QUESTIONS, Confirmation
from shaketable.store import Run
from shaketable.store.findings_file import cell_columns
from shaketable.types import Json

N_TOLD = 4
"""Headlines; the report has all."""


def tell_shake(run: Run, answered: Answered, confirmation: Confirmation | None, file: Path | None) -> None:
    # The drawing library takes a second to import; only results that are told need it.
    from shaketable.report.page import describe_first
    from shaketable.report.sections.shaken import list_examples, section
    from shaketable.stages.report import page_of

    page, result = page_of(run, run.findings()), result_of(run)
    headlines = section(result, page).headlines
    for sentence in describe_first(page):
        say(sentence)
    if not headlines:
        say("No answer could be compared, so there is nothing to tell. The report says what is missing, and why.")
    for headline in headlines[:N_TOLD]:
        out.print(f"• {headline.text}", highlight=False, markup=False)
    say_left_out(len(headlines) - N_TOLD)
    for i, (plain, shaken) in enumerate(list_examples(result, page)):
        if i == 0:
            out.print("The smallest examples of it:")
        accepted = "" if plain.accepted is None else f" (accepted: {_short(plain.accepted)})"
        for asked, beside in ((plain, accepted), (shaken, "")):
            text = f"  {asked.way}: {_short(asked.question)}\n    → {_short(asked.answer)}{beside}"
            out.print(text, highlight=False, markup=False)
    if confirmation is not None:
        say(_needs(confirmation))
        if file is not None:
            say(_how_to_confirm(confirmation, file))
    elif answered.has_spent_budget or answered.n_reused == answered.n_trials:
        say("Run it again with a larger --budget to look further: what was asked is kept.")
    else:
        say("Every question was asked in every way: more questions would show more, a larger budget would not.")
    say(f"{describe_spent(run)} The report: {run.folder / 'report.html'}")


def result_of(run: Run) -> Shaken:
    """What the analysis of the run gave."""
    results = [finding.result for finding in run.findings().findings if isinstance(finding.result, Shaken)]
    return results[0] if results else Shaken()


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


def _short(text: object) -> str:
    flat = " ".join(str(text).split())
    return flat if len(flat) <= 160 else f"{flat[:157]}…"


def _needs(confirmation: Confirmation) -> str:
    points = f"{100 * confirmation.loss:.0f} points"
    n = confirmation.n_needed
    needed = "more than 1,000 questions" if n is None else name_questions(n)
    if confirmation.has_enough:
        return f"To confirm a loss of {points} takes {needed}; {QUESTIONS} has new ones, which were not asked here."
    fresh = "none" if confirmation.n_fresh == 0 else f"{confirmation.n_fresh:,}"
    return f"To confirm a loss of {points} takes {needed} that were not asked here, and the table has {fresh} of those."


def _how_to_confirm(confirmation: Confirmation, file: Path) -> str:
    """The command; before it, what is missing. The same questions would not confirm what was found on them."""
    command = shlex.join(["shaketable", "run", str(_from_here(file))])
    if confirmation.has_enough:
        return f"Confirm it: {command}"
    missing = confirmation.n_to_add
    added = (
        "that many new questions" if missing is None else name_questions(missing).replace("question", "new question")
    )
    return f"Add {added} to {_from_here(file.with_name(QUESTIONS))}, and confirm it then: {command}"


def _from_here(file: Path) -> Path:
    """Relative to the working folder, where it lies in it."""
    here, absolute = Path.cwd(), file.absolute()
    return absolute.relative_to(here) if absolute.is_relative_to(here) else file


def describe_confirmation(run: Run, confirmation: Confirmation | None) -> str:
    """The head of the study file."""
    if confirmation is None:
        return ""
    from shaketable.report.sections.shaken import describe_way

    worst = confirmation.worst
    return "\n".join(
        [
            f"Would confirm what was found in {run.folder}: it breaks {describe_way(worst.cell)}.",
            "The design is fixed before anything is asked: each question plainly and so, nothing else.",
            f"It asks {QUESTIONS} alone: questions that were not asked when it was found.",
            "The worst of many estimates is too large, so it is planned for half of the loss that was seen, or for the",
            f"lower end of its interval if that is more, and shows it in {10 * POWER:.0f} of 10 such studies.",
            _needs(confirmation),
        ]
    )


def values_of(run: Run, confirmation: Confirmation | None, file: Path | None) -> dict[str, Json]:
    """For programs."""
    from shaketable.report.page import describe_floors
    from shaketable.stages.report import page_of

    worst = result_of(run).worst
    return {
        "nothing_to_lose": [*describe_floors(page_of(run, run.findings()))],
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
        "fresh_questions": None if confirmation is None else confirmation.n_fresh,
    }
