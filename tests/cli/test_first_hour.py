"""A new user's first hour: a table, documents, an endpoint and an app with planted weaknesses, command by command."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from planted import Planted, serving, write_project

from shaketable.analyses.claims import claims_of
from shaketable.store import Run

pytestmark = pytest.mark.slow


def command(folder: Path, planted: Planted, *words: str, exit_code: int = 0) -> dict:
    """The JSON object that a command ends with."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "shaketable", *words, "--json"],
        cwd=folder,
        env={**os.environ, "FERRY_URL": planted.url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == exit_code, f"{' '.join(words)}\n{done.stdout}\n{done.stderr}"
    return json.loads(done.stdout)


def confirmed(folder: Path) -> set[tuple[str | None, str | None]]:
    """(Paraphrase, perturbation) of every claim that the run's findings support."""
    cells = [claim.subject.cell for claim in claims_of(Run(folder).findings()).shown if claim.says == "differs"]
    return {(cell.variation, (cell.perturbation or "").partition("(")[0] or None) for cell in cells}


def test_planted_weaknesses_are_confirmed_and_nothing_else(tmp_path):
    planted = write_project(tmp_path)
    with serving(planted) as url:
        command(
            tmp_path,
            planted,
            *(
                "init",
                "--data",
                "questions.csv",
                "--documents",
                "docs",
                "--model",
                "ferry-1",
                "--base-url",
                url,
                "--yes",
            ),
        )
        command(tmp_path, planted, "run", "questions.toml", "--out", "runs/base")
        assert {perturbation for _, perturbation in confirmed(tmp_path / "runs/base")} == {"sentence_removal"}

        words = ("shake", "app.py:answer", "--data", "questions.csv", "--budget", "900 calls", "--out", "runs/shake")
        command(tmp_path, planted, *words)
        [shaken] = [one.result for one in Run(tmp_path / "runs/shake").findings().findings]
        assert {arm.cell.variation for arm in shaken.arms if arm.is_shown} == {"spelling"}

        shutil.copytree(tmp_path / "runs/base", tmp_path / "runs/copy")
        gate = ("--against", "runs/base", "--max-broken", "0", "--max-regression", "0.05", "--undecided", "fail")
        command(tmp_path, planted, "check", "runs/copy", *gate)

        planted.forgotten = set(list(planted.facts)[:40:5])
        command(tmp_path, planted, "run", "questions.toml", "--out", "runs/new")
        command(tmp_path, planted, "check", "runs/new", "--against", "runs/base", "--max-broken", "0", exit_code=100)
