"""A list of the study → the parts that it names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from shaketable import catalog
from shaketable.errors import StudyError
from shaketable.protocols import Part, Variation
from shaketable.types import Study

AnyPart = TypeVar("AnyPart", bound=Part)


def each_once(name: str, texts: Sequence[str], build: Callable[[str, str], AnyPart]) -> list[AnyPart]:
    """The parts of one list of the study. Two texts for one part would make every trial twice under one key."""
    built: dict[str, tuple[str, AnyPart]] = {}
    for i, text in enumerate(texts):
        where = f"cross.{name}[{i}]"
        part = build(text, where)
        same, _ = built.setdefault(catalog.spelled(part), (text, part))
        if same != text:
            raise StudyError(f"{where}: '{text}' is the same part as '{same}'. Name each part once.")
    return [part for _, part in built.values()]


def variations_of(study: Study) -> list[Variation]:
    return each_once("variations", study.variations, lambda text, where: catalog.build("variation", text, where))
