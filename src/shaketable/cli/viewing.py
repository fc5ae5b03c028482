"""The command that opens runs in the browser."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from shaketable.cli.console import guarded, print_json, say
from shaketable.cli.run_list import RUNS, find_listed
from shaketable.store import Run
from shaketable.store.folder import STUDY
from shaketable.store.listing import find_runs, is_run


@guarded
def view(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RUN|FOLDER]...", help="Runs, also one that is going on, or folders of runs."),
    ] = None,
    port: Annotated[int, typer.Option(help="0 takes one that is free.", min=0, max=65535)] = 0,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the browser.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="Say address and runs as one JSON object.")] = False,
) -> None:
    """Look into runs in the browser: results, every record, one question across all conditions. Without words: all in
    the folder runs.

    Serves this machine alone and writes nothing. Ctrl-C ends it.
    """
    from shaketable.viewer.pages import RunSite
    from shaketable.viewer.server import LocalServer

    site = RunSite([Run(folder) for given in runs or [RUNS] for folder in _runs_of(given)])
    with LocalServer(site, port=port) as server:
        if json_:
            print_json({"address": server.address, "runs": {name: str(run.folder) for name, run in site.runs.items()}})
            sys.stdout.flush()
        say(f"Serving {server.address} to this machine alone. Ctrl-C ends it.", quiet=json_)
        if not no_open:
            webbrowser.open(server.address)
        server.serve_forever()


def _runs_of(folder: Path) -> list[Path]:
    """The run that a folder is, or those in it that can be read."""
    if (
        is_run(folder)
        or (folder != RUNS and not folder.is_dir())
        or ((folder / STUDY).is_file() and not find_runs(folder))
    ):
        return [folder]
    listed = find_listed(folder)
    for run in listed:
        if run.problem:
            say(f"Left out: {run.folder}: {run.problem}")
    return [run.folder for run in listed if not run.problem]
