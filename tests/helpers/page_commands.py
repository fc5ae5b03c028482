"""A page → its fenced blocks, and the commands in those of a shell."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

SHELL = ("bash", "sh", "shell", "console", "")
"""What blocks of commands are called. One without a name may hold anything: lines that are no command are left out."""
PROGRAMS = ("shaketable", "pip", "make", "python", "pytest", "ray", "export", "cd")
"""What a line of such a block begins with, if it is a command."""


@dataclass(frozen=True, kw_only=True)
class Block:
    line: int
    """Where its first line stands in the page."""
    language: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Command:
    line: int
    words: tuple[str, ...]
    """The program and what it is given; variables that are set before it are left out."""
    target: str | None = None
    """The file that its output goes to."""

    @property
    def text(self) -> str:
        return " ".join(self.words)


def blocks(page: str, *languages: str) -> list[Block]:
    """The fenced blocks of these languages. Indented fences count too."""
    found, start, language, lines = [], 0, "", []
    for number, line in enumerate(page.splitlines(), 1):
        fence = re.match(r"\s*(```+|~~~+)\s*(\S*)", line)
        if fence and not start:
            start, language, lines = number + 1, fence[2], []
        elif fence:
            found.append(Block(line=start, language=language, text=inspect.cleandoc("\n".join(["", *lines]))))
            start = 0
        elif start:
            lines.append(line)
    return [block for block in found if block.language in languages]


def commands(page: str, *programs: str) -> list[Command]:
    """Each command of a page, in their order; with `programs`, of these alone."""
    found = [
        command
        for block in blocks(page, *SHELL, "yaml")
        for line, text in _lines(block)
        for command in _commands(line, text)
    ]
    return [command for command in found if not programs or command.words[0] in programs]


def _lines(block: Block) -> Iterator[tuple[int, str]]:
    """What is given to a shell, each with its line; one that goes on after a backslash is one."""
    number = block.line
    for text in re.split(r"(?<!\\)\n", block.text):
        given = _given(block.language, text.replace("\\\n", "  "))
        if given:
            yield number, given
        number += 1 + text.count("\\\n")


def _given(language: str, text: str) -> str:
    """A line less its prompt; empty: it is output, or something else."""
    if language == "yaml":
        step = re.match(r"\s*-? ?run: (.+)", text)
        return step[1] if step else ""
    is_given = re.match(rf"\s*(\$ |({'|'.join(PROGRAMS)}) )", text)
    if language == "console":
        is_given = re.match(r"\s*\$ ", text)
    return re.sub(r"^\s*\$ ", "", text) if is_given or language not in ("", "console") else ""


def _commands(line: int, text: str) -> Iterator[Command]:
    reader = shlex.shlex(text, posix=True, punctuation_chars=True)
    reader.whitespace_split = True
    words: list[str] = []
    target, is_target = None, False
    for word in [*reader, ";"]:
        if word == ">":
            is_target = True
        elif is_target:
            target, is_target = word, False
        elif set(word) <= set("();<>|&"):
            while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                words = words[1:]
            if words:
                yield Command(line=line, words=tuple(words), target=target)
            words, target = [], None
        else:
            words.append(word)
