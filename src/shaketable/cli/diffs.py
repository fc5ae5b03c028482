"""Two texts → what changed, in colors on a terminal and with marks elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from shaketable.cli.console import out
from shaketable.text.word_edits import align
from shaketable.types import Hit


def sentences_of(hits: Sequence[Hit]) -> list[str]:
    return [sentence.text for hit in hits for sentence in hit.passage.sentences]


def sentence_diff(before: list[str], after: list[str]) -> list[Text]:
    """Sentence by sentence; inside a changed sentence, word by word."""
    lines = []
    for kind, a, b, c, d in align(before, after):
        if kind == "equal":
            lines += [Text(f"  {sentence}") for sentence in before[a:b]]
        elif kind == "replace" and b - a == d - c:
            for old, new in zip(before[a:b], after[c:d], strict=True):
                lines.append(word_diff(old, new))
        else:
            lines += [Text(f"- {sentence}", style="red strike") for sentence in before[a:b]]
            lines += [Text(f"+ {sentence}", style="green") for sentence in after[c:d]]
    return lines


def word_diff(old: str, new: str) -> Text:
    line = Text("~ ")
    a, b = old.split(), new.split()
    for kind, i, j, m, n in align(a, b):
        if kind == "equal":
            line.append(" ".join(a[i:j]) + " ")
            continue
        if i < j:
            line.append(_marked(" ".join(a[i:j]), "[-", "-]"), style="red strike").append(" ")
        if m < n:
            line.append(_marked(" ".join(b[m:n]), "{+", "+}"), style="green").append(" ")
    return line


def _marked(words: str, start: str, end: str) -> str:
    """Marks stand in for colors where there are none, as in a file or a pipe."""
    return words if out.is_terminal else f"{start}{words}{end}"
