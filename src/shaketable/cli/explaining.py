"""The command that asks why: the smallest changes that turn one answer."""

from __future__ import annotations

import enum
import json
from pathlib import Path
from typing import Annotated

import typer

from shaketable.cli.console import guarded, print_json, say
from shaketable.cli.running import JsonOption, RunArgument
from shaketable.cli.telling_why import tell_explanation
from shaketable.errors import RunError, UsageError
from shaketable.identity import canonical
from shaketable.report.shown_explanation import show_explanation
from shaketable.stages.explain import MAX_CALLS, OPERATIONS
from shaketable.stages.explain import explain as explain_question
from shaketable.store import Run


class By(enum.StrEnum):
    removal = "removal"
    masking = "masking"
    replacement = "replacement"


class Wordings(enum.StrEnum):
    all = "all"
    run = "run"
    none = "none"


@guarded
def explain(
    run_folder: RunArgument,
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="A question's id, a record's key, or a part of the text.")
    ],
    system: Annotated[
        str | None, typer.Option("--system", help="Which system to ask, where there are several.")
    ] = None,
    by: Annotated[
        list[By] | None, typer.Option("--by", help="How sentences are changed; repeat it. All ways if absent.")
    ] = None,
    wordings: Annotated[
        Wordings, typer.Option("--wordings", help="Wordings to try: the run's and those by rules, the run's, or none.")
    ] = Wordings.all,
    repeats: Annotated[
        int, typer.Option("--repeats", help="Ask each change so often; the most answers decide. An odd number.")
    ] = 1,
    max_calls: Annotated[int, typer.Option("--max-calls", help="Calls of the model at most.")] = MAX_CALLS,
    json_: JsonOption = False,
) -> None:
    """Why this answer? The fewest sentences of evidence, and the smallest rewording, that turn it.

    The system is asked anew at the lowest temperature of the study. What comes out is kept in the run, and shown among
    the cases of its report.

    Examples: `shaketable explain runs/demo "Which magazine was started first"`;
    `shaketable explain runs/prod q17 --system prod --max-calls 100`.
    """
    explanation = explain_question(
        _open(run_folder),
        question,
        system=system,
        by=[operation for operation in OPERATIONS if by is None or operation in by],
        wordings=wordings.value,
        repeats=repeats,
        max_calls=max_calls,
        progress=lambda words: say(words, quiet=json_),
    )
    shown = show_explanation(explanation)
    if json_:
        print_json({**json.loads(canonical(explanation)), "lines": shown.lines})
    else:
        tell_explanation(explanation, shown)


def _open(folder: Path) -> Run:
    """A folder without a run is a wrong word of this command."""
    try:
        return Run(folder)
    except RunError as error:
        raise UsageError(str(error)) from error
