"""A list of the study → the parts that it names."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from shaketable import catalog
from shaketable.errors import PartError, StudyError
from shaketable.protocols import CalledPart, Part, Variation
from shaketable.types import Study

AnyPart = TypeVar("AnyPart", bound=Part)


@contextlib.contextmanager
def told_where(where: str) -> Iterator[None]:
    """What is wrong with a part is said with its place in the study."""
    try:
        yield
    except PartError as error:
        raise PartError(f"{where}: {error}") from error


def each_once(name: str, texts: Sequence[str], build: Callable[[str, str], AnyPart]) -> list[AnyPart]:
    """The parts of one list of the study. Two texts for one part would make every trial twice under one key."""
    built: dict[str, tuple[str, AnyPart]] = {}
    for i, text in enumerate(texts):
        where = f"cross.{name}[{i}]"
        part = build(text, where)
        with told_where(f"{where}: {text}"):
            same, _ = built.setdefault(catalog.spelled(part), (text, part))
        if same != text:
            other = " Another name makes no other component." if isinstance(part, CalledPart) else ""
            raise StudyError(f"{where}: '{text}' is the same component as '{same}'.{other} Name each component once.")
    return [part for _, part in built.values()]


def refuse_shared_names(parts: Mapping[str, Sequence[Part]]) -> None:
    """A name that two parts of the systems have would make one system of two."""
    places: dict[str, str] = {}
    for list_name, own in parts.items():
        for i, part in enumerate(own):
            where, name = f"cross.{list_name}[{i}]", catalog.label(part)
            if isinstance(part, CalledPart) and name in places:
                raise StudyError(
                    f"{where}: the name '{name}' is given to {catalog.written(part)}, and {places[name]} has it too. "
                    "Give each component a name of its own."
                )
            places[name] = f"{where}, {catalog.written(part)},"


def variations_of(study: Study) -> list[Variation]:
    return each_once("variations", study.variations, lambda text, where: catalog.build("variation", text, where))
