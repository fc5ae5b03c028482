"""`shaketable docs`: pages in the terminal, found by names that people type."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from shaketable.cli import documenting
from shaketable.cli.app import app


def call(*words):
    return CliRunner().invoke(app, ["docs", *words])


def test_without_a_page_the_pages_are_listed():
    listed = call().stdout
    assert "study" in listed and "The study file" in listed and "0017" not in listed
    assert {page["page"] for page in json.loads(call("--json").stdout)} >= {"data", "changelog", "study"}


@pytest.mark.parametrize("name", ["data", "docs/data.md", "Data", "data.md"])
def test_a_page_is_found_by_any_way_to_write_it(name):
    result = call(name)
    assert result.exit_code == 0 and result.stdout.startswith("# Your own questions\n")


def test_the_beginning_of_a_name_is_enough():
    assert call("tut").stdout == call("tutorial").stdout


@pytest.mark.parametrize("name", ["decisions/17", "decision 17", "decisions/0017-one-family-of-claims"])
def test_a_decision_is_found_by_its_number(name):
    assert call(name, "--path").stdout.rstrip().endswith("0017-one-family-of-claims.md")


def test_a_part_of_a_page_is_shown_alone():
    shown = call("study#cross.models").stdout
    assert shown.startswith("### `cross.models`") and shown.count("###") == 1


def test_the_path_of_a_page_is_a_file():
    assert Path(call("study", "--path").stdout.strip()).is_file()


def test_an_unknown_page_is_answered_with_the_nearest():
    result = call("stduy")
    assert result.exit_code == 2
    assert "There is no page 'stduy'. Did you mean 'study'?" in result.stderr and "More:" not in result.stderr


def test_an_unknown_part_is_answered_with_the_nearest():
    result = call("study#tabel-cross")
    assert result.exit_code == 2 and "has no part 'tabel-cross'. Did you mean 'table-cross'?" in result.stderr


def test_an_error_names_the_page_that_tells_more():
    result = CliRunner().invoke(app, ["run", "dmeo"])
    assert result.stderr.rstrip().endswith("More: shaketable docs study")


def test_a_wheel_has_its_own_pages(tmp_path, monkeypatch):
    """As an installed package lies: the pages beside the other resources, and no checkout around it."""
    folder = tmp_path / "resources" / "docs"
    folder.mkdir(parents=True)
    (folder / "data.md").write_text("# Of the wheel\n")
    (folder / "CHANGELOG.md").write_text("# Changelog\n")
    monkeypatch.setattr(documenting.resources, "files", lambda package: tmp_path)
    assert [(page.name, page.title) for page in documenting.find_pages()] == [
        ("changelog", "Changelog"),
        ("data", "Of the wheel"),
    ]
