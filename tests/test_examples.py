"""Every example runs by the command that its README gives; workflow files are read, and their commands exist."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from test_documentation import wrong_commands

from shaketable.store import Run

EXAMPLES = Path(__file__).parent.parent / "examples"
README = (EXAMPLES / "README.md").read_text("utf-8")
COMMANDS = [
    command
    for row in re.findall(r"^\| \[.*$", README, re.MULTILINE)
    for command in re.findall(r"`([^`]+)`", row.split("|")[2])
]
WORKFLOWS = sorted(file for file in (EXAMPLES / "ci").iterdir())


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    return tmp_path / "examples"


def call(command: str, folder: Path) -> str:
    """What a command prints; each `&&` is a command of its own."""
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "SHAKETABLE_OFFLINE": "1",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    told = ""
    for one in command.split("&&"):
        done = subprocess.run(
            shlex.split(one), cwd=folder, env=environment, capture_output=True, text=True, timeout=500
        )
        assert done.returncode == 0, f"{one}\n{done.stdout}\n{done.stderr}"
        told += done.stdout + done.stderr
    return told


FAST = [
    ("shaketable run function/study.toml", " --limit 4 --out runs/function", "function", 32),
    ("python own_parts.py", " 4", "own-parts", 12),
]
SLOW = [
    ("python endpoint.py", " 4", "endpoint", 16),
    ("shaketable run names.toml", " --limit 4 --out runs/names", "names", 8),
    ("python compare.py", " 8", "compare", 64),
]
WITH_WEIGHTS = [
    ("python langchain_chain.py", " 2", "langchain", 8),
    ("python llamaindex_engine.py", " 2", "llamaindex", 8),
    ("shaketable run two_prompts/study.toml", " --limit 2 --out runs/prompts", "prompts", 16),
]
GATE = "shaketable run gate.toml && shaketable check runs/gate --markdown gate.md"
PYTEST = "pytest test_robustness.py"
NOTEBOOK = "jupyter lab notebook.ipynb"


@pytest.mark.parametrize(
    ("command", "smaller", "name", "n_trials"),
    [
        *(pytest.param(*example, id=example[2]) for example in FAST),
        *(pytest.param(*example, id=example[2], marks=pytest.mark.slow) for example in SLOW),
        *(pytest.param(*one, id=one[2], marks=[pytest.mark.weights, pytest.mark.slow]) for one in WITH_WEIGHTS),
    ],
)
def test_an_example_runs_to_its_report(folder, command, smaller, name, n_trials):
    call(command + smaller, folder)
    run = Run(folder / "runs" / name)
    summary = run.summary()
    assert (summary.done, summary.failed) == (n_trials, 0)
    assert (run.folder / "report.html").is_file()


@pytest.mark.slow
def test_the_gate_and_the_test_of_a_team_pass(folder):
    assert "passed" in call(GATE, folder)
    assert (folder / "gate.md").read_text("utf-8")
    assert "1 passed" in call(f"{PYTEST} -p no:cacheprovider", folder)


@pytest.mark.slow
def test_the_notebook_runs_and_shows_one_line_of_progress_and_a_card(folder):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.read(folder / "notebook.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    [cell] = [cell for cell in notebook.cells if "shaketable.run(" in cell.source]
    texts = ["".join(output.get("data", {}).get("text/plain", "")) for output in cell.outputs]
    cards = [output.data["text/html"] for output in cell.outputs if "text/html" in output.get("data", {})]
    assert len([text for text in texts if text.startswith("done: ")]) == 1
    assert len(cell.outputs) == 2, texts
    assert "notebook" in cards[0]
    assert "<li>" in cards[0]
    assert "runs/notebook/report.html" in cards[0]


def test_the_readme_lists_every_example_and_the_tests_run_each():
    run_here = {command for command, *_ in (*FAST, *SLOW, *WITH_WEIGHTS)} | {GATE, PYTEST, NOTEBOOK}
    assert set(COMMANDS) == run_here
    elsewhere = {"shake", "explain", "extend", "limits"}  # They have tests of their own.
    listed = {link.partition("/")[0] for link in re.findall(r"^\| \[[^]]+\]\(([^)]+)\)", README, re.MULTILINE)}
    there = {entry.name for entry in EXAMPLES.iterdir()} - {"README.md", "embedded.py", "runs", "__pycache__"}
    assert there - elsewhere <= listed


@pytest.mark.parametrize("file", WORKFLOWS, ids=[file.name for file in WORKFLOWS])
def test_a_workflow_file_is_read_and_its_commands_exist(file, tmp_path):
    text = file.read_text("utf-8")
    if file.suffix == ".yml":
        assert isinstance(yaml.safe_load(text), dict)
    commands = re.findall(r"\bshaketable (?:run|check)[^\n';]*", text)
    assert len(commands) >= 2
    shown = [re.sub(r'"?(runs/)?\$\w+"?', "runs/new", command) for command in commands]
    page = "```bash\n" + "\n".join(one.replace("gate.toml", "mine.toml") for one in shown) + "\n```\n"
    assert wrong_commands(page, tmp_path) == []
