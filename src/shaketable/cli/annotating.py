"""The command that asks people: for rewrites of questions, or for verdicts on a machine's wordings."""

from __future__ import annotations

import dataclasses
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from shaketable import catalog
from shaketable.annotation.log import AnnotationLog, ReviewRow, RewriteRow, load_rows
from shaketable.annotation.reviews import Verdicts, measure_agreement
from shaketable.annotation.tasks import Task, reviewing_tasks, rewriting_tasks
from shaketable.cli.console import guarded, out, print_json, say
from shaketable.cli.running import JsonOption
from shaketable.errors import UsageError
from shaketable.types import Estimate
from shaketable.variations.variant_set import load_variant_set


@guarded
def annotate(
    out_: Annotated[Path | None, typer.Option("--out", help="The file that people fill; it may be there.")] = None,
    dataset: Annotated[str, typer.Option(help="A dataset loader.")] = "builtin",
    path: Annotated[str | None, typer.Option(help="The dataset's file.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="The first questions only; with --review, wordings drawn by chance.")
    ] = None,
    review: Annotated[
        Path | None, typer.Option(help="Judge the wordings of this set, which `shaketable vary` froze.")
    ] = None,
    agreement: Annotated[Path | None, typer.Option(help="Tell how far the people who filled this file agree.")] = None,
    port: Annotated[int, typer.Option(help="0 takes one that is free.", min=0, max=65535)] = 0,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the browser.")] = False,
    json_: JsonOption = False,
) -> None:
    """Let people reword questions, or judge a machine's wordings, on a page of this machine.

    Each question gets two rewrites, and each wording two verdicts, by different people. Every entry is saved at once.

    Examples: `shaketable annotate --dataset squad --path dev.json --limit 100 --out rewrites.jsonl` ·
    `shaketable annotate --review variants.jsonl --limit 100 --out reviews.jsonl` ·
    `shaketable annotate --agreement reviews.jsonl`
    """
    if agreement is not None:
        if out_ is not None or review is not None:
            raise UsageError("--agreement reads a file that is there. Leave out --out and --review.")
        _tell(measure_agreement(load_rows(agreement, ReviewRow)), json_)
        return
    if out_ is None:
        raise UsageError("Where do the entries go? Give --out FILE, or --agreement FILE to read one.")
    if json_:
        raise UsageError("--json goes with --agreement.")
    tasks = _tasks(dataset, path, limit, review)
    _serve(tasks, out_, port, no_open)


def _tasks(dataset: str, path: str | None, limit: int | None, review: Path | None) -> list[Task]:
    if review is not None:
        if path is not None:
            raise UsageError("Give --review or a dataset's --path, not both.")
        tasks = reviewing_tasks(load_variant_set(review), limit)
        if not tasks:
            raise UsageError(f"{review} has no accepted wordings beside the originals, so there is nothing to judge.")
        return tasks
    loaded = catalog.find("dataset", dataset)(**({"path": path} if path else {}))
    tasks = rewriting_tasks(loaded.questions[:limit])
    if not tasks:
        raise UsageError(f"Dataset '{dataset}' has no questions here, so there is nothing to reword.")
    return tasks


def _serve(tasks: list[Task], path: Path, port: int, no_open: bool) -> None:
    from shaketable.annotation.server import AnnotationHandler, AnnotationSite
    from shaketable.viewer.server import LocalServer

    is_review = tasks[0].wording is not None
    log = AnnotationLog(path, ReviewRow if is_review else RewriteRow)
    if log.n_cut:
        say(f"Note: {path} ended in an entry that was never finished ({log.n_cut} bytes). It is cut off.")
    board = (site := AnnotationSite(tasks, log)).board
    with LocalServer(site, AnnotationHandler, port) as server:
        for remark in board.remarks:
            say(f"Note: {remark}")
        say(f"Serving {server.address} to this machine alone, into {path}. Ctrl-C ends it.")
        if not no_open:
            webbrowser.open(server.address)
        try:
            server.serve_forever()
        finally:
            counts = board.progress("")
            say(f"{counts['done']} of {counts['wanted']} entries are in {path}.")
            following = "shaketable annotate --agreement {}" if is_review else "in a study, rewrites(path='{}')"
            say(f"Next: {following.format(path)}.")


def _tell(verdicts: Verdicts, json_: bool) -> None:
    if json_:
        print_json(dataclasses.asdict(verdicts))
        return
    for remark in verdicts.left_out:
        say(f"Note: left out: {remark}")
    for acceptance in verdicts.accepted:
        what = "" if acceptance.variation is None else f", {acceptance.variation}"
        out.print(f"{acceptance.reviewer} accepts{what}: {_written(acceptance.share)}", highlight=False, markup=False)
    for pair in verdicts.agreements:
        names = " and ".join(pair.reviewers)
        out.print(f"{names} agree: {_written(pair.share)}", highlight=False, markup=False)
        reason = f"; {pair.kappa_reason}" if pair.kappa_reason else ""
        out.print(f"{names}, Cohen's kappa: {_written(pair.kappa)}{reason}", highlight=False, markup=False)
    if not verdicts.agreements:
        say("No wording was judged by two people yet, so there is no agreement to tell.")


def _written(estimate: Estimate) -> str:
    value = "not defined" if estimate.value is None else f"{estimate.value:.3f}"
    interval = f" [{estimate.low:.3f}, {estimate.high:.3f}]" if estimate.low is not None else ""
    return f"{value}{interval}, n = {estimate.n}"
