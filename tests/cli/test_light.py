"""What the commands say in an install without extras, and how they write the command that comes next."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from shaketable import errors
from shaketable.cli import console
from shaketable.cli.app import app
from shaketable.cli.console import guarded, typed


@pytest.fixture
def light(monkeypatch, tmp_path):
    """An install that has no package of any extra, and an empty folder."""
    monkeypatch.setattr(errors, "is_installed", lambda module: False)
    monkeypatch.chdir(tmp_path)


def said(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, words)
    assert done.exit_code == code, done.output
    return " ".join(done.output.split())


def test_the_demo_says_what_to_install(light, tmp_path):
    sentence = "The demo needs the packages torch, transformers and spacy: pip install 'shaketable[local]'."
    assert said("demo", code=2) == f"Error: {sentence} More: shaketable docs installing"
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_says_what_is_missing(light):
    assert (
        "it would not run here. cross.models: Model 'smollm2' needs the packages torch and transformers: pip install "
        "'shaketable[local]'." in said("run", "demo", "--dry-run")
    )


@pytest.mark.parametrize("command", ["validate", "run"])
def test_a_study_with_parts_that_cannot_be_used_is_refused_with_each_of_them(light, tmp_path, command):
    words = said(command, "demo", code=2)
    for named in ("Model 'smollm2'", "Perturbation 'entity_masking'", "Metric 'bertscore'"):
        assert words.count(named) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("perturb", "entity_masking"), "Perturbation 'entity_masking' needs the package spacy"),
        (("perturb", "sentence_removal", "--retriever", "bm25"), "Retriever 'bm25' needs the package numba"),
        (("vary", "formality", "Who directed Jaws?"), "Variation 'formality' needs the packages torch"),
    ],
)
def test_commands_that_show_a_part_say_what_it_needs(light, words, sentence):
    assert sentence in said(*words, code=2)


def test_paraphrases_by_rules_are_listed_as_checked_by_rules(light):
    rows = {row["name"]: row for row in json.loads(said("ls", "variations", "--json"))}
    assert {name for name, row in rows.items() if "check" in row} == {"keywords", "grammar", "disfluency"}
    assert "Checked by rules" in said("ls", "keywords")


def test_the_doctor_lists_extras_that_are_missing_without_a_fault(monkeypatch):
    monkeypatch.setattr("shaketable.cli.looking._version", lambda package: None if package == "numba" else "1.0")
    checks = json.loads(CliRunner().invoke(app, ["doctor", "--json"]).stdout)["checks"]
    [bm25] = [check for check in checks if check["what"] == "extra bm25 (the retriever bm25)"]
    assert bm25["ok"] is None
    assert bm25["found"] == "not installed: numba"
    assert bm25["advice"] == "pip install 'shaketable[bm25]'"


def test_an_import_that_nobody_foresaw_ends_with_the_extra_and_any_other_as_it_is(light, capsys):
    @guarded
    def command(module: str) -> None:
        raise ModuleNotFoundError(f"No module named '{module}'", name=module)

    with pytest.raises(console.typer.Exit):
        command("faiss.swigfaiss")
    assert "This needs the package faiss-cpu: pip install 'shaketable[dense]'." in " ".join(
        capsys.readouterr().err.split()
    )
    with pytest.raises(ModuleNotFoundError):
        command("nowhere")


def test_python_runs_the_package():
    done = subprocess.run([sys.executable, "-m", "shaketable", "--help"], capture_output=True, text=True)
    assert done.returncode == 0
    assert "python -m shaketable" in done.stdout


@pytest.mark.parametrize(
    ("started", "on_path", "expected"),
    [
        (".venv/bin/shaketable", None, ".venv/bin/shaketable"),
        ("{here}/.venv/bin/shaketable", None, ".venv/bin/shaketable"),
        ("{here}/.venv/bin/shaketable", "{here}/.venv/bin/shaketable", "shaketable"),
        ("{here}/.venv/bin/shaketable", "/usr/bin/shaketable", ".venv/bin/shaketable"),
        ("/opt/my tools/shaketable", None, "'/opt/my tools/shaketable'"),
        ("{here}/src/shaketable/__main__.py", None, "{python} -m shaketable"),
        ("/somewhere/pytest/__main__.py", None, "shaketable"),
    ],
)
def test_the_next_command_is_written_as_it_must_be_typed(monkeypatch, tmp_path, started, on_path, expected):
    monkeypatch.chdir(tmp_path)
    here = str(Path.cwd())
    monkeypatch.setattr(sys, "argv", [started.format(here=here)])
    monkeypatch.setattr("shutil.which", lambda name: on_path and on_path.format(here=here))
    assert typed() == expected.format(python=sys.executable)
