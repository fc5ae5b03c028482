"""A direct question → what a statement or a command can hold: `Where is Rome?` → `where Rome is`."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from shaketable.text import language
from shaketable.variations.english.embedded import embedded, is_command
from shaketable.variations.english.question_words import AUXILIARIES, DO, FINITE, WH_WORDS
from shaketable.variations.gate.proposals import Proposal

__all__ = [
    "AUXILIARIES", "DO", "FINITE", "SENTENCE_END", "WH_WORDS", "Indirect", "Shape", "framed", "indirect", "quoted",
    "tidy",
]  # fmt: skip

Shape = Literal["clause", "noun", "command", "whole"]
ABBREVIATIONS = ("approx", "Bros", "Capt", "etc", "Gen", "Inc", "Prof", "Rev", "Sgt", "vs")
SENTENCE_END = re.compile(
    r"(?:(?<=[a-z\d)][a-z\d)][.?])|(?<=[A-Z][A-Z][.?])|(?<=[.?][\"”])|(?<=[\"”][.?]))"
    + "".join(rf"(?<!\b{word}\.)" for word in ABBREVIATIONS)
    + r"\s+(?=[\"“'A-Z])"
)
MARKS = " ?.!"
ABBREVIATED = re.compile(r"\.[\"”]? ?\?$|\b[A-Za-z]\.[A-Za-z]\.$")
"""`in the U.S.?`: without its full stop it would be another word."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Indirect:
    text: str
    """Without a mark at the end."""
    shape: Shape
    """A clause with its question word, a noun phrase, a command as it was, or the whole text, because no other shape
    is sure."""
    lead: str = ""
    """The sentences before the question, with a space behind."""


def indirect(text: str, pipeline: str = language.PIPELINE) -> Indirect:
    """The last sentence of a text, turned; the sentences before it stay in front."""
    tidied = tidy(text)
    *before, last = SENTENCE_END.split(tidied)
    whole = Indirect(text=tidied.rstrip(MARKS), shape="whole")
    unusual = re.search(r"\? [\d(]", tidied) or ABBREVIATED.search(tidied) or tidied.isupper()
    if unusual or any(_asks(sentence) for sentence in before):
        return whole
    lead, asked = "".join(f"{sentence} " for sentence in before), last.rstrip(MARKS)
    words = [word for word in language.parsed(asked, pipeline) if word.text.strip()]
    if is_command(words):
        return Indirect(text=asked[:1].lower() + asked[1:], shape="command", lead=lead)
    turned = embedded(words)
    if turned is None:
        return whole
    return Indirect(text=turned.text, shape="noun" if turned.is_noun else "clause", lead=lead)


def framed(text: str, pipeline: str, frames: Mapping[Shape, Sequence[str]], rng: random.Random) -> list[Proposal]:
    """The question in each frame that fits what it could be turned into; none where nothing is asked."""
    turned = indirect(text, pipeline)
    if turned.shape == "whole" and not _asks(tidy(text)):
        return []
    held = quoted(_marked(tidy(text))) if turned.shape == "whole" else turned.text
    fitting = frames[turned.shape]
    return [
        Proposal(text=turned.lead + frame.format(text=held), facts={"rule": f"{turned.shape} in '{frame}'"})
        for frame in rng.sample(fitting, len(fitting))
    ]


def tidy(text: str) -> str:
    """One line, and none of the marks that files leave: doubled quotes, a space before a question mark or `'s`."""
    text = " ".join(text.split())
    if text.startswith('"') and text.endswith(('?"', '."')):
        text = text[1:-1].replace('""', '"')
    return re.sub(r" (?=[?!.,;]|'(?:s|m|re|d|ve|ll)\b|n't\b)", "", text)


def quoted(text: str) -> str:
    """In quotation marks, of the other kind where it has some, or without where it has both."""
    if '"' not in text:
        return f'"{text}"'
    return text if "“" in text or "”" in text else f"“{text}”"


def _marked(text: str) -> str:
    """A question that was typed without a mark gets one."""
    return text if text.rstrip("\"'”’)").endswith(("?", "!", ".", "…")) else f"{text}?"


def _asks(sentence: str) -> bool:
    """Whether it ends as a question or opens as one: names and dates without a verb ask nothing."""
    words = re.findall(r"[a-z]+", sentence.lower())
    return bool(words) and (
        sentence.rstrip("\"'”’) ").endswith("?")
        or words[0] in WH_WORDS | AUXILIARIES
        or words[1:2] in (["which"], ["what"])
    )
