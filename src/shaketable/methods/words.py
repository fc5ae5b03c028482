"""Tokens → words, and words → sentences, as DRAGIN counts them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from shaketable.types import Completion

LLAMA_2_NEWLINE = 13


@dataclass(frozen=True)
class Word:
    text: str
    """Without white space; empty for a lone line break."""
    tokens: range
    """The places of its tokens."""


def merge(
    tokens: Sequence[str], ids: Sequence[int] = (), *, newline: Literal["token", "id_13"] = "token"
) -> list[Word]:
    """A word starts at the first token, at one with a space before it, and at a line break.

    On Llama 2 that is how the DRAGIN code splits. It takes id 13 for the line break whatever the model, so that `id_13`
    breaks where another vocabulary has that id; it knows the space mark of Llama 2 alone, and makes one word of a
    Llama 3 text, which is not offered.
    """
    starts = []
    for i, token in enumerate(tokens):
        spaced = token[:1].isspace() and token[:1] != "\n"
        broken = ids[i] == LLAMA_2_NEWLINE if newline == "id_13" else token[:1] == "\n"
        if i == 0 or spaced or broken:
            starts.append(i)
    spans = itertools.pairwise([*starts, len(tokens)])
    return [Word("".join(tokens[start:end]).strip(), range(start, end)) for start, end in spans]


def spell_bytes(text: str) -> str:
    """Spell a text as vocabularies of byte-level tokenizers do: `FamÃŃlia` for `Família`.

    A printable byte of Latin-1 stands for itself, every other one for a letter from U+0100 on, in order.
    """
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    letters = {byte: chr(byte) for byte in printable} | {byte: chr(256 + i) for i, byte in enumerate(others)}
    return "".join(letters[byte] for byte in text.encode("utf-8", "replace"))


def named(words: Sequence[Word], text: str) -> list[Word]:
    """The same words spelled as in the text: tokens that hold half a character cannot be decoded one by one."""
    spelled = text.split()
    if len(spelled) != sum(bool(word.text) for word in words):
        return list(words)
    spellings = iter(spelled)
    return [Word(next(spellings), word.tokens) if word.text else word for word in words]


def assign(words: Sequence[str], sentences: Sequence[str]) -> list[range]:
    """The words of each sentence: as many as it takes to contain it, all that are left for the last one.

    A sentence that never occurs gets none. White space of any kind counts as one space.
    """
    ranges, start = [], 0
    for i, sentence in enumerate(sentences):
        end = len(words) if i == len(sentences) - 1 else _end(words, start, " ".join(sentence.split()))
        ranges.append(range(start, end))
        start = end
    return ranges


def _end(words: Sequence[str], start: int, sentence: str) -> int:
    read = ""
    for i in range(start, len(words)):
        read = f"{read} {words[i]}" if read and words[i] else read or words[i]
        if sentence in read:
            return i + 1
    return start


def tokens_of_each(tokens: Sequence[str], sentences: Sequence[str]) -> list[list[int]]:
    """The places of the tokens of each sentence, by the characters they cover; none for one that does not occur."""
    text, starts, length = "".join(tokens), [], 0
    for token in tokens:
        starts.append(length + len(token) - len(token.lstrip()))
        length += len(token)
    places, at = [], 0
    for sentence in sentences:
        start = text.find(sentence, at)
        at = start + len(sentence) if start >= 0 else at
        places.append([i for i, begin in enumerate(starts) if start >= 0 and start <= begin < at])
    return places


def spoken(reply: Completion) -> range:
    """The places of the tokens that make up the text: neither thoughts nor the end mark."""
    tokens = reply.tokens
    end = len(tokens)
    if tokens and reply.finish_reason == "end" and not reply.text.rstrip().endswith(tokens[-1].strip()):
        end -= 1
    start = 0
    if reply.thoughts:
        n_before = max("".join(tokens).rfind(reply.text), 0)
        while start < end and n_before >= len(tokens[start]):
            n_before -= len(tokens[start])
            start += 1
    return range(start, end)
