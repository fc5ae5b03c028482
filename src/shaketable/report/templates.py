"""The templates of report and viewer: autoescape on, and no character that hides or turns others round."""

from __future__ import annotations

import base64
from typing import Any

import jinja2
from markupsafe import Markup

from shaketable.report.glossary import NUMBERS, VERDICTS
from shaketable.report.machine_words import tell_machine
from shaketable.report.money_words import format_dollars
from shaketable.report.words import format_entry, name_evidence
from shaketable.text.unseen import visible


def _shown(value: Any) -> Any:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _data_uri(text: str, kind: str) -> str:
    return f"data:{kind};base64," + base64.b64encode(text.encode()).decode()


environment = jinja2.Environment(
    loader=jinja2.PackageLoader("shaketable", "resources/templates"),
    autoescape=True,
    finalize=_shown,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
environment.filters.update(
    entry=format_entry,
    data_uri=_data_uri,
    named=name_evidence,
    dollars=format_dollars,
    told_machine=tell_machine,
    unbroken=lambda text: text.replace(" %", "\u00a0%"),
    thousands=lambda number: f"{number:,}",
)
environment.globals["glossary"] = (("Words of the verdict", VERDICTS), ("How numbers are written", NUMBERS))
