"""What all parts made of functions share: the function, its settings as fields, the digest of its code."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from shaketable import catalog
from shaketable.errors import PartError
from shaketable.stages.own.signature import Function, Signature


class FunctionPart:
    version: ClassVar[int]
    name: ClassVar[str]
    source_digest: ClassVar[str]
    function: ClassVar[Function]
    given: ClassVar[frozenset[str]]
    """What the function takes by name beside its settings."""

    def call(self, first: object, available: Mapping[str, object]) -> Any:
        """The function's reply to one thing, with its settings and what it takes of what there is."""
        settings = {field.name: getattr(self, field.name) for field in self._settings()}
        return type(self).function(
            first, **settings, **{name: value for name, value in available.items() if name in self.given}
        )

    def _settings(self) -> list[dataclasses.Field[Any]]:
        """Those of the function; the program's own are marked."""
        return [field for field in dataclasses.fields(self) if not field.metadata.get("is_own")]  # type: ignore[arg-type]


AnyFunctionPart = TypeVar("AnyFunctionPart", bound=FunctionPart)
OWN = {"is_own": True}
"""Marks a field that the function is not given."""


def make_class(
    base: type[AnyFunctionPart],
    function: Function,
    signature: Signature,
    name: str,
    more: Mapping[str, object],
) -> type[AnyFunctionPart]:
    """A part whose settings are those of the function. `more` are attributes of the class."""
    known = (name for owner in base.__mro__ for name in (*vars(owner), *vars(owner).get("__annotations__", ())))
    taken = set(known) - {"seed"}
    for setting, _, _ in signature.settings:
        if setting in taken:
            raise PartError(
                f"{name}: a setting cannot be called '{setting}', which means something else here. Rename it."
            )
    namespace = {
        "name": name,
        "function": staticmethod(function),
        "given": signature.takes,
        "__doc__": function.__doc__ or f"The function {function.__name__}.",
        "__module__": function.__module__,
        **more,
    }
    class_name = "".join(word.capitalize() for word in name.split("_"))
    made = dataclasses.make_dataclass(
        class_name, signature.settings, bases=(base,), frozen=True, kw_only=True, namespace=namespace
    )
    assert issubclass(made, base)
    return made


def trouble(part: FunctionPart, error: BaseException, where: str) -> PartError:
    """What a function raised, as words that its author can act on."""
    raised = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    line = _line(part, error)
    return PartError(f"{catalog.name_of(part)}{line} raised {raised:.300} for {where}. Mend it and run again.")


def _line(part: FunctionPart, error: BaseException) -> str:
    """The last line of the function's own file that the error came through."""
    file = type(part).function.__code__.co_filename
    lines, step = [], error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == file:
            lines.append(step.tb_lineno)
        step = step.tb_next
    return f", line {lines[-1]}," if lines else ""
