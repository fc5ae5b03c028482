"""What a user reads speaks the field's language: the help of every command, what components say of themselves, reports.

House words stand where they teach: the name of the tool and of `shake`.
"""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import shaketable
from shaketable import catalog
from shaketable.cli.app import COMMANDS, app

PACKAGE = Path(shaketable.__file__).parent
HOUSE_WORDS = re.compile(r"\b(dice|heat|heated|heating|hotter|hottest|coolest|cooler|how hot|as hot)\b", re.IGNORECASE)
"""For sampling temperature, noise of sampling, lowest and highest."""
PARTS = re.compile(r"\bthe parts there are\b|\bis no part\b|\beach part\b|\bsame part\b", re.IGNORECASE)
"""For component."""
KEYS = {"dice", "heat"}
"""Names of chapters and claims in files and addresses, which stay as they are."""
READ = (
    *("report", "cli", "viewer", "stages", "store", "analyses", "annotation", "variations/gate", "study"),
    "catalog.py",
)


def names():
    return [command.__name__.rstrip("_").replace("_", "-") for command in COMMANDS]


@pytest.mark.parametrize("name", ["", *names()])
def test_help_speaks_the_language_of_the_field_and_fits_80_columns(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    result = CliRunner().invoke(app, [*([name] if name else []), "--help"], terminal_width=80)
    assert result.exit_code == 0
    assert not HOUSE_WORDS.search(result.output) and not PARTS.search(result.output)
    assert max(map(len, result.output.splitlines())) <= 80


@pytest.mark.parametrize("kind", list(catalog.KINDS))
def test_what_a_component_says_of_itself_does(kind):
    for name in catalog.known(kind):
        part = catalog.find(kind, name)
        about = (inspect.getdoc(part) or "").split("\n\n")[0]
        assert not HOUSE_WORDS.search(about), f"{kind} {name}: {about}"


def test_formality_and_readability_say_in_which_direction_they_go():
    said = {name: inspect.getdoc(catalog.find("variation", name)) for name in ("formality", "readability")}
    assert said["formality"].startswith("Less formal, never more: ") and said["readability"].startswith(
        "Harder to read"
    )


def texts(file):
    """The strings of a module that are neither docstrings nor keys."""
    tree = ast.parse(file.read_text("utf-8"))
    bodies = [node.body for node in ast.walk(tree) if isinstance(getattr(node, "body", None), list)]
    docs = {id(own.value) for body in bodies for own in body if isinstance(own, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.lineno, node.value


def test_reports_messages_and_pages_do():
    files = [file for place in READ for file in (PACKAGE / place).rglob("*.py")]
    files += [PACKAGE / place for place in READ if place.endswith(".py")]
    wrong = [
        f"{file.relative_to(PACKAGE)}:{line}: {text[:100]}"
        for file in files
        for line, text in texts(file)
        if text not in KEYS and (HOUSE_WORDS.search(text) or PARTS.search(text))
    ]
    assert len(files) > 300 and not wrong, "\n".join(wrong)


def test_what_pages_say_around_results_does():
    templates = list((PACKAGE / "resources").rglob("*.html"))
    assert templates
    for file in templates:
        text = re.sub(r"\{[{%#].*?[}%#]\}", "", file.read_text("utf-8"), flags=re.DOTALL)
        assert not HOUSE_WORDS.search(text), file.name
