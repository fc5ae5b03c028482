"""Values flow right, imports point left: reads every import of the package and names those that bend."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import shaketable

PACKAGE = Path(shaketable.__file__).parent

# --- the drawing, as tables -----------------------------------------------------------------------

PARTS = ("datasets", "variations", "perturbations", "retrievers", "models", "methods", "metrics", "analyses")
"""Folders of interchangeable parts. Files that the folder's CATALOG does not list are its helpers."""

CORE = ("types", "protocols", "errors", "identity", "catalog", "study", "factors", "weights")
"""The names at the top, files and folders; prompts, which are texts, count as such."""

MAY_IMPORT = {
    # place: what it may import, beside the helpers of its own folder. `core` is every module at the top;
    # `door` is the package itself, which offers the names in `__all__`; `helpers` are files of parts that are no parts.
    "core": ("core",),
    "text": ("core", "text"),
    "statistics": ("core", "statistics"),
    "engine": ("core", "text", "engine"),
    "facts": ("core", "text", "facts"),
    "datasets": ("core", "text"),
    "variations": ("core", "text"),
    "perturbations": ("core", "text"),
    "retrievers": ("core", "text"),
    "models": ("core", "text", "engine"),
    "methods": ("core", "text"),
    "metrics": ("core", "text", "facts"),
    "analyses": ("core", "text", "facts", "statistics"),
    "store": ("core", "text", "store"),
    "report": ("core", "text", "helpers", "facts", "statistics", "store", "report", "analyses"),
    "stages": ("core", "text", "facts", "engine", "helpers", "statistics", "store", "report", "stages"),
    "annotation": ("core", "text", "statistics", "helpers", "report", "viewer", "annotation"),
    "viewer": ("core", "text", "facts", "helpers", "analyses", "store", "stages", "report", "viewer"),
    "cli": ("core", "text", "helpers", "store", "stages", "report", "annotation", "viewer", "cli"),
    "door": ("core", "store", "stages"),
    "__main__": ("cli",),
}

NEVER = {
    # module or folder: what it never imports, though its place would allow it.
    "types": ("core",),
    "errors": ("core",),
    "identity": ("core",),
    "text": ("study", "catalog", "prompts"),
    "statistics": ("study", "catalog", "prompts", "protocols"),
    "engine": ("study", "catalog", "prompts"),
    "datasets": ("prompts", "encoder"),
    "variations": ("study",),
    "perturbations": ("prompts", "study"),
    "retrievers": ("prompts", "study"),
    "models": ("prompts", "study"),
    "methods": ("catalog", "study"),
    "metrics": ("study",),
    "analyses": ("prompts", "study"),
    "facts": ("prompts", "catalog", "study", "weights"),
    "store": ("prompts",),
    "report": ("prompts",),
}

IN_ORDER = {
    "types": (
        *("plain", "studies", "questions", "wordings", "evidence", "prompts", "steps", "trials", "numbers", "findings"),
    ),
    "stages": ("vary", "plan", "answer", "score", "analyze", "report"),
}
"""The values and the arrows from left to right; none imports one to its right."""

SQL = re.compile(
    r"\b(SELECT|INSERT (OR \w+ )?INTO|DELETE FROM|UPDATE \w+ SET|CREATE (TEMP )?TABLE|PRAGMA|ORDER BY|GROUP BY)\b"
    r"|\b(IN|VALUES) \(|\bIS (NOT )?NULL\b|\bWHERE \w"
)
"""What tells a statement, or a piece of one, from other texts."""
EXECUTING = ("execute", "executemany", "executescript")

HEAVY = ("torch", "transformers", "spacy", "altair", "vl_convert", "openai", "statsmodels", "scipy")
LIGHT = (
    *("shaketable", "shaketable.catalog", "shaketable.study", "shaketable.stages.plan", "shaketable.cli"),
    *("shaketable.viewer.pages", "shaketable.annotation.server"),
)
"""What starts in an instant, because none of it loads a heavy library."""


# --- the checker ----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Import:
    file: Path
    line: int
    importer: tuple[str, ...]
    """The importing module below the package: `("metrics", "rouge")`."""
    imported: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {'.'.join(self.importer) or 'the package'} imports {'.'.join(self.imported)}"


def bends(package: Path) -> list[str]:
    """One sentence for each import that bends: file, line, import, reason."""
    parts = {folder: _listed(package / folder) for folder in PARTS}
    found = []
    for one in imports(package):
        reason = _bend(one, parts)
        if reason:
            found.append(f"{one}: {reason}")
    return found


@functools.cache
def imports(package: Path) -> tuple[Import, ...]:
    """Every import of the package by itself, also those in functions, for type checkers, and by name."""
    return tuple(_imports(package))


def _imports(package: Path) -> Iterator[Import]:
    for file in sorted(package.rglob("*.py")):
        inside = file.relative_to(package).with_suffix("").parts
        importer = inside[:-1] if inside[-1] == "__init__" else inside
        above = inside[:-1]
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            for imported in _imported(node, package, above):
                yield Import(file=file.relative_to(package), line=node.lineno, importer=importer, imported=imported)


def _imported(node: ast.AST, package: Path, above: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The modules below the package that a statement imports."""
    root = package.name
    match node:
        case ast.Import(names=names):
            texts = [alias.name for alias in names]
        case ast.ImportFrom(module=module, names=names, level=level):
            start = [root, *above[: len(above) - level + 1]] if level else []
            base = ".".join([*start, *(module.split(".") if module else [])])
            texts = [f"{base}.{alias.name}" for alias in names]
        case ast.Call(args=[ast.Constant(value=str(text)), *_]) if _name(node.func) in ("import_module", "__import__"):
            texts = [text]
        case _:
            return []
    modules = {_module(package, text.split(".")[1:]) for text in texts if text.split(".")[0] == root}
    return sorted(module for module in modules if module)


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _module(package: Path, steps: list[str]) -> tuple[str, ...]:
    """The part of a dotted text that is a module; the rest are names in it."""
    while steps and not (package.joinpath(*steps).with_suffix(".py").is_file() or package.joinpath(*steps).is_dir()):
        steps = steps[:-1]
    return tuple(steps)


def _listed(folder: Path) -> set[str]:
    """The files that a folder's CATALOG names."""
    file = folder / "__init__.py"
    for node in ast.parse(file.read_text("utf-8")).body if file.is_file() else ():
        match node:
            case (
                ast.Assign(targets=[ast.Name(id="CATALOG")], value=value)
                | ast.AnnAssign(target=ast.Name(id="CATALOG"), value=ast.expr() as value)
            ):
                return {target.partition(":")[0] for target in ast.literal_eval(value).values()}
    return set()


def _place(module: tuple[str, ...]) -> str:
    if not module:
        return "door"
    return module[0] if module[0] in MAY_IMPORT else "core"


def _bend(one: Import, parts: dict[str, set[str]]) -> str | None:
    here, there = _place(one.importer), _place(one.imported)
    is_part = there in PARTS and ".".join(one.imported[1:]) in parts[there]
    if here in PARTS and here == there:
        same = one.importer == one.imported
        return "parts do not import one another" if is_part and not same else None
    if here in PARTS and there in PARTS:
        return f"parts do not import one another, and {here} are none of {there}"
    allowed = MAY_IMPORT[here]
    if there not in allowed and not (there in PARTS and "helpers" in allowed and not is_part):
        return f"{here} may import {', '.join(word for word in allowed)}"
    own = one.importer[0] if one.importer and one.importer[0] in NEVER else ""
    if own and own != one.imported[0] and (one.imported[0] in NEVER[own] or there in NEVER[own]):
        return f"{own} never imports {', '.join(NEVER[own])}"
    order = IN_ORDER.get(one.imported[0], ()) if one.importer[:1] == one.imported[:1] else ()
    if order and {one.importer[-1], one.imported[-1]} <= set(order):
        right = order.index(one.imported[-1]) > order.index(one.importer[-1])
        return f"{one.imported[-1]} stands to the right of {one.importer[-1]}" if right else None
    return None


def sql_outside_the_store(package: Path) -> list[str]:
    """One sentence for each place outside `store/` that speaks SQL: file, line, what it does."""
    sentences = []
    for file in sorted(package.rglob("*.py")):
        inside = file.relative_to(package)
        if inside.parts[0] != "store":
            tree = ast.parse(file.read_text("utf-8"))
            sentences += [f"{inside}:{node.lineno}: {done}" for node in ast.walk(tree) if (done := _speaks_sql(node))]
    return sentences


def _speaks_sql(node: ast.AST) -> str | None:
    match node:
        case ast.Import(names=names) if any(alias.name == "sqlite3" for alias in names):
            return "imports sqlite3"
        case ast.ImportFrom(module="sqlite3"):
            return "imports sqlite3"
        case ast.Call(func=ast.Attribute(attr=name)) if name in EXECUTING:
            return f"calls {name}"
        case ast.Constant(value=str(text)) if SQL.search(text):
            return f"holds SQL: {' '.join(text.split())[:60]}"
    return None


# --- the package ----------------------------------------------------------------------------------


def test_every_import_points_left():
    found = bends(PACKAGE)
    assert not found, "These imports bend:\n" + "\n".join(found)


def test_nothing_but_the_store_speaks_sql():
    sentences = sql_outside_the_store(PACKAGE)
    assert not sentences, "The store has typed queries; give it another where one is missing:\n" + "\n".join(sentences)


def test_every_folder_has_a_place_on_the_line():
    folders = {file.parent.name for file in PACKAGE.glob("*/__init__.py")}
    assert folders - {"prompts", *CORE} == MAY_IMPORT.keys() - {"core", "door", "__main__"}


def test_whatever_else_stands_at_the_top_is_the_core():
    tops = {file.stem for file in PACKAGE.glob("*.py")} | {file.parent.name for file in PACKAGE.glob("*/__init__.py")}
    assert tops - MAY_IMPORT.keys() - {"__init__", "prompts"} == set(CORE)


def test_every_module_of_values_has_a_place_on_the_line():
    modules = {file.stem for file in (PACKAGE / "types").glob("*.py")}
    assert modules - {"__init__"} == set(IN_ORDER["types"])


def test_the_checker_sees_the_imports_there_are():
    seen = {(one.importer, one.imported) for one in imports(PACKAGE)}
    assert (("metrics", "token_f1"), ("metrics", "scoring")) in seen
    assert (("stages", "plan"), ("datasets", "reading", "select")) in seen
    assert (("engine", "local"), ("engine", "sweep")) in seen
    assert len(seen) > 100


def test_planning_and_the_commands_load_no_heavy_library():
    code = f"import sys, {', '.join(LIGHT)}; print(*sorted(sys.modules.keys() & set({HEAVY!r})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [], f"Loaded with {', '.join(LIGHT)}: {done.stdout}"


# --- the checker itself ---------------------------------------------------------------------------


@pytest.fixture
def bent(tmp_path):
    """What the checker says of one file in a small package that is straight otherwise."""
    straight = {
        "__init__.py": "from shaketable.stages.plan import plan",
        "types/__init__.py": "from shaketable.types.findings import Finding",
        "types/numbers.py": "",
        "types/findings.py": "from shaketable.types.numbers import Score",
        "factors.py": "from shaketable.types import Score",
        "study.py": "from shaketable import types",
        "catalog.py": "import importlib",
        "prompts/__init__.py": "",
        "datasets/__init__.py": "CATALOG = {'builtin': 'builtin:load_builtin'}",
        "datasets/builtin.py": "from shaketable.datasets.reading.rows import read",
        "datasets/rows.py": "from shaketable import types",
        "models/__init__.py": "CATALOG: dict[str, str] = {'small': 'small:Small'}",
        "models/small.py": "",
        "methods/__init__.py": "CATALOG = {'once': 'once:Once', 'twice': 'twice:Twice'}",
        "methods/once.py": "from shaketable.methods.asking import ask\nfrom shaketable.prompts import ONCE",
        "methods/twice.py": "",
        "methods/asking.py": "",
        "store/__init__.py": "from shaketable.store.run import Run",
        "store/run.py": "from shaketable.study import load_study",
        "stages/__init__.py": "",
        "stages/plan.py": "from shaketable import catalog\nfrom shaketable.datasets.reading.rows import read",
        "stages/answer.py": "from shaketable.stages.plan import plan\nfrom shaketable.store import Run",
        "cli/__init__.py": "from shaketable.cli import running",
        "cli/running.py": "from shaketable.stages.plan import plan",
    }

    def check(path: str = "", text: str = "") -> list[str]:
        package = tmp_path / "shaketable"
        for name, code in (straight | ({path: text} if path else {})).items():
            file = package / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(code)
        return bends(package)

    return check


def test_a_straight_package_has_no_bends(bent):
    assert bent() == []


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        ("__init__.py", "from shaketable.cli import running", "the package imports cli.running"),
        ("types/numbers.py", "import shaketable.factors", "types.numbers imports factors"),
        ("types/numbers.py", "from shaketable.types import findings", "types.numbers imports types.findings"),
        ("factors.py", "from shaketable.methods.asking import ask", "factors imports methods.asking"),
        ("catalog.py", "from shaketable.store import Run", "catalog imports store"),
        ("catalog.py", "import importlib\nimportlib.import_module('shaketable.cli')", "catalog imports cli"),
        ("datasets/builtin.py", "from shaketable import models", "datasets.builtin imports models"),
        ("methods/twice.py", "from shaketable.methods.once import Once", "methods.twice imports methods.once"),
        ("methods/twice.py", "from .once import Once", "methods.twice imports methods.once"),
        ("methods/asking.py", "from . import once", "methods.asking imports methods.once"),
        ("methods/once.py", "from ..datasets import rows", "methods.once imports datasets.rows"),
        ("methods/once.py", "def f():\n    from shaketable import store", "methods.once imports store"),
        ("methods/once.py", "from shaketable.catalog import build", "methods.once imports catalog"),
        ("models/small.py", "if TYPE_CHECKING:\n    import shaketable.prompts", "models.small imports prompts"),
        ("store/run.py", "from shaketable.stages import plan", "store.run imports stages.plan"),
        ("store/run.py", "from shaketable import prompts", "store.run imports prompts"),
        ("stages/plan.py", "from shaketable.stages.answer import answer", "stages.plan imports stages.answer"),
        ("stages/plan.py", "from shaketable.datasets.builtin import load", "stages.plan imports datasets.builtin"),
        ("stages/plan.py", "from shaketable.cli import running", "stages.plan imports cli.running"),
        ("cli/running.py", "from shaketable.datasets.builtin import load", "cli.running imports datasets.builtin"),
    ],
)
def test_a_bent_import_is_named(bent, path, text, names):
    (found,) = bent(path, text)
    assert found.startswith(f"{path}:{text.count(chr(10)) + 1}: {names}: ")


@pytest.mark.parametrize(
    ("text", "done"),
    [
        ("import sqlite3", "imports sqlite3"),
        ("from sqlite3 import connect", "imports sqlite3"),
        ("connection.executemany(text, rows)", "calls executemany"),
        ("rows = store.rows('SELECT key FROM records')", "holds SQL: SELECT key FROM records"),
        ("records = store.select_records(f'r.key IN ({marks})')", "holds SQL: r.key IN ("),
    ],
)
def test_sql_outside_the_store_is_named(tmp_path, text, done):
    for folder in ("viewer", "store"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "pages.py").write_text(f'"""Select what is where, in order."""\n{text}\n')
    assert sql_outside_the_store(tmp_path) == [f"viewer/pages.py:2: {done}"]
