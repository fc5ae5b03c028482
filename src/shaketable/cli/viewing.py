"""The command that opens runs in the browser."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from shaketable.cli.console import guarded, print_json, say
from shaketable.store import Run


@guarded
def view(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Folders of runs, also of one that is going on.")
    ],
    port: Annotated[int, typer.Option(help="0 takes one that is free.", min=0, max=65535)] = 0,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the browser.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="Say address and runs as one JSON object.")] = False,
) -> None:
    """Look into runs in the browser: results, every record, one question across all conditions.

    Serves this machine alone and writes nothing. Ctrl-C ends it.
    """
    from shaketable.viewer.pages import RunSite
    from shaketable.viewer.server import LocalServer

    site = RunSite([Run(folder) for folder in runs])
    with LocalServer(site, port=port) as server:
        if json_:
            print_json({"address": server.address, "runs": {name: str(run.folder) for name, run in site.runs.items()}})
            sys.stdout.flush()
        say(f"Serving {server.address} to this machine alone. Ctrl-C ends it.", quiet=json_)
        if not no_open:
            webbrowser.open(server.address)
        server.serve_forever()
