"""How often the nominal 95 % intervals of one kind of number hold the truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from known_truth.draws import Rng
from known_truth.rows import Row, covered, seed_of
from known_truth.tables import Draw, Layout, score_tables
from shaketable.analyses.tables import Tables
from shaketable.types import Estimate

BATCH = 250
"""Studies that are analyzed together, and share the draws of the bootstrap."""
Analysis = Callable[[Tables], Any]
Read = Callable[[Any], list[Estimate]]
"""What an analysis gave → one estimate for each study."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Number:
    what: str
    truth: float
    read: Read


@dataclass(frozen=True, kw_only=True, slots=True)
class Coverage:
    """The numbers of one analysis in one situation."""

    n: int
    make: Callable[[Rng, int, int, str], Tables]
    """Studies, questions and the beginning of their ids → tables."""
    analysis: Analysis
    numbers: tuple[Number, ...]
    slowness: int = 1
    """How many times fewer draws than the others it gets, because it takes long."""

    def run(self, draws: range) -> list[Row]:
        estimates: dict[str, list[Estimate]] = {number.what: [] for number in self.numbers}
        for start in draws[::BATCH]:
            word = f"{seed_of(self.numbers[0].what, self.n, start):08x}-"
            rng, studies = np.random.default_rng(seed_of(word)), min(BATCH, draws.stop - start)
            result = self.analysis(self.make(rng, studies, self.n, word))
            for number in self.numbers:
                estimates[number.what] += number.read(result)
        return [covered(number.what, self.n, number.truth, estimates[number.what]) for number in self.numbers]


def of_scores(n: int, draw: Draw, layout: Layout, analysis: Analysis, *numbers: Number, slowness: int = 1) -> Coverage:
    make = partial(score_tables, draw=draw, layout=layout)
    return Coverage(n=n, make=make, analysis=analysis, numbers=numbers, slowness=slowness)
