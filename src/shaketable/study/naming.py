"""What a study may be called: its name is that of a folder, and stands in reports and on terminals."""

from __future__ import annotations

import re

from pydantic import ValidationInfo
from pydantic_core import PydanticCustomError

LONGEST = 100
"""Characters; a folder's name has a suffix beside it."""
UNFIT = re.compile(r"[/\\\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
"""What parts folders, and what steers a terminal."""


RUN_IS_THERE = "run_is_there"
"""In the context of the schema: the study is that of a run, which has its folder, and older versions took any name."""


def check_name(name: str, about: ValidationInfo) -> str:
    """Used by the study's schema."""
    if (about.context or {}).get(RUN_IS_THERE):
        return name
    if UNFIT.search(name) or not name.strip(". ") or len(name) > LONGEST:
        raise PydanticCustomError(
            "no_name",
            "the name is that of a folder too: give at most {longest} characters, without slashes and control "
            "characters, and more than dots",
            {"longest": LONGEST},
        )
    return name


def name_after(text: str) -> str:
    """The name of a study that is called after a file."""
    name = UNFIT.sub("-", text)[:LONGEST]
    return name if name.strip(". ") else "study"
