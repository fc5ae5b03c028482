"""The texts of a tokenizer's tokens, arranged so that an automaton can read all of them at once."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Sequence

import numpy as np

from shaketable.text.normalization import in_word

LETTER, SIGN, SPACE = range(3)
"""What a character is to word matching: part of a word, punctuation or symbol, white space."""
REPLACEMENT = "\ufffd"


class Vocabulary:
    """Built once per tokenizer. Tokens may end inside a character; its first bytes then wait for the rest."""

    def __init__(self, strings: Sequence[bytes | str], end_ids: Iterable[int]) -> None:
        """The bytes each token id adds to the text (none for special tokens), and the ids that end the answer."""
        tokens = [string.encode() if isinstance(string, str) else bytes(string) for string in strings]
        self.n = len(tokens)
        self.end_ids = np.array(sorted(set(end_ids)), dtype=np.int64)
        if self.end_ids.size and not 0 <= self.end_ids[0] <= self.end_ids[-1] < self.n:
            raise ValueError(f"end_ids are {self.end_ids.tolist()}, expected ids from 0 to {self.n - 1}.")
        for end in self.end_ids:
            tokens[end] = b""
        self.tokens = tokens
        self.continuing = np.array([i for i, token in enumerate(tokens) if _continues(token)], dtype=np.int64)
        """Tokens that may complete a character begun before."""
        self.empty = np.array([i for i, token in enumerate(tokens) if not token], dtype=np.int64)
        self.pendings: list[bytes] = [b""]
        self._pending_ids = {b"": 0}
        # What may follow the completed character inside one token; only the distance to an answer needs these.
        rests = sorted({token.lstrip(_CONTINUATION) for token in tokens if _continues(token)} - {b""})
        split = [decode(token) for token in tokens + rests]
        self.pending = np.array([self.pending_id(pending) for _, pending in split], dtype=np.int32)
        """The id of the unfinished character at each token's end, when it starts with a whole one; 0: none."""
        self.ragged = np.flatnonzero(self.pending)
        self.ragged_place = np.cumsum(self.pending > 0) - 1
        """Of a ragged token among the ragged."""
        self._arrange([text for text, _ in split])

    def pending_id(self, pending: bytes) -> int:
        if pending not in self._pending_ids:
            self._pending_ids[pending] = len(self.pendings)
            self.pendings.append(pending)
        return self._pending_ids[pending]

    def text(self, suffix: Iterable[int]) -> str:
        """What the tokens say, an unfinished character shown as a replacement mark."""
        return b"".join(self.tokens[token] for token in suffix).decode("utf-8", "replace")

    def _arrange(self, texts: list[str]) -> None:
        """Longest first, one array per character position, so that each step reads one column."""
        lengths = np.array([len(text) for text in texts], dtype=np.int64)
        self.order = np.argsort(-lengths, kind="stable")
        self.lengths = lengths[self.order]
        joined = "".join(texts[i] for i in self.order)
        points = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        distinct, places = np.unique(points, return_inverse=True)
        self.characters = {chr(point): index for index, point in enumerate(distinct)}
        starts = np.concatenate([[0], np.cumsum(self.lengths)[:-1]]) if len(texts) else np.zeros(0, np.int64)
        self.columns = []
        for depth in range(int(self.lengths[0]) if len(texts) else 0):
            n_longer = int(np.searchsorted(-self.lengths, -depth, side="left"))
            self.columns.append(places[starts[:n_longer] + depth].astype(np.int32))
        first = self.columns[0] if self.columns else np.zeros(0, np.int32)
        self.by_first = np.argsort(first, kind="stable")
        """Places in the order, grouped by the first character."""
        self.first_starts = np.searchsorted(first[self.by_first], np.arange(len(self.characters) + 1))
        self.kinds = np.array([kind(character) for character in self.characters], dtype=np.int16)


def decode(token: bytes) -> tuple[str, bytes]:
    """Whole characters, and the bytes of an unfinished last one; broken bytes become replacement marks."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text = decoder.decode(token)
    return text, decoder.getstate()[0]


def kind(character: str) -> int:
    if character.isspace():
        return SPACE
    return LETTER if in_word(character) else SIGN


_CONTINUATION = bytes(range(0x80, 0xC0))


def _continues(token: bytes) -> bool:
    return token[:1] != b"" and token[0] in _CONTINUATION
