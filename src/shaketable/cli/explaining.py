"""The command that asks why: the smallest changes that turn one answer."""

from __future__ import annotations

import enum
import json
from typing import Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from shaketable.cli.console import guarded, out, print_json, say
from shaketable.cli.running import JsonOption, RunArgument
from shaketable.identity import canonical
from shaketable.report.explanation_words import Mark, ShownExplanation, show_explanation
from shaketable.stages.explain import MAX_CALLS, OPERATIONS
from shaketable.stages.explain import explain as explain_question
from shaketable.store import Run
from shaketable.store.explanations import Explanation

MARKS: dict[Mark, tuple[str, str, str]] = {
    "turns": ("●", "bold red", "changing it turns the answer"),
    "could": ("○", "red", "so would this one, or others with it"),
    "alone": ("◆", "green", "enough alone"),
}
COLORS = {"right": "green", "the same": "green", "wrong": "red", "another": "red"}


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

    The system is asked anew at the coolest temperature of the study. What comes out is kept in the run, and shown among
    the cases of its report.

    Examples: `shaketable explain runs/demo "Which magazine was started first"`;
    `shaketable explain runs/prod q17 --system prod --max-calls 100`.
    """
    explanation = explain_question(
        Run(run_folder),
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
        _tell(explanation, shown)


def _tell(explanation: Explanation, shown: ShownExplanation) -> None:
    gold = f"  accepted: {' / '.join(explanation.gold)}" if explanation.gold else ""
    out.print(Text(explanation.wording, style="bold").append(gold, style="not bold dim"))
    out.print(Text(shown.heading))
    if shown.sentences:
        _tell_evidence(shown)
    table = Table("", "answer", "", box=box.SIMPLE, padding=(0, 1, 0, 0))
    for own in shown.changes:
        text = f"failed: {own.answer.failure}" if own.answer.failure else " ".join(own.answer.text.split())
        table.add_row(Text(own.change), Text(text), Text(own.verdict, style=COLORS.get(own.verdict, "dim")))
    out.print(table)
    if shown.rewording:
        _tell_rewording(shown)
    for line in shown.lines:
        out.print(Text(f"• {line}"))


def _tell_evidence(shown: ShownExplanation) -> None:
    out.print()
    used = set()
    for number, text, title, marks in shown.sentences:
        used |= marks
        line = Text("  ")
        for mark, (sign, style, _) in MARKS.items():
            if mark != "could":
                sign, style = (
                    MARKS["could"][:2]
                    if mark == "turns" and mark not in marks and "could" in marks
                    else (sign if mark in marks else " ", style)
                )
                line.append(sign, style=style).append(" ")
        line.append(f"{number:>3}  ", style="dim").append(text, style="bold" if marks else "")
        out.print(line.append(f"  ({title})" if title else "", style="not bold dim"))
    legend = [f"{sign} {words}" for mark, (sign, _, words) in MARKS.items() if mark in used]
    if legend:
        out.print(Text("  " + "   ".join(legend), style="dim"))


def _tell_rewording(shown: ShownExplanation) -> None:
    line = Text("  ")
    styles = {"kept": "", "gone": "red strike", "new": "green bold"}
    for change, words in shown.rewording:
        line.append(words, style=styles[change]).append(" ")
    out.print(line)
