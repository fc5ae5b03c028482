"""What `explain` prints for people: marked evidence, answers side by side, and what may be said of them."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

from shaketable.cli.console import out
from shaketable.report.shown_explanation import Mark, ShownExplanation
from shaketable.store.explanations import Explanation

MARKS: dict[Mark, tuple[str, str, str]] = {
    "turns": ("●", "bold red", "changing it turns the answer"),
    "could": ("○", "red", "so would this one, or others with it"),
    "alone": ("◆", "green", "enough alone"),
}
COLORS = {"right": "green", "the same": "green", "wrong": "red", "another": "red"}


def tell_explanation(explanation: Explanation, shown: ShownExplanation) -> None:
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
