"""A study that a page has whole, with its name, is run; parts of studies are read by `test_documentation.py`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import page_commands
import pytest
from page_commands import Block
from test_documentation import NEEDS_WEIGHTS
from test_documented_commands import PAGES, TUTORIAL
from typer.testing import CliRunner

from shaketable.cli.app import app
from shaketable.store import Run

PLANNED = {"docs/gpu.md": "it needs a GPU, and weights of a model hub"}
"""Page → why its study is planned alone."""


def whole_studies(pages: Mapping[str, str]) -> Iterator[tuple[str, Block]]:
    for page, text in pages.items():
        for block in page_commands.blocks(text, "toml"):
            if {"name", "cross"} <= tomllib.loads(block.text).keys():
                yield page, block


def each_study() -> Iterator[object]:
    for page, block in whole_studies(PAGES):
        marks = [pytest.mark.slow, pytest.mark.weights] if NEEDS_WEIGHTS.search(block.text) else []
        if page != TUTORIAL:  # Its study is run by `test_tutorial.py`.
            yield pytest.param(page, block, id=f"{page}:{block.line}", marks=marks)


@pytest.mark.parametrize(("page", "block"), list(each_study()))
def test_a_whole_study_of_a_page_runs_with_one_question(page, block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SHAKETABLE_OFFLINE", "1")
    Path("study.toml").write_text(block.text, "utf-8")
    options = ["--dry-run"] if page in PLANNED else ["--out", "run"]
    result = CliRunner().invoke(app, ["run", "study.toml", "--limit", "1", *options])
    assert result.exit_code == 0, result.output
    if page not in PLANNED:
        summary = Run("run").summary()
        assert summary.done == summary.trials > 0 and summary.failed == 0


def test_pages_have_whole_studies_and_those_that_are_planned_alone_are_among_them():
    pages = {page for page, _ in whole_studies(PAGES)}
    assert PLANNED.keys() | {"README.md", "docs/prompts.md", TUTORIAL} <= pages


def test_a_part_of_a_study_is_told_from_a_whole_one():
    page = '```toml\n[cross]\nrepeats = 2\n```\n\n```toml\nname = "own"\n[cross]\nrepeats = 3\n```\n'
    assert [block.line for _, block in whole_studies({"page": page})] == [7]
