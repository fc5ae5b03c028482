"""How much of what varies inside questions a factor does to all of them alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shaketable.statistics.intervals import ROUNDING, Numbers, Statistic
from shaketable.statistics.sign_flips import sign_flip, sign_flip_series

DUST = 1e-9


def partial_epsilon_squared(effects: Sequence[Numbers]) -> Statistic:
    """Of each factor, whose effects are levels × questions.

    With u the effects on one question it estimates |E u|² / E |u|². Pairs of different questions, u · u', give the
    numerator, so that dice add nothing to it: partial eta squared, which squares the mean, is too large by about 1 / n.
    It may be below 0 where there is next to no effect.
    """
    rounded = [np.round(of_factor, ROUNDING) for of_factor in effects]
    return lambda drawn: np.stack([_epsilon(of_factor, drawn) for of_factor in rounded])


def p_of_effects(effects: Numbers, question_ids: Sequence[str]) -> list[float]:
    """For each series of effects (series × levels × questions) that they are not 0 on average, NaN without questions.

    Shuffles of the levels of a question would take the noise of a hot temperature to a cool one; the signs of all its
    effects are flipped together instead.
    """
    return sign_flip_series(np.round(effects, ROUNDING), question_ids)


def p_of_difference(first: Numbers, second: Numbers, question_ids: Sequence[str]) -> float | None:
    """That the partial epsilon squared of two factors differs; None where one of them does nothing at all.

    What each question adds to the difference (its jackknife pseudo-value) is tested to have mean 0.
    """
    if len(question_ids) < 3:
        return None
    added = _pseudo_values(np.round(first, ROUNDING)) - _pseudo_values(np.round(second, ROUNDING))
    return None if np.isnan(added).any() else sign_flip(added[None], question_ids)[0]


def _epsilon(effects: Numbers, drawn: Numbers) -> Numbers:
    """For each draw; NaN where nothing varies at all, and 0 in draws of questions that do not.

    A draw of one question alone has no pair: all that varies is its own.
    """
    nothing = 0.0 if effects.any() else np.nan
    squares, n = (effects**2).sum(axis=0), drawn.sum(axis=-1)
    repeated = drawn**2
    n_pairs = n**2 - repeated.sum(axis=-1)
    total = drawn @ squares / n
    pairs = ((drawn @ effects.T) ** 2).sum(axis=-1) - repeated @ squares
    shared = np.divide(pairs, n_pairs, out=total.copy(), where=n_pairs > 0)
    epsilon: Numbers = np.divide(shared, total, out=np.full_like(total, nothing), where=total > 0)
    return epsilon


def _pseudo_values(effects: Numbers) -> Numbers:
    """What each question adds; NaN where nothing varies."""
    n = effects.shape[1]
    squares = (effects**2).sum(axis=0)
    rest = squares.sum() - squares
    pairs = ((effects.sum(axis=1, keepdims=True) - effects) ** 2).sum(axis=0) - rest
    left_out = np.divide(pairs, (n - 2) * rest, out=np.zeros_like(rest), where=rest > DUST * squares.sum())
    added: Numbers = n * _epsilon(effects, np.ones((1, n))) - (n - 1) * left_out
    return added
