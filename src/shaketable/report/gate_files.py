"""What a gate found, as files for other tools: JUnit XML, Markdown for a pull request, a badge."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from shaketable.analyses.gate.broken import BrokenQuestion
from shaketable.analyses.gate.verdicts import Checked
from shaketable.report.gate_words import (
    MOST_CHARACTERS,
    describe_bounds,
    describe_broken,
    describe_broken_question,
    describe_checked,
    describe_unpaired,
    describe_verdict,
    format_limit,
    format_measured,
    labels_of,
    name_bounds,
    name_condition,
    name_conditions,
    name_threshold,
)
from shaketable.text.unseen import visible

MARKUP = re.compile(r"[\\`*_{}\[\]<>#|~@&$^]|:(?=//)|(?<=www)\.")
"""What may mean something inside a line of Markdown or HTML, links included."""
BADGE = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label="{text}">
<title>{text}</title>
<rect width="{width}" height="20" rx="3" fill="#444"/>
<path d="M{left} 0h{inner}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-{inner}z" fill="{color}"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="6" y="14">{label}</text>
<text x="{at}" y="14">{message}</text>
</g>
</svg>
"""
CHARACTER = 7
"""Pixels, about, of one letter of a badge."""
GREEN, RED = "#2c6e49", "#a4262c"


def format_junit(checked: Checked, name: str, broken: Sequence[BrokenQuestion] = ()) -> str:
    """A test for each threshold and system; one that fails says what was measured, and which answers broke."""
    lines, labels = checked.worst(), labels_of(checked.checks)
    suite = ElementTree.Element(
        "testsuite",
        name=visible(f"shaketable check {name}"),
        tests=str(len(lines)),
        failures=str(sum(worst.n_failing > 0 for worst in lines)),
        errors="0",
    )
    for worst in lines:
        check = worst.check
        words = f"{format_measured(check)} ({name_bounds(checked)}), {format_limit(check)}; {describe_verdict(check)}"
        place = visible(name_conditions(worst, labels))
        case = ElementTree.SubElement(suite, "testcase", classname=visible(f"gate.{name}"))
        case.set("name", f"{name_threshold(check)}: {place}")
        listed = [describe_broken_question(own) for own in broken if own.check is check] if check.is_counted else []
        lines_of_case = "\n".join([words, *listed])
        if worst.n_failing:
            failure = ElementTree.SubElement(case, "failure", message=words, type=check.verdict)
            failure.text = f"{place}: {lines_of_case}"
        else:
            ElementTree.SubElement(case, "system-out").text = lines_of_case
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suite, encoding="unicode") + "\n"


def format_markdown(checked: Checked, name: str, against: str | None, broken: Sequence[BrokenQuestion]) -> str:
    """The verdict, a table, and questions that broke."""
    labels = labels_of(checked.checks)
    beside = "" if against is None else f" against {_foreign(against)}"
    rows = [
        (
            "✅" if not worst.n_failing else "❌",
            _text(name_threshold(worst.check)),
            _foreign(name_conditions(worst, labels)),
            _text(format_measured(worst.check)),
            _text(format_limit(worst.check)),
            _text(describe_verdict(worst.check)),
        )
        for worst in checked.worst()
    ]
    head = ("", "threshold", "where", f"measured, {name_bounds(checked)}", "allowed", "verdict")
    lines = [
        f"### {'✅' if checked.passes else '❌'} Robustness of {_foreign(name)}{beside}",
        "",
        _text(describe_checked(checked)),
        "",
        *_table(head, rows),
    ]
    lines += ["", describe_bounds(checked)]
    remarks = [*describe_broken(checked), *describe_unpaired(checked, labels)]
    lines += ["", *(f"- {_foreign(sentence)}" for sentence in remarks)] if remarks else []
    if broken:
        lines += ["", "<details><summary>Questions that broke</summary>", "", *_broken(broken), "", "</details>"]
    return "\n".join(lines) + "\n"


def _broken(questions: Sequence[BrokenQuestion]) -> list[str]:
    rows = [
        (
            _foreign(own.wording),
            _foreign("; ".join(own.gold)),
            _foreign(own.before) or "no answer",
            _foreign(own.after) or "no answer",
            _foreign(f"{name_threshold(own.check)}: {name_condition(own.cell)}"),
        )
        for own in questions
    ]
    return _table(("question", "accepted", "answer before", "answer after", "broken by"), rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]


def _foreign(text: str) -> str:
    """What people or models wrote. Mentions are made of finished text, but not of code."""
    return f"<code>{_text(text)}</code>" if text.strip() else ""


def _text(text: str) -> str:
    """One line of plain text, whatever it holds: markup, links, marks of direction."""
    flat = " ".join(visible(text).split())
    cut = flat if len(flat) <= MOST_CHARACTERS else flat[: MOST_CHARACTERS - 1] + "…"
    return MARKUP.sub(lambda found: f"&#{ord(found.group())};", cut)


def format_badge(checked: Checked) -> str:
    """An SVG with its own shapes and no links."""
    label, message = "robustness", "passed" if checked.passes else "failed"
    left, inner = 12 + CHARACTER * len(label), 9 + CHARACTER * len(message)
    return BADGE.format(
        width=left + inner + 3,
        left=left,
        inner=inner,
        at=left + 6,
        color=GREEN if checked.passes else RED,
        label=escape(label),
        message=escape(message),
        text=f"{label}: {message}",
    )
