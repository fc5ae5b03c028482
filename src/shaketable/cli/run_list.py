"""The command that lists runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
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
    table = Table("run", "begun (UTC)", "state", "systems", "trials", "failed", "cost", "main result")
    for run in found:
        table.add_row(*_cells(run))
    out.print(table)
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


def _cells(run: ListedRun) -> tuple[Text, ...]:
    summary = run.summary
    name = Text(str(run.folder), style="bold")
    if summary is None:
        return name, Text(""), Text("unreadable", style="red"), *[Text("")] * 4, Text(run.problem)
    begun = (summary.created or "")[:16].replace("T", " ")
    done = f"{summary.done + summary.failed:,} of {summary.trials:,}"
    cost = "" if run.dollars is None else format_dollars(run.dollars)
    headline = run.headline if len(run.headline) <= LONGEST else run.headline[: LONGEST - 1] + "…"
    state, systems = summary.state.replace("_", " "), ", ".join(run.systems)
    texts = (begun, state, systems, done, f"{summary.failed:,}" if summary.failed else "", cost, headline)
    return name, *map(Text, texts)


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
