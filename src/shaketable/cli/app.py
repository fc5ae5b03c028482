"""The command `shaketable`: one command per stage, and a few to look around."""

from __future__ import annotations

from collections.abc import Callable

import typer

from shaketable import __version__
from shaketable.cli import (
    annotating,
    caching,
    carding,
    checking,
    comparing,
    documenting,
    explaining,
    listing,
    looking,
    merging,
    prompting,
    run_list,
    running,
    shaking,
    sharing,
    showing,
    starting,
    varying,
    verifying,
    viewing,
)

app = typer.Typer(
    name="shaketable",
    help=(
        "Tests how robust a question-answering system is, a language model or a RAG pipeline: it varies the sampling "
        "temperature, the retrieved evidence and the wording of the questions, alone and together, and says when "
        "answers break, with confidence intervals.\n\n"
        "Start with `shaketable demo`: a small real study with the embedded model, ending in a report. Then "
        "`shaketable init --data questions.csv` writes a study of your own questions, `shaketable run questions.toml` "
        "runs it, `shaketable shake` tests a system of your own without one, and `shaketable ls` shows the components "
        "that studies are made of.\n\n"
        "Exit codes: 0 done, 1 failed, 2 wrong usage, 100 a release gate was not passed, 130 interrupted."
    ),
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)

MAKING = (
    *(running.demo, starting.init, shaking.shake, running.run),
    *(running.answer, running.score, running.analyze, running.report),
)
LOOKING = (
    *(
        run_list.runs,
        viewing.view,
        showing.show,
        explaining.explain,
        listing.ls,
        prompting.prompts,
        looking.validate,
        varying.vary,
        looking.perturb,
        looking.doctor,
    ),
    looking.models,
    documenting.docs,
)
SHARING = (
    comparing.compare,
    checking.check,
    comparing.compare_published,
    annotating.annotate,
    sharing.import_,
    sharing.export,
    carding.card,
    merging.merge,
    verifying.verify,
    caching.cache,
)
COMMANDS: tuple[Callable[..., None], ...] = (*MAKING, *LOOKING, *SHARING)

for command in COMMANDS:
    app.command(command.__name__.rstrip("_").replace("_", "-"))(command)


@app.callback(invoke_without_command=True)
def _version(version: bool = typer.Option(False, "--version", help="Say the version and stop.")) -> None:
    if version:
        typer.echo(f"shaketable {__version__}")
        raise typer.Exit
