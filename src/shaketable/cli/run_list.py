"""The command that lists runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from shaketable.cli.console import guarded, out, print_json, say
from shaketable.cli.running import JsonOption
from shaketable.errors import RunError
from shaketable.report.money_words import format_dollars
from shaketable.store.listing import ListedRun, list_runs
from shaketable.types import Json

RUNS = Path("runs")
"""Where runs go, unless they are told otherwise."""
LONGEST = 140
"""Characters of a main result that are shown."""


@guarded
def runs(
    folder: Annotated[Path, typer.Argument(metavar="[FOLDER]", help="Where to look, and in the folders below.")] = RUNS,
    json_: JsonOption = False,
) -> None:
    """The runs in a folder, the newest first: state, trials, main result and cost of each.

    Example: `shaketable runs` · `shaketable view` opens them in the browser
    """
    found = find_listed(folder)
    if json_:
        print_json([_values(run) for run in found])
        return
    for run in found:
        for line in _lines(run):
            out.print(line)
    say(f"Look into one: shaketable view {found[0].folder}. All of them: shaketable view {folder}.")


def find_listed(folder: Path) -> tuple[ListedRun, ...]:
    """Raises RunError where there is none."""
    if not folder.is_dir():
        raise RunError(
            f"There is no folder {folder}. Runs are made by: shaketable run STUDY. The first one: shaketable demo."
        )
    found = list_runs(folder)
    if not found:
        raise RunError(f"{folder} holds no runs. Make one with: shaketable run STUDY, or shaketable demo.")
    return found


def _lines(run: ListedRun) -> list[Text]:
    """Two for each run: counts, and below them what it says first."""
    summary = run.summary
    name = (str(run.folder), "bold")
    if summary is None:
        return [Text.assemble(name, "  ", ("unreadable", "red")), Text(f"    {run.problem}")]
    facts = [
        summary.state.replace("_", " "),
        f"{(summary.created or '')[:16].replace('T', ' ')} UTC" if summary.created else "",
        f"{summary.done + summary.failed:,} of {summary.trials:,} trials",
        f"{summary.failed:,} failed" if summary.failed else "",
        "" if run.dollars is None else format_dollars(run.dollars),
        ", ".join(run.systems),
    ]
    headline = run.headline if len(run.headline) <= LONGEST else run.headline[: LONGEST - 1] + "…"
    first = Text.assemble(name, "  ", " · ".join(filter(None, facts)))
    return [first, *([Text(f"    {headline}")] if headline else [])]


def _values(run: ListedRun) -> dict[str, Json]:
    values: dict[str, Json] = {"run": str(run.folder), "name": run.folder.resolve().name}
    summary = run.summary
    if summary is None:
        return {**values, "state": "unreadable", "problem": run.problem}
    return {
        **values,
        "study": summary.study,
        "created": summary.created,
        "finished": summary.finished,
        "state": summary.state,
        "systems": list(run.systems),
        "questions": summary.n_questions,
        "trials": summary.trials,
        "done": summary.done,
        "failed": summary.failed,
        "dollars": run.dollars,
        "headline": run.headline or None,
    }
