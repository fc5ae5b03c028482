"""Scores of studies whose truth is known: studies × evidence × temperatures × questions × runs."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Rng = np.random.Generator
Shape = Literal["normal", "skewed"]
DISASTERS = 0.08
"""The share of answers, or of losses, that are far from the others where scores are skewed."""


def chances(rng: Rng, size: tuple[int, ...], mean: float, icc: float) -> Numbers:
    """The chance of each question to be answered right; `icc` is how much the runs of a question are alike."""
    if icc == 0:
        return np.full(size, mean)
    if icc == 1:
        return (rng.random(size) < mean).astype(np.float64)
    weight = (1 - icc) / icc
    return rng.beta(mean * weight, (1 - mean) * weight, size)


def answers(rng: Rng, chance: Numbers, runs: int) -> Numbers:
    """1 and 0 for each run, the last axis."""
    return (rng.random((*chance.shape, runs)) < chance[..., None]).astype(np.float64)


def shares(rng: Rng, studies: int, n: int, *, mean: float, icc: float, runs: int) -> Numbers:
    return answers(rng, chances(rng, (studies, 1, 1, n), mean, icc), runs)


def lost_shares(
    rng: Rng, studies: int, n: int, *, mean: float, lose: float, gain: float, icc: float, runs: int
) -> Numbers:
    """Original and disturbed. Shares of all questions are lost and gained; the difference is `lose` − `gain`.

    Where runs are all alike (icc 1) single questions are lost and gained; else every question a little.
    """
    size = (studies, 1, 1, n)
    chance = chances(rng, size, mean, icc)
    if icc == 1:
        lost, gained = rng.random(size) < lose / mean, rng.random(size) < gain / (1 - mean)
        other = np.where(chance == 1, 1.0 - lost, gained)
    else:
        other = chance * (1 - lose / mean) + (1 - chance) * gain / (1 - mean)
    return np.concatenate([answers(rng, chance, runs), answers(rng, other, runs)], axis=1)


def scores(rng: Rng, studies: int, n: int, *, shape: Shape, runs: int, icc: float = 0.5) -> Numbers:
    """Their mean is 0.7, or 0.836 where 8 % are disasters (0.1 instead of 0.9)."""
    size = (studies, 1, 1, n)
    if shape == "normal":
        middle = 0.7 + 0.1 * np.sqrt(icc) * rng.standard_normal(size)
    else:
        middle = np.where(rng.random(size) < DISASTERS, 0.1, 0.9) + 0.02 * rng.standard_normal(size)
    noise = 0.1 * np.sqrt(1 - icc) if shape == "normal" else 0.02
    return middle[..., None] + noise * rng.standard_normal((*size, runs))


def lost_scores(rng: Rng, studies: int, n: int, *, shape: Shape, mean: float, runs: int) -> Numbers:
    """Original and disturbed; the mean loss is `mean`, in a few questions alone where losses are skewed."""
    size = (studies, 1, 1, n)
    if shape == "normal":
        loss = mean + 0.1 * rng.standard_normal(size)
    else:
        loss = np.where(rng.random(size) < DISASTERS, mean / DISASTERS, 0.0)
    original = 0.7 + 0.1 * rng.standard_normal(size)
    means = np.concatenate([original, original - loss], axis=1)
    return means[..., None] + 0.02 * rng.standard_normal((*means.shape, runs))


def heated_losses(rng: Rng, studies: int, n: int, *, losses: tuple[float, ...], runs: int = 3) -> Numbers:
    """Original and disturbed at several temperatures, each with its mean loss; questions lose more or less of it."""
    own = 1 + 0.5 * rng.standard_normal((studies, 1, 1, n))
    original = 0.7 + 0.1 * rng.standard_normal((studies, 1, len(losses), n))
    disturbed = original - np.array(losses)[:, None] * own
    means = np.concatenate([original, disturbed], axis=1)
    return means[..., None] + 0.05 * rng.standard_normal((*means.shape, runs))


def repeated_scores(
    rng: Rng, studies: int, n: int, *, cvs: tuple[float, ...], runs: int, of_types: tuple[float, float] = (1.0, 1.0)
) -> Numbers:
    """Runs at several temperatures whose standard deviation is a multiple of the question's mean.

    Every second question is of the other type; types may multiply the deviation.
    """
    middle = 0.7 * np.exp(0.2 * rng.standard_normal((studies, 1, 1, n)))
    spread = middle * np.array(cvs)[:, None] * np.resize(np.array(of_types), n)
    return middle[..., None] + spread[..., None] * rng.standard_normal((*spread.shape, runs))


def crossed_scores(
    rng: Rng,
    studies: int,
    n: int,
    *,
    heat: tuple[float, ...],
    evidence: tuple[float, ...],
    by_question: float,
    runs: int = 3,
) -> Numbers:
    """Evidence × temperatures: effects on all questions, on single ones (their variance), and dice of variance 0.01."""
    question = 0.7 + 0.1 * rng.standard_normal((studies, 1, 1, n))
    own = np.sqrt(by_question) * rng.standard_normal((studies, len(evidence), len(heat), n))
    means = question + np.array(evidence)[:, None, None] + np.array(heat)[:, None] + own
    return means[..., None] + 0.1 * rng.standard_normal((*means.shape, runs))


def with_failures(rng: Rng, values: Numbers, share: float) -> Numbers:
    """The same with some records that failed, whatever their score would have been."""
    return np.where(rng.random(values.shape) < share, np.nan, values)
