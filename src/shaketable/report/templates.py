"""The templates of report and viewer: autoescape on, and no character that hides or turns others round."""

from __future__ import annotations

import base64
import re
from typing import Any

import jinja2
from markupsafe import Markup

from shaketable.report.words import format_entry, name_evidence

UNSEEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
"""Control characters, marks of direction and halves of characters."""


def visible(text: str) -> str:
    """What cannot be seen is named: `[U+202E]`."""
    return UNSEEN.sub(lambda found: f"[U+{ord(found.group()):04X}]", text)


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
    entry=format_entry, data_uri=_data_uri, named=name_evidence, thousands=lambda number: f"{number:,}"
)
