"""A run as one line, and as a small card for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from shaketable.store.summary import RunSummary

SHOWN = 4
"""Sentences on a card."""
STYLE = (
    "border:1px solid #8886;border-radius:6px;padding:0.6em 1em;max-width:46em;font-family:system-ui,sans-serif;"
    "line-height:1.45"
)


def describe_run(summary: RunSummary) -> str:
    """`Run('runs/demo', demo: 24 questions, 96 trials, 8 failed, finished)`."""
    return f"Run({summary.run!r}, {summary.study}: {', '.join(_counts(summary))})"


def draw_card(summary: RunSummary, headlines: Sequence[str], report: Path | None, brought: Sequence[str]) -> str:
    """`brought` are the parts that only the process of a script or notebook has."""
    lines = [f"<b>{escape(summary.study)}</b> <span style='opacity:.7'>{escape(', '.join(_counts(summary)))}</span>"]
    if headlines:
        items = "".join(f"<li>{escape(sentence)}</li>" for sentence in headlines[:SHOWN])
        lines.append(f"<ul style='margin:.4em 0 .4em 1.2em;padding:0'>{items}</ul>")
    if report is not None:
        lines.append(f"<a href='{escape(_reachable(report), quote=True)}' target='_blank'>The report</a>")
    if brought:
        told = f"Made with components of a script or notebook ({', '.join(brought)}): go on with it from there."
        lines.append(f"<span style='opacity:.7'>{escape(told)}</span>")
    return f"<div style='{STYLE}'>{'<br>'.join(lines)}</div>"


def _counts(summary: RunSummary) -> list[str]:
    counts = [f"{summary.n_questions:,} questions", f"{summary.trials:,} trials"] if summary.trials else []
    failed = [f"{summary.failed:,} failed"] if summary.failed else []
    missing = [f"{summary.missing:,} to go"] if summary.missing else []
    return [*counts, *failed, *missing, summary.state.replace("_", " ")]


def _reachable(file: Path) -> str:
    """From where the notebook is, as far as that is known."""
    absolute = file.absolute()
    here = Path.cwd()
    return absolute.relative_to(here).as_posix() if absolute.is_relative_to(here) else absolute.as_uri()
