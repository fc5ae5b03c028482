"""Trials that failed, in words, and when they are so many that the command has failed."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from shaketable.cli.console import say
from shaketable.errors import RunError
from shaketable.report.about import resume_command
from shaketable.store import Run

ALLOWED = 0.05
N_TOLD = 4
"""Reasons; the report has all."""


def parse_share(text: str | float) -> float:
    """`5%` and `0.05` are the same."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(%?)\s*", str(text))
    share = float(match[1]) / (100 if match[2] else 1) if match else -1.0
    if not 0 <= share <= 1:
        raise typer.BadParameter(f"'{text}' is no share. Give one as 5% or 0.05, from 0 to 100%.")
    return share


MaxFailuresOption = Annotated[
    float,
    typer.Option(
        "--max-failures",
        metavar="SHARE",
        parser=parse_share,
        show_default="5%",
        help="Exit 1 if more than this share of all trials of the run failed: 5% or 0.05. Results are written all the "
        "same.",
    ),
]


def tell_failures(run: Run, allowed: float, *, quiet: bool) -> None:
    """How many trials failed and why, where they are few enough; where all did there is nothing to go on with."""
    summary, lines = run.summary(), _reasons(run)
    if not summary.failed:
        return
    n_trials = summary.done + summary.failed
    if not summary.done:
        kept = f"They are kept in {run.folder}."
        raise RunError("\n".join([f"All {n_trials:,} trials failed.", *lines, kept]))
    if not is_too_many(run, allowed):
        told = f"{summary.failed:,} of {n_trials:,} trials failed; they are kept as failures, never as zeros."
        say("\n".join([told, *lines]), quiet=quiet)


def is_too_many(run: Run, allowed: float) -> bool:
    summary = run.summary()
    return summary.failed > allowed * (summary.done + summary.failed)


def refuse_failures(run: Run, allowed: float) -> None:
    """At the end of a command, when its results are written."""
    if not is_too_many(run, allowed):
        return
    summary = run.summary()
    n_trials = summary.done + summary.failed
    again = (
        f"Try those again that may succeed: {resume_command(summary, run.folder)}"
        if run.store.n_finished() < n_trials
        else "Another go would not ask them again: no retry would help."
    )
    raise RunError(
        "\n".join(
            [
                f"{summary.failed:,} of {n_trials:,} trials failed ({summary.failed / n_trials:.0%}); --max-failures "
                f"allows {100 * allowed:.3g}%. They are kept as failures, never as zeros; results are of the others.",
                *_reasons(run),
                again,
            ]
        )
    )


def _reasons(run: Run) -> list[str]:
    """The commonest first."""
    failures = sorted(run.failures(), key=lambda failure: -failure.n)
    rest = sum(failure.n for failure in failures[N_TOLD:])
    told = [f"{failure.n:,} × {failure.kind}, such as: {failure.message}" for failure in failures[:N_TOLD]]
    return [*told, *([f"{rest:,} for other reasons; the report has them all."] if rest else [])]
