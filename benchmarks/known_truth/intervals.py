"""The situations in which intervals are measured: shares, scores, temperatures, variances."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from known_truth import draws, more_intervals, readings
from known_truth.coverage import Coverage, Number, of_scores
from known_truth.draws import Rng
from known_truth.tables import Layout
from shaketable.analyses.evidence.amplification import amplification
from shaketable.analyses.evidence.correctness import correctness
from shaketable.analyses.evidence.degradation import degradation
from shaketable.analyses.evidence.dominance import dominance
from shaketable.analyses.evidence.variability import variability
from shaketable.analyses.together.variance_shares import variance_shares

SHARE, SCORE = Layout(), Layout(metric="bertscore")
RUNS = ((1, 1.0), (3, 0.0), (3, 0.5), (3, 1.0))
"""How many, and how much those of a question are alike."""


def share_cases(n: int, *, full: bool) -> Iterator[Coverage]:
    """Shares, and paired differences of shares."""
    for mean in (0.02, 0.1, 0.5, 0.9, 0.98) if full else (0.02, 0.5, 0.9):
        for runs, icc in RUNS if full else RUNS[::2]:
            draw = partial(draws.shares, mean=mean, icc=icc, runs=runs)
            number = Number(what=f"share {mean:g}, {_runs(runs, icc)}", truth=mean, read=readings.levels)
            yield of_scores(n, draw, SHARE, correctness, number)
    for lose, gain in ((0.05, 0.0), (0.1, 0.1), (0.2, 0.05), (0.0, 0.0)):
        for runs, icc in RUNS if full or gain == 0 < lose else RUNS[::2]:
            draw = partial(draws.lost_shares, mean=0.6, lose=lose, gain=gain, icc=icc, runs=runs)
            what = f"difference of shares, {lose:g} lose, {gain:g} gain, {_runs(runs, icc)}"
            number = Number(what=what, truth=lose - gain, read=readings.evidence_drops)
            yield of_scores(n, draw, SHARE, correctness, number)
    planted = partial(draws.lost_shares, mean=0.6, lose=0.1, gain=0.0, icc=1.0, runs=1)
    loss = Number(what="loss of shares in degradation, 0.1 lose", truth=0.1, read=readings.losses)
    yield of_scores(n, planted, SHARE, degradation, loss, slowness=2)
    drop = Number(what="difference of shares, 0.1 lose, 10 % failures", truth=0.1, read=readings.evidence_drops)
    yield of_scores(n, planted, Layout(failures=0.1), correctness, drop, slowness=2)


def score_cases(n: int, *, full: bool) -> Iterator[Coverage]:
    """Means of scores, and paired differences of scores."""
    shapes: tuple[tuple[draws.Shape, float], ...] = (("normal", 0.7), ("skewed", 0.836))
    for shape, truth in shapes:
        for runs in (1, 3):
            draw = partial(draws.scores, shape=shape, runs=runs)
            number = Number(what=f"mean score, {shape}, {_runs(runs)}", truth=truth, read=readings.levels)
            yield of_scores(n, draw, SCORE, correctness, number)
            for mean in (0.0, 0.04) if full else (0.04,):
                lost = partial(draws.lost_scores, shape=shape, mean=mean, runs=runs)
                what = f"difference of scores, {shape}, {mean:g}, {_runs(runs)}"
                number = Number(what=what, truth=mean, read=readings.evidence_drops)
                yield of_scores(n, lost, SCORE, correctness, number)
    failing = Layout(metric="bertscore", failures=0.1)
    number = Number(what="mean score, normal, 3 runs, 10 % failures", truth=0.7, read=readings.levels)
    yield of_scores(n, partial(draws.scores, shape="normal", runs=3), failing, correctness, number, slowness=2)


def heat_cases(n: int, *, full: bool) -> Iterator[Coverage]:
    """Slopes, ratios and spreads."""
    three = Layout(metric="bertscore", temperatures=(0.0, 1.0, 2.0))
    slope = Number(what="slope of losses of scores", truth=0.05, read=readings.slopes)
    ratio = Number(what="ratio of losses, hot to cool", truth=2.0, read=readings.hot_ratios)
    losses = partial(draws.heated_losses, losses=(0.1, 0.15, 0.2))
    yield of_scores(n, losses, three, amplification, slope, ratio, slowness=4)
    two = Layout(temperatures=(0.0, 1.0))
    slope = Number(what="slope of losses of shares", truth=0.1, read=readings.slopes)
    yield of_scores(n, _heated_shares, two, amplification, slope, slowness=4)
    for runs in (2, 3, 10):
        for cv in (0.1, 0.3) if full else (0.1,):
            draw = partial(draws.repeated_scores, cvs=(cv,), runs=runs)
            number = Number(what=f"CV {cv:g} of {runs} runs", truth=cv, read=readings.cvs)
            yield of_scores(n, draw, SCORE, variability, number, slowness=2)
    draw = partial(draws.repeated_scores, cvs=(0.05, 0.1, 0.15), runs=3)
    baseline = Number(what="stability baseline 0.1", truth=0.1, read=readings.baselines)
    yield of_scores(n, draw, three, variability, baseline, slowness=2)
    typed = Layout(metric="bertscore", types=("bridge", "comparison"))
    contrast = Number(what="two types, difference of CV", truth=0.05, read=readings.type_contrasts)
    draw = partial(draws.repeated_scores, cvs=(0.1,), runs=3, of_types=(1.0, 1.5))
    yield of_scores(n, draw, typed, variability, contrast, slowness=2)


def _heated_shares(rng: Rng, studies: int, n: int) -> draws.Numbers:
    """Disturbed evidence costs nothing when cool and 0.1 when hot."""
    cool = draws.lost_shares(rng, studies, n, mean=0.6, lose=0.1, gain=0.1, icc=1.0, runs=1)
    hot = draws.lost_shares(rng, studies, n, mean=0.6, lose=0.2, gain=0.1, icc=1.0, runs=1)
    return np.concatenate([cool, hot], axis=2)


CROSSED = Layout(metric="bertscore", temperatures=(0.0, 1.0, 2.0))
EVIDENCE = (0.0, -0.05, -0.05)
"""Effects of the kinds of evidence."""
BY_QUESTION, DICE, QUESTION, N_RUNS = 0.01, 0.01, 0.01, 3
"""Variances of the crossed design."""


def variance_cases(n: int, *, full: bool) -> Iterator[Coverage]:
    """Effect sizes and shares of the variance."""
    for heat in ((0.0, 0.0, 0.0), (0.0, -0.015, -0.03), (0.0, -0.04, -0.08)):
        of_all = float(np.var(heat)) * len(heat)
        of_single = (len(heat) - 1) * (BY_QUESTION + DICE / N_RUNS) / len(EVIDENCE)
        truth = of_all / (of_all + of_single)
        draw = partial(draws.crossed_scores, heat=heat, evidence=EVIDENCE, by_question=BY_QUESTION)
        number = Number(what=f"effect size of temperature {truth:.2g}", truth=truth, read=readings.effects_of_heat)
        yield of_scores(n, draw, CROSSED, dominance, number, slowness=4)
    heat = (0.0, -0.05, -0.1)
    draw = partial(draws.crossed_scores, heat=heat, evidence=EVIDENCE, by_question=BY_QUESTION)
    yield of_scores(n, draw, CROSSED, variance_shares, *_shares(heat), slowness=4)


def _shares(heat: tuple[float, ...]) -> Iterator[Number]:
    n_settings = len(heat) * len(EVIDENCE)
    parts = {
        "temperature": float(np.var(heat)),
        "evidence": float(np.var(EVIDENCE)),
        "question": QUESTION + BY_QUESTION / n_settings,
        "by_question": BY_QUESTION * (n_settings - 1) / n_settings,
        "sampling": DICE,
    }
    for name, variance in parts.items():
        truth, is_setting = variance / sum(parts.values()), name in ("temperature", "evidence")
        kind, settings = ("setting", (name,)) if is_setting else (name, ())
        read = partial(readings.variance_shares_of, kind=kind, settings=settings)
        yield Number(what=f"variance share of {name} {truth:.2g}", truth=truth, read=read)


def _runs(runs: int, icc: float | None = None) -> str:
    return "1 run" if runs == 1 else f"{runs} runs" if icc is None else f"{runs} runs, icc {icc:g}"


def cases(*, full: bool) -> Iterator[Coverage]:
    for n in (8, 12, 24, 60, 200):
        for family in (share_cases, score_cases, heat_cases, variance_cases, more_intervals.cases):
            yield from family(n, full=full)
