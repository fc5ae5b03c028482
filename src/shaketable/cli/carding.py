"""The command that writes a run on one page."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from shaketable.cli.console import guarded, out, print_json, say
from shaketable.cli.running import JsonOption, RunArgument
from shaketable.store import Run


@guarded
def card(
    run_folder: RunArgument,
    out_file: Annotated[
        Path | None,
        typer.Option("--out", help="card.html, card.md or card.png; Markdown on standard output if absent."),
    ] = None,
    json_: JsonOption = False,
) -> None:
    """One page that a model or system can carry: its robustness in six numbers, each with its confidence interval.

    Accuracy, temperature ceiling, Factual Robustness Score, answers that flip, worst perturbation of evidence and
    worst wording, as far as the run has measured them; data, date, study, version and seed. An .html file can be
    printed, .md goes into a model card, .png into slides.
    """
    from shaketable.report.card_files import format_markdown
    from shaketable.stages.card import card as make_card
    from shaketable.stages.card import write_card

    run = Run(run_folder)
    if out_file is None:
        made = make_card(run, lambda words: say(words, quiet=json_))
        if not json_:
            out.print(format_markdown(made), highlight=False, markup=False)
    else:
        made = write_card(run, out_file, lambda words: say(words, quiet=json_))
        if not json_:
            say(f"The card: {out_file}")
    if json_:
        print_json(
            {"run": str(run_folder), "file": None if out_file is None else str(out_file)} | dataclasses.asdict(made)
        )
