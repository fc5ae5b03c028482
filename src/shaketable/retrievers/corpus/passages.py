"""A corpus on disk, read by row: passages become sentences only when they are found."""

from __future__ import annotations

import array
import functools
import hashlib
import json
import logging
import mmap
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from shaketable.errors import DataError
from shaketable.retrievers.corpus.corpora import Corpus, Entry
from shaketable.retrievers.corpus.indexes import open_index, with_news
from shaketable.types import Json, Passage, Sentence

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LAYOUT = 1
"""Raised when the files below are written in another way."""
KEPT = 20_000
"""Passages kept in memory after they were found."""

log = logging.getLogger(__name__)


class Passages:
    """The passages of a corpus by row, from 0. The file is mapped, so millions of passages need no memory."""

    def __init__(self, corpus: Corpus) -> None:
        import numpy as np

        self.corpus = corpus
        self.digest = corpus.digest
        folder, holds = open_index("passages", self.digest, {"layout": LAYOUT}, self._write)
        self._starts: NDArray[np.int64] = np.load(folder / "starts.npy", mmap_mode="r")
        with (folder / "passages.jsonl").open("rb") as file:
            self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if len(self) != holds["n_passages"]:
            raise DataError(f"{folder} holds {len(self):,} passages, expected {holds['n_passages']:,}. Remove it.")
        if note := corpus.note(len(self)):
            log.warning(note)
        self.passage = functools.lru_cache(KEPT)(self._passage)

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __iter__(self) -> Iterator[Entry]:
        return (self.entry(row) for row in range(len(self)))

    def entry(self, row: int) -> Entry:
        return Entry(*json.loads(self._bytes[self._starts[row] : self._starts[row + 1]]))

    def _passage(self, row: int) -> Passage:
        entry = self.entry(row)
        sentences = split_sentences(entry.text) if isinstance(entry.text, str) else entry.text
        numbered = ((index, sentence.strip()) for index, sentence in enumerate(sentences))
        return Passage(
            id=entry.id,
            title=entry.title,
            sentences=tuple(Sentence(id=f"{entry.id}#{index}", text=text) for index, text in numbered if text),
        )

    def _write(self, folder: Path) -> Mapping[str, Json]:
        import numpy as np

        starts, ids = array.array("q", [0]), array.array("Q")
        with (folder / "passages.jsonl").open("wb") as file:
            for entry in with_news(self.corpus.entries(), f"Reading {self.corpus.name}"):
                starts.append(starts[-1] + file.write(json.dumps(entry, ensure_ascii=False).encode() + b"\n"))
                ids.append(_number(entry.id))
        self._check_ids(np.frombuffer(ids, np.uint64))
        np.save(folder / "starts.npy", np.frombuffer(starts, np.int64))
        return {"n_passages": len(ids)}

    def _check_ids(self, numbers: NDArray[np.uint64]) -> None:
        """Each passage needs an id of its own. Numbers made from ids need little memory; where two are equal, the ids
        themselves are compared."""
        import numpy as np

        ordered = np.sort(numbers)
        doubled = set(ordered[1:][ordered[1:] == ordered[:-1]].tolist())
        seen: dict[str, int] = {}
        for row, entry in enumerate(self.corpus.entries() if doubled else (), 1):
            if _number(entry.id) not in doubled:
                continue
            if entry.id in seen:
                raise DataError(
                    f"{self.corpus.name}: passages {seen[entry.id]:,} and {row:,} have the same id '{entry.id}'. "
                    "Give each passage its own id, or leave ids out."
                )
            seen[entry.id] = row


@functools.cache
def _opened(name: str, digest: str) -> Passages:
    return Passages(Corpus(name=name))


def passages_of(corpus: str) -> Passages:
    """The passages of a corpus by name or path, opened once in a process while the corpus stays as it is."""
    return _opened(corpus, Corpus(name=corpus).digest)


def _number(id: str) -> int:
    return int.from_bytes(hashlib.blake2b(id.encode(), digest_size=8).digest(), "little")


# --- text → sentences -----------------------------------------------------------------------------

END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+\s++(?=[\"'“‘(\[]*[^\W_a-zß-öø-ÿ])")
"""The end of a sentence: its mark, closing quotes, space, and something that opens the next, not in small letters."""
ABBREVIATED = re.compile(
    r"(?:^|[\s(\"'“‘])(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|Rev|Gen|Col|Capt|Lt|Sgt|Gov|Sen|Rep|Hon|St|Mt|Ft|Jr|Sr|vs|[Nn]o|Vol|vol|"
    r"Inc|Co|Corp|Ltd|Bros|ca?|approx|est|e\.g|i\.e|etc|al|[A-Z]\.(?:[A-Z]\.)*[A-Z]|"
    r"Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.$"
)
"""A full stop that ends a short form, or the initial of a name, seldom ends a sentence."""


def split_sentences(text: str) -> list[str]:
    """The sentences of an English text by a rule: thousands of passages a second, where a parser reads a hundred."""
    sentences, start = [], 0
    for end in END.finditer(text):
        if not ABBREVIATED.search(text[max(start, end.start() - 12) : end.start() + 1]):
            sentences.append(text[start : end.end()].strip())
            start = end.end()
    sentences.append(text[start:].strip())
    return [sentence for sentence in sentences if sentence]
