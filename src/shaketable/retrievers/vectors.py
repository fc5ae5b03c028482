"""Passages → one vector each, computed once and mapped from disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shaketable.retrievers.corpus.corpora import Corpus
from shaketable.retrievers.corpus.indexes import open_index, with_news
from shaketable.retrievers.corpus.passages import Passages, passages_of
from shaketable.text.encoder import Encoder, Pooling, encoder
from shaketable.types import Json

PASSAGES_AT_ONCE = 2048
Similarity = Literal["cosine", "dot"]
Vectors = NDArray[np.float32]


class EmbeddedCorpus:
    """What retrievers over vectors share: a corpus, and how its passages become vectors."""

    corpus: str
    encoder: str
    pooling: Pooling
    similarity: Similarity
    device: str

    def contents(self) -> dict[str, str]:
        return {"corpus": Corpus(name=self.corpus).digest}

    @cached_property
    def _passages(self) -> Passages:
        return passages_of(self.corpus)

    @cached_property
    def _embedding(self) -> Embedding:
        return Embedding(encoder=self.encoder, pooling=self.pooling, similarity=self.similarity, device=self.device)


@dataclass(frozen=True, kw_only=True)
class Embedding:
    """How a text becomes a vector."""

    encoder: str
    pooling: Pooling
    similarity: Similarity
    device: str

    @property
    def settings(self) -> dict[str, Json]:
        """What the vectors depend on."""
        return {"encoder": self.encoder, "pooling": self.pooling, "similarity": self.similarity}

    def passages(self, passages: Passages) -> Vectors:
        """The vectors of all passages, title before text."""

        def build(folder: Path) -> dict[str, Json]:
            shape = (len(passages), self._encoder.n_dimensions)
            vectors = np.lib.format.open_memmap(folder / "vectors.npy", "w+", np.float32, shape)
            n_done = 0
            texts = (
                f"{entry.title} {entry.whole}" for entry in with_news(passages, f"Embedding {passages.corpus.name}")
            )
            while some := list(islice(texts, PASSAGES_AT_ONCE)):
                vectors[n_done : n_done + len(some)] = self._embed(some)
                n_done += len(some)
            vectors.flush()
            if not np.isfinite(vectors[-1]).all() or n_done != len(passages):
                raise AssertionError(f"{n_done:,} of {len(passages):,} passages have a vector.")
            return {"n_passages": n_done, "n_dimensions": shape[1]}

        folder, _ = open_index("vectors", passages.digest, self.settings, build)
        vectors: Vectors = np.load(folder / "vectors.npy", mmap_mode="r")
        return vectors

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Each is embedded alone, because a batch changes the last bits, and with them a rank at times."""
        return np.stack([_query(self, text) for text in texts])

    @property
    def _encoder(self) -> Encoder:
        return encoder(self.encoder, self.device)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        return self._encoder.embed(texts, self.pooling, unit=self.similarity == "cosine")


@lru_cache(10_000)
def _query(embedding: Embedding, text: str) -> Vectors:
    vector: Vectors = embedding._embed([text])[0]
    return vector
