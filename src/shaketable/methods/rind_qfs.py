"""DRAGIN's two computations: when to search (RIND) and what for (QFS), section 3 of arXiv 2403.10081."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from shaketable.methods.words import Word
from shaketable.text.language import parsed

CONTENT = frozenset({"NOUN", "ADJ", "VERB", "PROPN", "NUM"})

Array = np.ndarray[Any, np.dtype[np.float32]]


def token_attention(attention: Array, *, exclude_self: bool = False) -> Array:
    """How much each token is looked at: the maximum over the tokens that look, then the mean over the heads."""
    if exclude_self:
        attention = attention * (1 - np.eye(attention.shape[-1], dtype=attention.dtype))
    looked: Array = attention.max(1).mean(0)
    return looked


def rind(attention: Sequence[float], entropy: Sequence[float]) -> list[float]:
    """The need to search of each word of a sentence: its share of the attention, times its entropy, times n."""
    total = sum(attention)
    if not total:
        return [0.0] * len(attention)
    return [a / total * e * len(attention) for a, e in zip(attention, entropy, strict=True)]


def content_words(text: str) -> frozenset[str]:
    return frozenset(token.text for token in parsed(text) if token.pos_ in CONTENT)


def has_content(word: str, content: Collection[str]) -> bool:
    """Whether a content word stands in it: words of the model carry punctuation, those of spaCy do not."""
    return any(one in word for one in content)


def qfs_weights(attention: Array, words: Sequence[Word], hits: Collection[int]) -> list[float] | None:
    """How much the model looked at each word just before it wrote the hits; None: no hit has a word before it.

    The row that wrote a token is that of the position before it. Of each row counts what lies before the hit's word,
    scaled to 1 together with the beginning mark, which is not among the tokens: a row that looked mostly at the mark
    has little to say, as in the authors' code. A row of attention sums to 1, so what lies before the word is what the
    word's own tokens leave.
    """
    mean: Array = attention.mean(0)
    rows = []
    for hit in sorted(hits):
        start = words[hit].tokens.start
        of_tokens = []
        for token in words[hit].tokens:
            row = np.zeros(mean.shape[-1])
            if start and (total := 1 - mean[token - 1, start:token].sum()) > 0:
                row[:start] = mean[token - 1, :start] / total
                of_tokens.append(row)
        if of_tokens:
            rows.append(np.mean(of_tokens, axis=0))
    if not rows:
        return None
    weights = np.mean(rows, axis=0)
    return [float(weights[word.tokens.start : word.tokens.stop].sum()) for word in words]


def qfs(
    words: Sequence[str], weights: Sequence[float] | None, hits: Collection[int], content: Collection[str], n: int
) -> list[int]:
    """The n content words with the greatest weights, hits left out, in the order of the text.

    Without weights the first n are kept, as the DRAGIN code does with its undefined ones.
    """
    candidates = [i for i, word in enumerate(words) if i not in hits and has_content(word, content)]
    if weights is not None:
        candidates.sort(key=lambda i: -weights[i])
    return sorted(candidates[:n])
