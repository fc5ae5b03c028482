"""The command that joins runs."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from shaketable.cli.console import guarded, print_json, say
from shaketable.cli.running import JsonOption
from shaketable.report.words import count
from shaketable.stages.merge import merge as merge_stage
from shaketable.store import Run


class Preferred(enum.StrEnum):
    first = "first"


@guarded
def merge(
    run_folders: Annotated[list[Path], typer.Argument(metavar="RUN…", help="The folders of two runs or more.")],
    out_folder: Annotated[Path, typer.Option("--out", help="The joined run's folder, new or empty.")],
    prefer: Annotated[
        Preferred | None,
        typer.Option(help="Where runs answer one trial otherwise, keep what the run that is named first has."),
    ] = None,
    json_: JsonOption = False,
) -> None:
    """Join runs that one study could have asked: other questions (--shard), models, temperatures or components.

    Nothing is asked. Records, wordings, references, verdicts, curves and explanations are carried over; scores and
    findings are made anew when they are next asked for. What is missing to the joined study can be asked: run it.

    Example: `shaketable merge runs/part1 runs/part2 --out runs/whole`
    """
    merged = merge_stage(
        [Run(folder) for folder in run_folders],
        out_folder,
        prefer_first=prefer is Preferred.first,
        tell=lambda words: say(words, quiet=json_),
    )
    summary, overlap = merged.run.summary(), merged.overlap
    if json_:
        shown = {"run": str(out_folder), "state": summary.state, "trials": summary.trials}
        counts = {"done": summary.done, "failed": summary.failed, "missing": summary.missing}
        print_json({**shown, **counts, "n_same": overlap.n_same, "n_differing": overlap.n_differing})
        return
    n_shared = overlap.n_same + overlap.n_differing
    shared = f" {n_shared:,} were in several runs, {overlap.n_differing:,} answered otherwise." if n_shared else ""
    say(
        f"{count(summary.done + summary.failed, 'record')} of {count(len(run_folders), 'run')} in {out_folder}.{shared}"
    )
    if summary.missing:
        say(f"The joined study lacks {count(summary.missing, 'trial')}. To run them: shaketable run {out_folder}")
    say(f"Next: shaketable report {out_folder}")
