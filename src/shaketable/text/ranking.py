"""A question and a few documents → who ranks where: BM25 over the documents of one record."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

K1 = 1.5
B = 0.75
"""The defaults of bm25s, so that ranks agree with its."""


def terms(text: str) -> list[str]:
    """The words of a text, without regard to letter case."""
    return re.findall(r"\w+", text.casefold())


@dataclass(frozen=True, kw_only=True)
class Documents:
    """The documents to rank, as word counts. Small on purpose: it ranks ten documents, not a corpus."""

    counts: tuple[Counter[str], ...]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Documents:
        return cls(counts=tuple(Counter(terms(text)) for text in texts))

    def with_text(self, i: int, text: str) -> Documents:
        """The same documents with another text in one place."""
        counts = list(self.counts)
        counts[i] = Counter(terms(text))
        return replace(self, counts=tuple(counts))

    def idf(self, term: str) -> float:
        """How rare a term is: ln(1 + (N - n + 0.5) / (n + 0.5)), as Lucene computes it; never negative."""
        n = sum(term in counts for counts in self.counts)
        return math.log(1 + (len(self.counts) - n + 0.5) / (n + 0.5))

    def scores(self, query: str) -> list[float]:
        lengths = [counts.total() for counts in self.counts]
        average = sum(lengths) / len(lengths) if any(lengths) else 1.0
        weights = {term: self.idf(term) for term in terms(query)}
        return [
            sum(
                idf * counts[term] * (K1 + 1) / (counts[term] + K1 * (1 - B + B * length / average))
                for term, idf in weights.items()
                if counts[term]
            )
            for counts, length in zip(self.counts, lengths, strict=True)
        ]

    def rank(self, query: str, i: int) -> int:
        """1 is best. Of equal documents the earlier is better, and one without words comes last."""
        keys = [
            (-score, not counts, position)
            for position, (score, counts) in enumerate(zip(self.scores(query), self.counts, strict=True))
        ]
        return 1 + sorted(keys).index(keys[i])

    def by_weight(self, i: int) -> list[str]:
        """The terms of a document, the one with the largest tf-idf first, equal ones in alphabetical order."""
        counts = self.counts[i]
        return sorted(counts, key=lambda term: (-counts[term] * self.idf(term), term))
