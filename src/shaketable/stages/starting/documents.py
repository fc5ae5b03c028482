"""Plain documents → the passages of a corpus: whole paragraphs up to so many words, and no sentence is cut."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from shaketable.datasets.reading.sentences import sentence_bounds
from shaketable.errors import DataError, describe_encoding

READ = (".txt", ".text", ".md", ".markdown")
MARKDOWN = (".md", ".markdown")
MAX_WORDS = 120
"""Of a passage, unless a single sentence has more."""
PDF = "PDF is not read. Make it plain text first, for example with pdftotext."
HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*$")
FENCE = re.compile(r"\s*(```|~~~)")


@dataclass(frozen=True, kw_only=True, slots=True)
class CutPassage:
    id: str
    title: str
    """The file's name, or the headings under which it stands."""
    sentences: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class CutDocuments:
    passages: tuple[CutPassage, ...]
    files: tuple[str, ...]
    """That were read."""
    left_out: tuple[tuple[str, str], ...]
    """Each with the reason."""


def cut_documents(source: Path, max_words: int = MAX_WORDS) -> CutDocuments:
    """The passages of a file, or of all files in a folder and the folders below it, in the order of their names."""
    if not source.exists():
        raise DataError(f"There is no file or folder {source}. Give the path of documents as plain text: .txt or .md.")
    files = sorted(_below(source)) if source.is_dir() else [source]
    root = source if source.is_dir() else source.parent
    passages: list[CutPassage] = []
    names: list[str] = []
    left_out: list[tuple[str, str]] = []
    for file in files:
        name = file.relative_to(root).as_posix()
        if file.suffix.casefold() not in READ:
            left_out.append((name, PDF if file.suffix.casefold() == ".pdf" else "it is no .txt or .md file."))
            continue
        cut = list(cut_text(_text(file), name, file.suffix.casefold() in MARKDOWN, max_words))
        if cut:
            names.append(name)
            passages += cut
        else:
            left_out.append((name, "it has no words."))
    if not passages:
        reasons = f" {left_out[0][0]}: {left_out[0][1]}" if left_out else ""
        raise DataError(f"{source} holds no documents to cut into passages.{reasons} Give .txt or .md files.")
    return CutDocuments(passages=tuple(passages), files=tuple(names), left_out=tuple(left_out))


def cut_text(text: str, name: str, is_markdown: bool = False, max_words: int = MAX_WORDS) -> Iterator[CutPassage]:
    """The passages of one document, numbered from 1. Headings become titles; everything else is kept."""
    stem = name.rpartition("/")[2].rpartition(".")[0] or name
    number = 0
    for title, paragraphs in _sections(text, stem, is_markdown):
        for sentences in _packed(paragraphs, max_words):
            number += 1
            yield CutPassage(id=f"{name}/{number}", title=title, sentences=tuple(sentences))


def write_corpus(file: Path, passages: Iterable[CutPassage]) -> None:
    """As JSON lines, which retrievers read by `corpus='FILE'`."""
    rows = ({"id": cut.id, "title": cut.title, "sentences": cut.sentences} for cut in passages)
    file.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), "utf-8")


def _below(folder: Path) -> Iterator[Path]:
    """Files that are not hidden; links that lead elsewhere are not followed."""
    for file in folder.rglob("*"):
        hidden = any(step.startswith(".") for step in file.relative_to(folder).parts)
        if file.is_file() and not file.is_symlink() and not hidden:
            yield file


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(describe_encoding(error, str(file))) from error
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror}.") from error


def _sections(text: str, stem: str, is_markdown: bool) -> Iterator[tuple[str, list[str]]]:
    """Title and paragraphs; one of plain text, and one for each heading of Markdown."""
    headings: list[tuple[int, str]] = []
    paragraphs: list[str] = []
    lines: list[str] = []
    is_fenced = False
    for line in text.splitlines():
        if is_markdown and FENCE.match(line):
            is_fenced = not is_fenced
        heading = HEADING.match(line) if is_markdown and not is_fenced else None
        if heading or not (line.strip() or is_fenced):
            if lines:
                paragraphs.append("\n".join(lines))
                lines = []
        elif line.strip():
            lines.append(line)
        if heading:
            yield _title(stem, headings), paragraphs
            paragraphs = []
            level = len(heading[1])
            headings = [(above, words) for above, words in headings if above < level] + [(level, heading[2])]
    yield _title(stem, headings), [*paragraphs, *(["\n".join(lines)] if lines else [])]


def _title(stem: str, headings: Sequence[tuple[int, str]]) -> str:
    return " · ".join(words for _, words in headings if words) or stem


def _packed(paragraphs: Sequence[str], max_words: int) -> Iterator[list[str]]:
    """Sentences of whole paragraphs as long as they fit; a paragraph that is too long for one passage is cut between
    sentences."""
    held: list[str] = []
    n_held = 0
    for paragraph in paragraphs:
        sentences = _sentences(paragraph)
        n_words = sum(map(_n_words, sentences))
        if held and n_held + n_words > max_words:
            yield held
            held, n_held = [], 0
        for sentence in sentences:
            if held and n_held + _n_words(sentence) > max_words:
                yield held
                held, n_held = [], 0
            held.append(sentence)
            n_held += _n_words(sentence)
    if held:
        yield held


def _sentences(paragraph: str) -> list[str]:
    """Each on one line. The line breaks of a paragraph end no sentence."""
    joined = " ".join(paragraph.split())
    return [joined[start:end].strip() for start, end in sentence_bounds(joined)]


def _n_words(sentence: str) -> int:
    return len(sentence.split())
