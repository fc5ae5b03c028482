"""A system and its next release, drawn from known truth, held against each other by the gate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from known_truth.draws import Numbers, Rng, answers, chances
from known_truth.rows import Row, seed_of
from known_truth.tables import Layout, score_table
from shaketable.analyses.gate.regressions import regressions
from shaketable.analyses.gate.verdicts import judge
from shaketable.types import Gate

ACCURACY = 0.7
HIT = 0.15
"""Of the questions, those that a disturbance takes away: the same in both releases, since the evidence is the same."""
Spread = Literal["each a little", "some whole"]
"""How a release loses: every question becomes a little harder, or some are not answered any more."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """What is compared: 200 questions, in some conditions, each asked a few times."""

    icc: float
    """How much the runs of a question are alike; 1: temperature 0, at which a re-run gives the same answers."""
    conditions: int = 1
    runs: int = 1
    churn: float = 0.0
    """Of the answers at temperature 0, those that another release turns from right to wrong, and as many back."""
    spread: Spread = "some whole"
    in_one: bool = False
    """Whether one condition alone gets worse."""
    drop: float = 0.1
    n: int = 200
    is_required: bool = True
    """Whether the gate promises it."""

    @property
    def agreement(self) -> float:
        """Of the verdicts on one question in two runs of the same system."""
        return 1 - 2 * ACCURACY * (1 - ACCURACY) * (1 - self.icc)

    @property
    def what(self) -> str:
        heat = f"re-runs agree on {self.agreement:.0%}" if self.icc < 1 else f"temperature 0, churn {self.churn:.0%}"
        asked = f"{self.conditions} condition{'s' * (self.conditions > 1)} × {self.runs}"
        return f"{asked}, {heat}, {'in one condition' if self.in_one else self.spread}"

    def run(self, draws: range) -> list[Row]:
        """How often the gate is passed by a re-run, and closed for the worse release."""
        rng = np.random.default_rng(seed_of(self.what, draws.start))
        n_passed = n_closed = 0
        for i in draws:
            truth = self._truth(rng)
            base = self._asked(rng, truth)
            n_passed += self._passes(base, base if self.icc == 1 else self._asked(rng, truth), i)
            n_closed += not self._passes(base, self._asked(rng, self._worse(rng, truth)), i)
        least = 0.95 if self.is_required else None
        return [
            Row(part="passes", what=self.what, n=self.n, hits=n_passed, n_draws=len(draws), least=0.95),
            Row(part="closes", what=self.what, n=self.n, hits=n_closed, n_draws=len(draws), least=least),
        ]

    def _truth(self, rng: Rng) -> Numbers:
        """The chance of each question in each condition to be answered right."""
        clean = chances(rng, (self.n,), ACCURACY, self.icc)
        hit = rng.random((self.conditions, self.n)) < HIT
        hit[0] = False
        return np.where(hit, 0.0, clean)

    def _worse(self, rng: Rng, truth: Numbers) -> Numbers:
        """The same after a release that loses `drop` of all answers, beside what it moves both ways."""
        worse = truth.copy()
        if self.churn:
            right = truth > 0.5
            lost = rng.random(truth.shape) < self.churn
            gained = rng.random(truth.shape) < self.churn * right.mean() / (1 - right.mean())
            worse = np.where(right, np.where(lost, 0.0, truth), np.where(gained, 1.0, truth))
        share = self.drop / worse.mean(axis=1, keepdims=True)
        if self.spread == "each a little":
            harder = worse * (1 - share)
        else:  # A question that is lost is lost in all conditions.
            harder = np.where(rng.random(self.n) < share, 0.0, worse)
        return np.vstack([worse[:-1], harder[-1:]]) if self.in_one else harder

    def _asked(self, rng: Rng, truth: Numbers) -> Numbers:
        return answers(rng, truth, self.runs)[None, :, None]

    def _passes(self, base: Numbers, release: Numbers, i: int) -> bool:
        tables = [score_table(values, Layout(metric="contains"), f"{i}-") for values in (base, release)]
        quantities, _ = regressions(tables[0], tables[1], "contains")
        return judge(quantities, Gate()).passes


def cases() -> list[Release]:
    """What the gate promises, and where it ends."""
    return [
        Release(icc=1.0),
        Release(icc=1.0, churn=0.03),
        Release(icc=1.0, churn=0.05),
        Release(icc=1.0, churn=0.03, conditions=4),
        *(Release(icc=icc, spread=spread) for icc in (0.9, 0.8) for spread in ("each a little", "some whole")),
        *(Release(icc=icc, runs=3, spread=spread) for icc in (0.8, 0.6) for spread in ("each a little", "some whole")),
        *(
            Release(icc=icc, conditions=4, spread=spread)
            for icc in (0.8, 0.6)
            for spread in ("each a little", "some whole")
        ),
        *(Release(icc=icc, conditions=4, runs=3) for icc in (0.8, 0.6)),
        Release(icc=1.0, conditions=4, in_one=True),
        # Beyond what is promised: too much noise for one answer a question, or one condition of several.
        Release(icc=0.6, is_required=False),
        Release(icc=0.8, conditions=4, in_one=True, is_required=False),
        Release(icc=0.8, conditions=4, runs=3, in_one=True, is_required=False),
        Release(icc=0.6, conditions=4, runs=3, in_one=True, is_required=False),
    ]
