"""No import cycles, and components are read through their protocols, not by the text of a name."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from test_line import PACKAGE, imports

READ_BY_PROMISE = ("catalog.py", "factors.py", "stages", "store", "analyses", "report", "viewer")
"""Where components are used, and nothing is read from them by the text of its name."""


# --- the package ----------------------------------------------------------------------------------


def cycles(imported: Mapping[str, set[str]]) -> list[list[str]]:
    """The modules that reach themselves by imports, those of one cycle together."""
    reached = {module: _reached_from(module, imported) for module in imported}
    circular = sorted(module for module in imported if module in reached[module])
    groups = {
        tuple(sorted(other for other in circular if other in reached[one] and one in reached[other]))
        for one in circular
    }
    return sorted(map(list, groups))


def _reached_from(module: str, imported: Mapping[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = list(imported.get(module, ()))
    while waiting:
        if (other := waiting.pop()) not in reached:
            reached.add(other)
            waiting += imported.get(other, ())
    return reached


def test_no_module_imports_itself_around_others():
    """Imports in functions and for type checkers count too."""
    imported: dict[str, set[str]] = {}
    for statement in imports(PACKAGE):
        if statement.importer:  # The door offers names of the whole package.
            imported.setdefault(".".join(statement.importer), set()).add(".".join(statement.imported))
    assert cycles(imported) == []


def test_a_cycle_is_named():
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [["b", "c"]]
    assert cycles({"a": {"b", "c"}, "b": {"c"}}) == []


# --- promises -------------------------------------------------------------------------------------


def read_by_text(source: str) -> list[str]:
    """The attributes that are looked for by a written name, of which no promise tells."""
    return [
        node.args[1].value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("getattr", "hasattr")
        and isinstance(node.args[1], ast.Constant)
    ]


def test_parts_are_read_by_their_promises_alone():
    files = [
        file
        for name in READ_BY_PROMISE
        for file in ([PACKAGE / name] if name.endswith(".py") else (PACKAGE / name).rglob("*.py"))
    ]
    assert len(files) > 50
    found = {file.relative_to(PACKAGE).as_posix(): read_by_text(file.read_text("utf-8")) for file in files}
    assert {file: names for file, names in found.items() if names} == {}


def test_a_reading_by_text_is_seen():
    assert read_by_text("x = getattr(part, 'seed', 0)\nhasattr(part, name)") == ["seed"]
