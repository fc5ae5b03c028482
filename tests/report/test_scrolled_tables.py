"""What scrolls can be reached with a keyboard and has a name, in every template (axe: scrollable-region-focusable)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import shaketable

TEMPLATES = Path(shaketable.__file__).parent / "resources" / "templates"


@pytest.mark.parametrize("file", sorted(TEMPLATES.rglob("*.html")), ids=lambda file: file.name)
def test_every_table_that_may_scroll_is_reached_and_named(file: Path) -> None:
    for opening in re.findall(r'<div class="table[ "][^>]*>', file.read_text("utf-8")):
        assert 'tabindex="0" role="region" aria-label="' in opening, opening
