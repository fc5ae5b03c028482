"""The tutorial is done as it is written: its files are made, its commands given, and its output was printed."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest
from served_command import INTERRUPTED, look_once, serves
from typer.testing import CliRunner

from shaketable.cli.app import app

PAGE = (Path(__file__).parents[1] / "docs" / "tutorial.md").read_text("utf-8")
EXIT_CODES = {"check": 100}


@dataclass(frozen=True, kw_only=True)
class Call:
    words: tuple[str, ...]
    expected: tuple[str, ...]
    """Items of output in which all white space is one space, and `…` stands for anything."""
    is_slow: bool
    """So says a remark above the block."""


def written_files(page: str) -> dict[str, str]:
    """The blocks that have a file's name as their title."""
    return {name: text + "\n" for name, text in re.findall(r'```\w+ title="(.+?)"\n(.*?)\n```', page, re.DOTALL)}


def calls(page: str) -> list[Call]:
    found = []
    for mark, block in re.findall(r"(?:<!-- (slow): .+? -->\n)?```console\n(.*?)\n```", page, re.DOTALL):
        for piece in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *lines = piece.splitlines()
            items = re.split(r"\n(?! )", "\n".join(lines).strip("\n"))
            expected = tuple(" ".join(item.split()) for item in items if item.strip() not in ("", "…"))
            found.append(Call(words=tuple(shlex.split(command)[1:]), expected=expected, is_slow=bool(mark)))
    return found


def missing(expected: tuple[str, ...], printed: str) -> list[str]:
    """The items that were not printed."""
    plain = " ".join(printed.split())
    return [item for item in expected if not re.search(re.escape(item).replace("…", ".*?"), plain)]


def follow(page: str, *, slow: bool) -> None:
    for name, text in written_files(page).items():
        Path(name).write_text(text, "utf-8")
    for call in calls(page):
        if call.is_slow and not slow:
            continue
        if serves(call.words):
            code, served = look_once(call.words, Path.cwd())
            assert code == INTERRUPTED and "first" in served
            continue
        result = CliRunner().invoke(app, list(call.words))
        assert result.exit_code == EXIT_CODES.get(call.words[0], 0), result.output
        assert missing(call.expected, result.output) == [], result.output


def test_the_tutorial_prints_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    follow(PAGE, slow=False)


@pytest.mark.slow
@pytest.mark.weights
def test_the_slow_parts_of_the_tutorial_print_what_they_say_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    follow(PAGE, slow=True)


def test_the_tutorial_is_read_whole():
    assert set(written_files(PAGE)) == {"app.py", "questions.csv", "first.toml"}
    assert len(calls(PAGE)) >= 8 and [call.words[0] for call in calls(PAGE) if call.is_slow] == ["explain"]
    assert PAGE.count("$ shaketable ") == len(calls(PAGE))


def test_what_was_not_printed_is_named():
    assert missing(("a b … d", "other"), "so a  b\nc d") == ["other"]
