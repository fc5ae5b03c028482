"""The house stays small: short functions with few parameters, few entries at the top, no cycles, short modules."""

from __future__ import annotations

import ast
import statistics
from collections.abc import Iterator, Mapping

import pytest
from test_line import PACKAGE, imports

MOST_LINES = 60
MOST_PARAMETERS = 8
MOST_ENTRIES = 30
LONGEST_MEDIAN = 100

READ_BY_PROMISE = ("catalog.py", "factors.py", "stages", "store", "analyses", "report", "viewer")
"""Where parts are used, and nothing is read from them by the text of its name."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


# --- functions ------------------------------------------------------------------------------------


def functions(source: str) -> Iterator[Function]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, Function):
            yield node


def n_lines(function: Function) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def n_parameters(function: Function) -> int:
    given = function.args
    named = [one for one in (*given.posonlyargs, *given.args, *given.kwonlyargs) if one.arg not in ("self", "cls")]
    return len(named) + (given.vararg is not None) + (given.kwarg is not None)


def is_set_from_outside(function: Function) -> bool:
    """A compiled kernel takes arrays, and a command has as many parameters, with a line or two each, as options."""
    compiled = any("jit" in ast.unparse(decorator) for decorator in function.decorator_list)
    annotations = [
        ast.unparse(one.annotation) for one in (*function.args.args, *function.args.kwonlyargs) if one.annotation
    ]
    return compiled or any("typer.Argument" in text or "typer.Option" in text for text in annotations)


def too_large(source: str) -> list[str]:
    """The names of functions that are too long, or take too much."""
    return [
        function.name
        for function in functions(source)
        if n_lines(function) > MOST_LINES
        or (n_parameters(function) > MOST_PARAMETERS and not is_set_from_outside(function))
    ]


def test_no_function_is_too_long_or_takes_too_much():
    found = {
        f"{file.relative_to(PACKAGE).as_posix()}: {name}"
        for file in PACKAGE.rglob("*.py")
        for name in too_large(file.read_text("utf-8"))
    }
    assert found == set()


def test_no_function_of_a_benchmark_is_too_long():
    folder = PACKAGE.parents[1] / "benchmarks"
    assert {file.name: names for file in folder.glob("*.py") if (names := too_large(file.read_text("utf-8")))} == {}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def short(a, b):\n    pass", []),
        ("def long():\n" + "    pass\n" * 60, ["long"]),
        ("def wide(a, b, c, d, e, f, g, h, i):\n    pass", ["wide"]),
        ("class A:\n    def eight(self, a, b, c, d, *, e, f, g, h):\n        pass", []),
        ("class A:\n    async def nine(self, a, b, c, d, e, f, g, *h, **i):\n        pass", ["nine"]),
        ("@numba.njit(cache=True)\ndef kernel(a, b, c, d, e, f, g, h, i):\n    pass", []),
        ("def command(a: Annotated[str, typer.Option()], b, c, d, e, f, g, h, i):\n    pass", []),
    ],
)
def test_a_function_that_is_too_large_is_named(source, names):
    assert too_large(source) == names


# --- the package ----------------------------------------------------------------------------------


def test_the_top_of_the_package_is_read_at_a_glance():
    for_python = ("__main__.py", "__pycache__")  # Whose place Python decides.
    entries = [entry.name for entry in PACKAGE.iterdir() if entry.name not in for_python]
    assert len(entries) <= MOST_ENTRIES, sorted(entries)


def test_half_of_the_modules_fit_a_screen_or_two():
    lengths = [len(file.read_text("utf-8").splitlines()) for file in PACKAGE.rglob("*.py")]
    assert statistics.median(lengths) <= LONGEST_MEDIAN


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
