"""What `explain` prints for people: marked evidence, answers side by side, and what may be said of them."""

from __future__ import annotations

from collections.abc import Collection

from rich import box
from rich.table import Table
from rich.text import Text

from shaketable.cli.console import out
from shaketable.report.shown_explanation import Mark, ShownExplanation
from shaketable.report.word_diff import Change
from shaketable.store.explanations import Explanation

MARKS: dict[Mark, tuple[str, str, str]] = {
    "turns": ("●", "bold red", "changing it turns the answer"),
    "could": ("○", "red", "so would this one, or others with it"),
    "alone": ("◆", "green", "enough alone"),
}
REWORDED: dict[Change, tuple[str, str, str]] = {
    "kept": ("", "", ""),
    "gone": ("[-", "-]", "red"),
    "new": ("{+", "+}", "green"),
}
"""As `git diff --word-diff` writes it, so that it is seen without colors too."""
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
    used: set[Mark] = set()
    for own in shown.sentences:
        used |= own.marks
        line = Text("  ").append_text(_signs(own.marks))
        line.append(f"{own.number:>3}  ", style="dim").append(own.text, style="bold" if own.marks else "")
        out.print(line.append(f"  ({own.title})" if own.title else "", style="not bold dim"))
    legend = [f"{sign} {words}" for mark, (sign, _, words) in MARKS.items() if mark in used]
    if legend:
        out.print(Text("  " + "   ".join(legend), style="dim"))


def _signs(marks: Collection[Mark]) -> Text:
    """Two columns: whether changing it turns the answer, and whether it is enough."""
    text = Text()
    columns: tuple[tuple[Mark, ...], ...] = (("turns", "could"), ("alone",))
    for column in columns:
        sign, style, _ = next((MARKS[mark] for mark in column if mark in marks), (" ", "", ""))
        text.append(sign, style=style).append(" ")
    return text


def _tell_rewording(shown: ShownExplanation) -> None:
    line = Text("  ")
    for change, words in shown.rewording:
        before, after, style = REWORDED[change]
        line.append(f"{before}{words}{after}", style=style).append(" ")
    out.print(line)
