"""Prompts that a user brings for a method: a text, or a file that holds one, with named slots that are checked."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from shaketable.errors import DataError, at_home, did_you_mean
from shaketable.prompts import Template, is_file

ENDINGS = (".txt", ".md", ".prompt")
"""What tells a file's name from a text. The name alone decides, so that a text stays a text wherever it is read."""
BRACES = re.compile(r"\{\{|\}\}|\{(?P<slot>[A-Za-z_]\w*)\}|[{}]")


def names_file(given: str) -> bool:
    return given.casefold().endswith(ENDINGS) and not re.search(r"[{}\n]", given)


def read_file(given: str, folder: Path | None = None) -> str:
    """The text of a file, of the working folder or of another. Raises ValueError, in words, where there is none."""
    try:
        places = (at_home(given), (folder or Path()) / given)
    except DataError as error:
        raise ValueError(str(error).removesuffix(".")) from error
    file = next(filter(is_file, places), None)
    if file is None:
        beside = "" if folder is None else " nor beside the study"
        raise ValueError(
            f"found no file {given} in the working folder{beside}; give the path of a text file, or the text itself"
        )
    try:
        text = file.read_text("utf-8-sig").strip("\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start} of {given} is not UTF-8; save it as UTF-8") from error
    except OSError as error:
        raise ValueError(f"{given} cannot be read: {error.strerror}; give a text file that can be") from error
    if not text.strip():
        raise ValueError(f"{given} is empty; write the text into it")
    if names_file(text):
        raise ValueError(f"{given} holds nothing but the name {text}; name that file instead")
    return text


@dataclass(frozen=True, kw_only=True, slots=True)
class Replaceable:
    """A prompt of a method that a user may replace by one of their own."""

    template: Template
    """The one that ships."""
    slots: Mapping[str, str]
    """Slot of one's own prompt → the same of the template."""
    optional: frozenset[str] = frozenset()
    """Those that one's own prompt may leave out."""
    use: str
    """What it is for."""

    @property
    def text(self) -> str:
        """The prompt that ships, as one would write it oneself."""
        literal = self.template.text.replace("{", "{{").replace("}", "}}")
        return string.Template(literal).substitute({known: f"{{{own}}}" for own, known in self.slots.items()})

    @property
    def wanted(self) -> str:
        """The slots in words: `{context} and {question}`, and those that may be left out."""
        needed = " and ".join(f"{{{slot}}}" for slot in self.slots if slot not in self.optional)
        more = ", ".join(f"{{{slot}}}" for slot in self.slots if slot in self.optional)
        return needed + (f", and perhaps {more}" if more else "")

    def check(self, text: str, name: str) -> None:
        """Refuse a text, which people know by this name, whose slots are not those that are filled."""
        seen = set()
        for brace in BRACES.finditer(text):
            slot, line = brace["slot"], text.count("\n", 0, brace.start()) + 1
            if brace[0] in ("{", "}"):
                raise ValueError(
                    f"{name}, line {line}: found a lone {brace[0]}; expected slots such as {self.wanted}. "
                    "Write braces that are text twice: {{ and }}"
                )
            if slot is not None and slot not in self.slots:
                raise ValueError(
                    f"{name}, line {line}: found {{{slot}}}; expected {self.wanted}.{did_you_mean(slot, self.slots)} "
                    f"Where it is text, write {{{{{slot}}}}}"
                )
            seen.add(slot)
        missing = [slot for slot in self.slots if slot not in seen and slot not in self.optional]
        if missing:
            doubled = next((slot for slot in missing if f"{{{{{slot}}}}}" in text), None)
            hint = f"; {{{{{doubled}}}}} with two braces is text" if doubled else ""
            lacks = " and no ".join(f"{{{slot}}}" for slot in missing)
            raise ValueError(f"{name} has no {lacks}; expected {self.wanted}{hint}")

    def fill(self, own: str | None, values: Mapping[str, str]) -> str:
        """The prompt with its slots filled, in one go: a slot's name within a filled-in text stays as it is."""
        if own is None:
            return self.template.fill(**{known: values[slot] for slot, known in self.slots.items()})
        return BRACES.sub(lambda brace: values[brace["slot"]] if brace["slot"] else brace[0][0], own)
