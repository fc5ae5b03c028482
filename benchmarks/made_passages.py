"""Made-up passages for benchmarks of retrieval: as many as wanted, with the statistics of Wikipedia's.

Of 35,264 real passages (HotpotQA, MuSiQue, 2WikiMultihopQA) 30 % of the words are stop words, of the
others 22 % stood in the passage before, the vocabulary grows with
the number of words to the power of 0.60, and the word of rank r is met in proportion to (r + 2)^-0.6 (1 + r/1000)^-1.06
or so: a Zipf-Mandelbrot law that bends. Words are drawn by that law, whose tail has no end.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

N_TABLED = 1 << 20
BEND, TAIL = 1000, 0.66
SHARE_OF_STOP_WORDS, SHARE_OF_REPEATS = 0.3, 0.22
STOP_WORDS = ("the", "of", "and", "in", "a", "is", "to", "was", "by", "for", "as", "it", "with", "on", "at", "an")
ONSETS, VOWELS = "bdfgklmnprstvz", "aeiou"
PASSAGES_AT_ONCE = 10_000


class Made(NamedTuple):
    title: str
    text: str
    question: str
    """Words of the text, 8 to 20 of them, stop words among them."""


def passages(n: int, seed: int = 0, n_words: int = 100) -> Iterator[Made]:
    """Passages of a hundred words with titles of one to four words that the text has too."""
    rng = np.random.default_rng(seed)
    law = _Words()
    for start in range(0, n, PASSAGES_AT_ONCE):
        shape = (min(PASSAGES_AT_ONCE, n - start), n_words)
        drawn = law.words(rng.random(shape))
        earlier = (np.arange(n_words) * rng.random(shape)).astype(np.int64)
        repeats = rng.random(shape) < SHARE_OF_REPEATS
        drawn = np.where(repeats, np.take_along_axis(drawn, earlier, 1), drawn)
        stops = np.array(STOP_WORDS, object)[rng.integers(0, len(STOP_WORDS), shape)]
        drawn = np.where(rng.random(shape) < SHARE_OF_STOP_WORDS, stops, drawn)
        firsts, sizes = rng.integers(0, n_words - 20, shape[0]).tolist(), rng.integers(8, 21, shape[0]).tolist()
        for row, words in enumerate(drawn.tolist()):
            asked = words[firsts[row] : firsts[row] + sizes[row]]
            yield Made(" ".join(words[: 1 + row % 4]).title(), " ".join(words), " ".join(asked))


def write_table(file: Path, n: int, n_questions: int) -> list[str]:
    """A file in the layout of DPR's psgs_w100.tsv; questions, each about one of its passages."""
    every = max(1, n // n_questions)
    questions = []
    with gzip.open(file, "wt", 1) if file.suffix == ".gz" else file.open("w", encoding="utf-8") as sink:
        sink.write("id\ttext\ttitle\n")
        for row, made in enumerate(passages(n), 1):
            sink.write(f'{row}\t"{made.text}"\t{made.title}\n')
            if row % every == 0:
                questions.append(made.question)
    return questions[:n_questions]


class _Words:
    """Uniform numbers → words."""

    def __init__(self) -> None:
        ranks = np.arange(N_TABLED)
        chances = np.cumsum((ranks + 2.0) ** -0.6 * (1 + ranks / BEND) ** (-0.4 - TAIL))
        # Beyond the table the law is r^-(1 + TAIL), whose sum is an integral.
        beyond = BEND ** (0.4 + TAIL) * N_TABLED**-TAIL / TAIL
        self.limits = chances / (chances[-1] + beyond)
        self.tabled = np.array([_spelled(rank) for rank in range(N_TABLED)] + [""], object)

    def words(self, uniform: NDArray[np.float64]) -> NDArray[np.object_]:
        ranks = np.searchsorted(self.limits, uniform)
        words = self.tabled[ranks]
        far = ranks == N_TABLED
        left = np.maximum((1 - uniform[far]) / (1 - self.limits[-1]), 1e-9)
        words[far] = [_spelled(int(rank)) for rank in N_TABLED * left ** (-1 / TAIL)]
        return words


def _spelled(rank: int) -> str:
    """A number in syllables, which no stemmer shortens."""
    word, rest = "", rank + 70
    while rest:
        rest, syllable = divmod(rest, 70)
        word += ONSETS[syllable // 5] + VOWELS[syllable % 5]
    return word + "k"
