"""Planted losses: how often they are found by the test behind a claim, beside exact McNemar and the paired t test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl
from scipy import stats

from known_truth import draws
from known_truth.draws import Numbers
from known_truth.evidence_studies import evidence_tables
from known_truth.rows import Row, seed_of
from known_truth.studies import say
from known_truth.tables import Layout, score_tables
from shaketable.analyses.evidence.degradation import degradation
from shaketable.analyses.tables import Tables
from shaketable.study import load_study

ALPHA, CHURN = 0.05, 0.05
"""Beside the planted loss, so many questions are lost and as many gained by chance."""
BATCH = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class Power:
    """One disturbance that costs something, by itself."""

    loss: float
    n: int
    runs: int
    slowness: int = 4

    def run(self, draws: range) -> list[Row]:
        n_draws = len(draws)
        own, plain = self._p_values(n_draws, self.loss + CHURN, CHURN)
        # The same discordance without a loss tells how often each test errs; a plain test that errs more often than the
        # analysis does is held to the error of the analysis.
        even = self.loss / 2 + CHURN
        own_errors, plain_errors = self._p_values(n_draws, even, even)
        at_same_error = {name: _rate(p, _cut(plain_errors[name], _rate(own_errors))) for name, p in plain.items()}
        best = max(at_same_error.values())
        note = f"error {100 * _rate(own_errors):.1f}; " + "; ".join(
            f"{name} {100 * at_same_error[name]:.0f}, at 5 % {100 * _rate(p):.0f} (error "
            f"{100 * _rate(plain_errors[name]):.1f})"
            for name, p in plain.items()
        )
        return [
            Row(
                part="power",
                what=f"loss of {self.loss:g}, {self.runs} runs",
                n=self.n,
                hits=int((own < ALPHA).sum()),
                n_draws=n_draws,
                least=best - 0.05,
                note=note,
            )
        ]

    def _p_values(self, n_draws: int, lose: float, gain: float) -> tuple[Numbers, dict[str, Numbers]]:
        """Of the analysis, and of the plain tests."""
        icc = 1.0 if self.runs == 1 else 0.5
        draw = partial(draws.lost_shares, mean=0.6, lose=lose, gain=gain, icc=icc, runs=self.runs)
        own, plain = [], {"McNemar": [], "t": []} if self.runs == 1 else {"t": []}
        for start in range(0, n_draws, BATCH):
            word = f"{seed_of('power', self.n, self.runs, lose, gain, start):08x}-"
            rng = np.random.default_rng(seed_of(word))
            tables = score_tables(rng, min(BATCH, n_draws - start), self.n, word, draw=draw, layout=Layout())
            own += [loss.p for loss in degradation(tables).losses]
            for differences in _differences(tables, self.n):
                for name, p_values in plain.items():
                    p_values.append(_mcnemar(differences) if name == "McNemar" else _paired_t(differences))
        return np.array(own), {name: np.array(p_values) for name, p_values in plain.items()}


def _differences(tables: Tables, n: int) -> Numbers:
    """Studies × questions."""
    means = tables.scores.group_by("dataset", "perturbation", "question_id").agg(pl.col("value").mean())
    ordered = means.sort("dataset", "perturbation", "question_id")["value"].to_numpy().reshape(-1, 2, n)
    return ordered[:, 1] - ordered[:, 0]


def _mcnemar(differences: Numbers) -> float:
    lost, gained = int((differences > 0).sum()), int((differences < 0).sum())
    return float(stats.binomtest(lost, lost + gained).pvalue) if lost + gained else 1.0


def _paired_t(differences: Numbers) -> float:
    return float(stats.ttest_1samp(differences, 0.0).pvalue) if differences.std() else 1.0


def _rate(p_values: Numbers, cut: float = ALPHA) -> float:
    return float((p_values < cut).mean())


def _cut(errors: Numbers, rate: float) -> float:
    """What a p must be below so that errors are no more frequent than this rate."""
    allowed = np.sort(np.append(errors, ALPHA))
    return min(ALPHA, float(allowed[int(rate * len(errors))]))


@dataclass(frozen=True, kw_only=True, slots=True)
class PowerInFamily:
    """The same as one of all claims of a study of evidence and temperature."""

    loss: float
    n: int
    slowness: int = 20

    def run(self, draws: range) -> list[Row]:
        study = replace(load_study("context_temperature"), main_metric="correct", margin=None)
        planted, n_shown, n_family = study.perturbations[-1], 0, 0
        for draw in draws:
            word = f"{seed_of('family', self.n, self.loss, draw):08x}-"
            tables = evidence_tables(np.random.default_rng(seed_of(word)), self.n, word, study, planted=self.loss)
            claims = say(tables, study.analyses).page.claims
            n_family += len(claims.every)
            n_shown += any(
                claim.says == "differs" and claim.subject.cell.perturbation == planted for claim in claims.shown
            )
        what, note = f"loss of {self.loss:g}, shown inside a study", f"{n_family / len(draws):.0f} claims"
        return [Row(part="power", what=what, n=self.n, hits=n_shown, n_draws=len(draws), note=note)]


def cases(*, full: bool) -> Iterator[Power | PowerInFamily]:
    for loss in (0.05, 0.1, 0.2):
        for n in (60, 200):
            for runs in (1, 3):
                yield Power(loss=loss, n=n, runs=runs)
            yield PowerInFamily(loss=loss, n=n)
