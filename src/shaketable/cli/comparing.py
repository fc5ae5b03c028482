"""Commands that lay results beside others."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from shaketable.cli.console import guarded, out, print_json, say
from shaketable.cli.running import JsonOption, RunArgument
from shaketable.cli.telling_apart import comparison_values, tell_comparison
from shaketable.errors import UsageError
from shaketable.report.published.compare import STUDIES
from shaketable.report.published.compare import compare_published as compare_with_published
from shaketable.stages.analyze import make_current
from shaketable.stages.compare import compare as compare_runs
from shaketable.store import Run

COLORS = {"agrees": "green", "differs": "red", "cannot be said": "dim", "not comparable": "dim"}


@guarded
def compare(
    first: Annotated[Path, typer.Argument(metavar="A", help="A run.", exists=True, file_okay=False)],
    second: Annotated[
        Path | None,
        typer.Argument(metavar="B", help="Another run; absent: two systems of A.", exists=True, file_okay=False),
    ] = None,
    systems: Annotated[
        tuple[str, str] | None,
        typer.Option("--systems", metavar="X Y", help="Two systems by name: both of A, or X of A and Y of B."),
    ] = None,
    metric: Annotated[
        str | None, typer.Option("--metric", help="The number to compare; the runs' own if absent.")
    ] = None,
    margin: Annotated[
        str | None,
        typer.Option("--margin", help="What is too little to matter: 0.05, or '0.2 sd'; the studies' if absent."),
    ] = None,
    out_file: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.html", help="Write a page of one file that works offline.")
    ] = None,
    json_: JsonOption = False,
) -> None:
    """Is B better than A? Two runs, or two systems of one run, paired by question and condition.

    Differences are B minus A, with intervals; what is claimed is adjusted for all that could be. What is not shown
    comes with how many questions it would take. Equal systems of two runs are compared each with itself.

    Examples: `shaketable compare runs/monday runs/friday --out friday.html`;
    `shaketable compare runs/prompts --systems short long`.
    """
    if out_file is not None:
        _refuse_file(out_file)
    told = compare_runs(
        Run(first),
        None if second is None else Run(second),
        systems=systems,
        metric=metric,
        margin=_read_margin(margin),
        progress=lambda words: say(words, quiet=json_),
    )
    if out_file is not None:
        from shaketable.report.comparison.page import render_comparison

        out_file.parent.mkdir(parents=True, exist_ok=True)
        out_file.write_text(render_comparison(told), "utf-8")
    if json_:
        print_json(comparison_values(told) | ({} if out_file is None else {"page": str(out_file)}))
        return
    for compared in told.compared:
        tell_comparison(compared, told)
    if out_file is not None:
        say(f"The page: {out_file}")


def _refuse_file(file: Path) -> None:
    """Before anything is compared."""
    if file.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"--out is '{file}'; expected the name of a page, such as '{file.with_suffix('.html')}'.")
    if file.is_dir():
        raise UsageError(f"--out is '{file}', which is a folder. Name a file in it, such as '{file / 'page.html'}'.")


def _read_margin(text: str | None) -> float | str | None:
    """A number where it is one; anything else is read as studies write it."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


@guarded
def compare_published(
    run_folder: RunArgument,
    study: Annotated[
        str | None, typer.Argument(metavar="STUDY", help=f"One of {', '.join(STUDIES)}; all that fit if absent.")
    ] = None,
    json_: JsonOption = False,
) -> None:
    """Compare a run with the claims of a published study: agrees, differs, cannot be said, or not comparable.

    Only intervals decide, and what the run's own report leaves open stays open. A number is compared with its published
    one where model, method, dataset, metric, encoder and the number of runs and wordings are the same.
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
            verdict = Text(one.verdict, style=COLORS[one.verdict]).append(f": {one.reason}", style="default")
            table.add_row(one.claim, one.published, one.system, one.own, verdict)
        out.print(table)
        counts = {verdict: sum(one.verdict == verdict for one in comparisons) for verdict in COLORS}
        out.print(", ".join(f"{n} {verdict}" for verdict, n in counts.items()), highlight=False)
