"""Commands that lay results beside others."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer
from rich.table import Table

from shaketable.cli.console import guarded, out, print_json, say
from shaketable.cli.running import JsonOption, RunArgument
from shaketable.report.published.compare import STUDIES
from shaketable.report.published.compare import compare_published as compare_with_published
from shaketable.stages.analyze import make_current
from shaketable.store import Run

COLORS = {"agrees": "green", "differs": "red", "cannot be said": "dim"}


@guarded
def compare_published(
    run_folder: RunArgument,
    study: Annotated[
        str | None, typer.Argument(metavar="STUDY", help=f"One of {', '.join(STUDIES)}; all that fit if absent.")
    ] = None,
    json_: JsonOption = False,
) -> None:
    """Lay the claims and tables of a published study beside a run: agrees, differs, or cannot be said, and why.

    Only intervals decide. A number is compared with its published one where model, method and dataset are the same.
    """
    run = Run(run_folder)
    make_current(run, progress=lambda words: say(words, quiet=json_))
    compared = compare_with_published(run, study)
    if json_:
        listed = {name: [dataclasses.asdict(one) for one in comparisons] for name, comparisons in compared.items()}
        print_json({"run": str(run_folder), "studies": listed})
        return
    if not compared:
        analyses = ", ".join(run.study.analyses)
        say(f"{run_folder} has no finding that a published study speaks of. Its analyses: {analyses}.")
    for name, comparisons in compared.items():
        table = Table("claim", "published", "system", "this run", "verdict", title=name, title_justify="left")
        for one in comparisons:
            verdict = f"[{COLORS[one.verdict]}]{one.verdict}[/]: {one.reason}"
            table.add_row(one.claim, one.published, one.system, one.own, verdict)
        out.print(table)
        counts = {verdict: sum(one.verdict == verdict for one in comparisons) for verdict in COLORS}
        out.print(", ".join(f"{n} {verdict}" for verdict, n in counts.items()), highlight=False)
