"""A card as files: a page that can be printed, Markdown for a model card, and a picture."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from xml.sax.saxutils import escape

from shaketable.report.card import CardLine, Look, RunCard
from shaketable.report.gate_files import MARKUP
from shaketable.report.templates import environment
from shaketable.text.unseen import visible

MARKS: dict[Look, str] = {
    "stated": "",
    "shown": "▼ shown",
    "not shown": "○ not shown",
    "nothing to lose": "○ not above chance",
    "not measured": "– not measured",
}
"""Words and marks say the same as colours."""
WIDTH, EDGE, COLUMN = 1200, 56, 300
"""Of a picture, in pixels."""
WIDE, NARROW = 128, 84
"""Characters in a line of text, and of one beside a number."""
INK, MUTED, LINE, BAD = "#1b1d20", "#5a6068", "#dfe2e6", "#9a4400"
FONT = "system-ui, Liberation Sans, DejaVu Sans, sans-serif"
MONOSPACE = "Liberation Mono, DejaVu Sans Mono, monospace"


def format_html(card: RunCard) -> str:
    return environment.get_template("card.html").render(card=card, marks=MARKS, scripts=[])


# --- Markdown -------------------------------------------------------------------------------------


def format_markdown(card: RunCard) -> str:
    lines = [f"## Robustness: {_plain(card.title)}", ""]
    for system in card.systems:
        lines += [f"### {_plain(system.name)}", "", "| | | confidence interval | |", "|---|---|---|---|"]
        for line in system.lines:
            mark = MARKS[line.look]
            said = f"{mark}. {sentence(line)}" if mark else sentence(line)
            number = f"**{_plain(line.number)}**" if line.number else "–"
            lines.append(f"| {_plain(line.name)} | {number} | {_plain(line.interval) or '–'} | {_plain(said)} |")
        lines += ["", *(f"> {_plain(note)}\n" for note in system.notes)]
    lines += [f"- {_plain(note)}" for note in card.notes]
    lines += ["", *(f"- {_plain(name)}: {_plain(value)}" for name, value in card.facts)]
    return "\n".join([*lines, "", "```bash", visible(card.command), "```", ""])


def sentence(line: CardLine) -> str:
    return line.detail if line.detail.endswith(".") else f"{line.detail}."


def _plain(text: str) -> str:
    """On one line, and nothing in it means anything to Markdown."""
    return MARKUP.sub(lambda found: f"\\{found[0]}" if found[0] != ":" else "&#58;", " ".join(visible(text).split()))


# --- a picture ------------------------------------------------------------------------------------


def draw_png(card: RunCard) -> bytes:
    """On white and at twice the size."""
    import vl_convert  # Heavy, and needed here alone.

    return vl_convert.svg_to_png(draw_svg(card), scale=2)


@dataclass
class _Pen:
    """Where the next line of text stands."""

    parts: list[str]
    y: float = EDGE

    def write(
        self, text: str, size: int, *, x: float = EDGE, color: str = INK, look: str = "", gap: float = 1.4
    ) -> None:
        self.y += size * gap
        self.put(text, size, x=x, y=self.y, color=color, look=look)

    def put(self, text: str, size: int, *, x: float, y: float, color: str = INK, look: str = "") -> None:
        shown = escape(visible(text))
        self.parts.append(f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{color}" {look}>{shown}</text>')

    def rule(self) -> None:
        self.y += 18
        self.parts.append(f'<path d="M{EDGE} {self.y:g}H{WIDTH - EDGE}" stroke="{LINE}" stroke-width="1.5"/>')
        self.y += 4


def draw_svg(card: RunCard) -> str:
    """As tall as its text."""
    parts: list[str] = []
    pen = _Pen(parts=parts)
    pen.write("Shaketable · robustness card", 17, color=MUTED)
    for line in textwrap.wrap(card.title, 50) or [""]:
        pen.write(line, 36, look='font-weight="bold"')
    for system in card.systems:
        pen.y += 14
        for line in textwrap.wrap(system.name, 90) or [""]:
            pen.write(line, 22, look='font-weight="bold"')
        for own in system.lines:
            pen.rule()
            _draw_line(own, pen)
        for note in system.notes:
            pen.y += 8
            for line in textwrap.wrap(note, WIDE):
                pen.write(line, 16, color=BAD)
    pen.rule()
    for text in _small(card):
        pen.write(text, 15, color=MUTED)
    for line in textwrap.wrap(card.command, 112):
        pen.write(line, 15, look=f'font-family="{MONOSPACE}"')
    height = round(pen.y + EDGE)
    frame = f'<rect width="{WIDTH}" height="{height}" fill="white"/>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="{FONT}">'
    return "\n".join([head, frame, *parts, "</svg>"])


def _small(card: RunCard) -> Iterator[str]:
    for note in card.notes:
        yield from textwrap.wrap(note, WIDE)
    for name, value in card.facts:
        yield from textwrap.wrap(f"{name}: {value}", WIDE, subsequent_indent="    ")


def _draw_line(line: CardLine, pen: _Pen) -> None:
    top = pen.y
    mark = MARKS[line.look]
    color = BAD if line.look == "shown" else INK if line.number else MUTED
    pen.write(line.name, 17, color=MUTED)
    if line.number:
        pen.write(line.number, 30, color=color, look='font-weight="bold"', gap=1.2)
    if line.interval:
        pen.write(line.interval, 17, color=MUTED)
    left = pen.y
    pen.y = top
    for text in [*([mark] if mark else []), *textwrap.wrap(sentence(line), NARROW)]:
        pen.write(text, 17, x=EDGE + COLUMN, color=color if text == mark else INK)
    pen.y = max(pen.y, left)
