"""How the code is shaped, counted: `python scripts/count_shape.py [PACKAGE FOLDER]`.

Uses of `Any`, accesses by string key (`row["x"]`, `row.get("x")`), the longest function, the most parameters, and the
length of modules, by folder.
"""

from __future__ import annotations

import ast
import statistics
import sys
from collections import Counter
from pathlib import Path

OURS = Path(__file__).parents[1] / "src" / "shaketable"


def counts(file: Path) -> Counter[str]:
    """Of one module."""
    found: Counter[str] = Counter(modules=1)
    text = file.read_text("utf-8")
    found["lines"] = text.count("\n")
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Name(id="Any"):
                found["Any"] += 1
            case ast.Subscript(slice=ast.Constant(value=str())):
                found["keys"] += 1
            case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str()), *_]):
                found["keys"] += 1
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                found["functions"] += 1
    return found


def main(package: Path) -> None:
    folders: dict[str, Counter[str]] = {}
    for file in sorted(package.rglob("*.py")):
        inside = file.relative_to(package).parts
        name = "/".join(inside[:2]) if inside[0] == "report" and len(inside) > 2 else inside[0]
        folders.setdefault(name, Counter()).update(counts(file))
    print(f"{'':24}{'modules':>8}{'lines':>8}{'functions':>10}{'Any':>6}{'keys':>6}")
    for name, found in (*folders.items(), ("all", sum(folders.values(), Counter()))):
        columns = (found[part] for part in ("modules", "lines", "functions", "Any", "keys"))
        print(f"{name:24}{'{:8}{:8}{:10}{:6}{:6}'.format(*columns)}")
    right = sum((found for name, found in folders.items() if name.split("/")[0] in RIGHT), Counter())
    print(f"analyses, statistics, report: {right['Any']} uses of Any, {right['keys']} accesses by string key")
    lengths = [file.read_text("utf-8").count("\n") for file in package.rglob("*.py")]
    print(f"median module: {statistics.median(lengths):g} lines; entries at the top: {len(entries(package))}")


def entries(package: Path) -> list[str]:
    return sorted(entry.name for entry in package.iterdir() if entry.name != "__pycache__")


RIGHT = ("analyses", "statistics", "report", "charts")

if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else OURS)
