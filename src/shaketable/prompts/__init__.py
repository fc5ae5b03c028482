"""Each prompt once, as a text file with named slots; and prompts that a user brings."""

from __future__ import annotations

import functools
import importlib.resources
import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shaketable.identity import digest_text


@dataclass(frozen=True)
class Template:
    name: str

    @functools.cached_property
    def text(self) -> str:
        return importlib.resources.files(__package__).joinpath(f"{self.name}.txt").read_text("utf-8").rstrip("\n")

    @functools.cached_property
    def identity(self) -> str:
        """Name and digest: a changed prompt makes new trial keys."""
        return f"{self.name}:{digest_text(self.text)[:8]}"

    def fill(self, **slots: str) -> str:
        return self._pattern.substitute(slots)

    @functools.cached_property
    def _pattern(self) -> string.Template:
        return string.Template(self.text)


@dataclass(frozen=True)
class OwnPrompt:
    """A prompt that a user brings, word for word. `{question}` is a slot; every other brace is text."""

    text: str

    @property
    def identity(self) -> str:
        return f"own:{digest_text(self.text)}"

    def fill(self, **slots: str) -> str:
        # In one go, so that a slot's name within a filled-in text stays as it is.
        return re.sub(rf"\{{({'|'.join(slots)})\}}", lambda slot: slots[slot[1]], self.text)


def read_own(given: str, slots: Sequence[str], folder: Path | None = None) -> str:
    """The text of a prompt that is given as such, or as a file: of the working folder, or of another.

    Raises ValueError, in words, where it is neither or lacks a slot.
    """
    wanted = " and ".join(f"{{{slot}}}" for slot in slots)
    if all(f"{{{slot}}}" in given for slot in slots):
        return given
    file = next((file for file in (Path(given), (folder or Path()) / given) if is_file(file)), None)
    if file is None:
        raise ValueError(f"found '{given}'; expected a text with {wanted}, or the path of a file that holds one")
    try:
        text = file.read_text("utf-8").rstrip("\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start} of {given} is not UTF-8; save the prompt as UTF-8") from error
    missing = [f"{{{slot}}}" for slot in slots if f"{{{slot}}}" not in text]
    if missing:
        raise ValueError(f"{given} has no {' and no '.join(missing)}; a prompt needs {wanted}")
    return text


def is_file(path: Path) -> bool:
    """A prompt of many words is no file's name, and may be longer than one can be."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


ANSWER_FROM_CONTEXT = Template("answer_from_context")
ANSWER_CLOSED_BOOK = Template("answer_closed_book")
CHAIN_EXAMPLES = Template("chain_examples")
CHAIN_QUESTION = Template("chain_question")
CHAIN_QUESTION_FROM_CONTEXT = Template("chain_question_from_context")
JUDGE = Template("judge")
REFERENCE_ANSWER = Template("reference_answer")
REFERENCE_TEMPLATE = Template("reference_template")
RECALL_QUESTION = Template("recall_question")
RECALL_QUESTION_FROM_CONTEXT = Template("recall_question_from_context")
REWRITE_QUERY = Template("rewrite_query")
SEARCH_O1_EXAMPLES = Template("search_o1_examples")
SEARCH_O1_MULTI_HOP = Template("search_o1_multi_hop")
SEARCH_O1_REASON = Template("search_o1_reason")
SEARCH_O1_SINGLE_HOP = Template("search_o1_single_hop")
REWORD_ADVICE = Template("reword_advice")
REWORD_AGAIN = Template("reword_again")
REWORD_DECLARATIVE = Template("reword_declarative")
REWORD_DISFLUENCY = Template("reword_disfluency")
REWORD_FOLLOW_UP = Template("reword_follow_up")
REWORD_FORMALITY = Template("reword_formality")
REWORD_GRAMMAR = Template("reword_grammar")
REWORD_IMPERATIVE = Template("reword_imperative")
REWORD_KEYWORDS = Template("reword_keywords")
REWORD_NON_NATIVE = Template("reword_non_native")
REWORD_READABILITY = Template("reword_readability")
