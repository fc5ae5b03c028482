"""What lies at the margin itself must not be called equivalent, nor a temperature that breaks too much a ceiling."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from known_truth import draws
from known_truth.draws import Numbers, Rng
from known_truth.rows import Row, seed_of
from known_truth.tables import Draw, Layout, score_tables
from shaketable.analyses.claims import N_LEAST
from shaketable.analyses.evidence.equivalence import equivalence
from shaketable.analyses.evidence.guidelines import guidelines
from shaketable.analyses.tables import Tables

HEAT = (0.0, 0.5, 1.0, 1.5, 2.0)
BROKEN = 0.06
"""The share of questions that break at the hottest temperature, where the margin is 0.05."""
ALPHA, BATCH = 0.05, 100


def count_equivalent(tables: Tables) -> list[bool]:
    """Of each study, whether it would be called equivalent if nothing else were claimed."""
    tests = equivalence(tables).tests
    return [test.difference.n >= N_LEAST and test.p is not None and test.p < ALPHA for test in tests]


def count_too_hot(tables: Tables) -> list[bool]:
    return [(ceiling.ceiling.value or 0.0) >= HEAT[-1] for ceiling in guidelines(tables).ceilings]


@dataclass(frozen=True, kw_only=True, slots=True)
class AtTheMargin:
    what: str
    n: int
    draw: Draw
    layout: Layout
    find: Callable[[Tables], list[bool]]

    slowness: int = 4

    def run(self, draws: range) -> list[Row]:
        found: list[bool] = []
        for start in draws[::BATCH]:
            word = f"{seed_of(self.what, self.n, start):08x}-"
            rng, studies = np.random.default_rng(seed_of(word)), min(BATCH, draws.stop - start)
            found += self.find(score_tables(rng, studies, self.n, word, draw=self.draw, layout=self.layout))
        return [Row(part="margins", what=self.what, n=self.n, hits=sum(found), n_draws=len(found), most=0.05)]


def breaking(rng: Rng, studies: int, n: int) -> Numbers:
    """Right at all temperatures, but for some questions at the hottest."""
    right = np.ones((studies, 1, len(HEAT), n))
    right[:, :, -1] = rng.random((studies, 1, n)) >= BROKEN
    return right[..., None]


def cases(*, full: bool) -> Iterator[AtTheMargin]:
    at_margin = partial(draws.lost_shares, mean=0.6, lose=0.05, gain=0.0)
    situations: list[tuple[str, Draw, Layout, Callable[[Tables], list[bool]]]] = [
        ("equivalent, 5 % lose, 1 run", partial(at_margin, icc=1.0, runs=1), Layout(margin=0.05), count_equivalent),
        ("equivalent, 5 % lose, 3 runs", partial(at_margin, icc=0.5, runs=3), Layout(margin=0.05), count_equivalent),
        *(
            (
                f"equivalent, {shape} scores at the margin",
                partial(draws.lost_scores, shape=shape, mean=0.04, runs=1),
                Layout(metric="bertscore", margin=0.04),
                count_equivalent,
            )
            for shape in ("normal", "skewed")
        ),
        ("ceiling at 2, where 6 % break", breaking, Layout(temperatures=HEAT, margin=0.05), count_too_hot),
    ]
    for what, draw, layout, find in situations:
        for n in (3, 8, 12, 24, 60, 200):
            yield AtTheMargin(what=what, n=n, draw=draw, layout=layout, find=find)
