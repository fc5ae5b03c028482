"""The law of total variance over a crossed design: what each factor, their interactions, questions and runs explain."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from shaketable.statistics.intervals import ROUNDING, Numbers, Statistic

DUST = 1e-9
"""A variance below this is none."""
Kind = Literal["setting", "interactions", "question", "by_question", "sampling"]
"""A factor by itself; factors together; which question is asked; factors that act otherwise on one question than on
another; runs of one setting."""


class Component(NamedTuple):
    """What a part of the variance comes from."""

    kind: Kind
    factors: tuple[str, ...] = ()
    """Of a setting, its own; of a piece, those that it is of, none where it is of all the other combinations."""
    is_piece: bool = False
    """A part of the whole of its kind. What is none adds up to the variance."""


QUESTION, SAMPLING = Component("question"), Component("sampling")
INTERACTIONS, BY_QUESTION = Component("interactions"), Component("by_question")


@dataclass(frozen=True, kw_only=True, slots=True)
class Cross:
    """The answers of a fully crossed design."""

    factors: tuple[str, ...]
    """Those with several levels."""
    question_ids: tuple[str, ...]
    means: Numbers
    """Over runs, questions × a dimension for each factor."""
    variances: Numbers | None
    """Between runs, in the same places; None: some setting has one run alone."""
    errors: Numbers
    """Sampling variances of the means, in the same places; 0 where they are not known."""

    @property
    def n_settings(self) -> int:
        return math.prod(self.means.shape[1:])


@dataclass(frozen=True, kw_only=True, slots=True)
class Effect:
    """What some of the factors together do to each question, beyond what fewer of them do."""

    factors: tuple[str, ...]
    """None of them: the question's own mean."""
    values: Numbers
    """Questions × combinations of levels."""
    degrees: int
    """Its degrees of freedom."""


def shares(cross: Cross) -> tuple[list[Component], Statistic]:
    """The components, and their shares of the whole variance for resampled questions; NaN where nothing varies."""
    components, variances = split(cross)
    is_whole = np.array([not component.is_piece for component in components])

    def of_whole(drawn: Numbers) -> Numbers:
        parts = variances(drawn)
        total = np.nansum(parts[is_whole], axis=0)
        divided: Numbers = parts / np.where(total > DUST, total, np.nan)
        return divided

    return components, of_whole


def split(cross: Cross) -> tuple[list[Component], Statistic]:
    """The components, and their variances for resampled questions.

    With u the effect on one question, |E u|² is what settings do to all, and E |u − E u|² what they do to one and not
    to another. Both come from pairs of different questions, so that the draw of the questions adds to neither, nor do
    the dice to the first; from the second the dice are taken out.
    """
    effects = list(_effects(cross))
    errors = _mean_over_settings(cross.errors)
    dice = np.zeros_like(errors) if cross.variances is None else _mean_over_settings(cross.variances)
    components = _components(cross.factors)

    def variances(drawn: Numbers) -> Numbers:
        weights, n_pairs = _pair_weights(drawn)
        n = drawn.sum(axis=-1)
        parts = {component: np.zeros(len(drawn)) for component in components} | {SAMPLING: weights @ dice}
        for effect in effects:
            squares = (effect.values**2).mean(axis=1)
            squared_sums = ((drawn @ effect.values) ** 2).mean(axis=1)
            between = np.divide(
                n * (drawn @ squares) - squared_sums, n_pairs, out=np.zeros_like(n_pairs), where=n_pairs > 0
            )
            to_all, to_single = _homes(effect.factors)
            for component in to_all:
                parts[component] += weights @ squares - between
            for component in to_single:
                parts[component] += between - effect.degrees / cross.n_settings * (weights @ errors)
        if cross.variances is None:
            parts[SAMPLING] = np.full(len(drawn), np.nan)
        return np.stack(list(parts.values()))

    return components, variances


def setting_effects(cross: Cross) -> dict[str, Numbers]:
    """What each factor by itself does to each question: levels × questions."""
    return {effect.factors[0]: effect.values.T for effect in _effects(cross) if len(effect.factors) == 1}


def _effects(cross: Cross) -> Iterator[Effect]:
    """Of no factor, of each factor, of each pair and so on: they are orthogonal and sum to the means."""
    axes = range(1, cross.means.ndim)
    for n in range(len(axes) + 1):
        for chosen in itertools.combinations(axes, n):
            values = cross.means.mean(axis=tuple(axis for axis in axes if axis not in chosen), keepdims=True)
            for axis in chosen:
                values = values - values.mean(axis=axis, keepdims=True)
            yield Effect(
                factors=tuple(cross.factors[axis - 1] for axis in chosen),
                values=np.round(values.reshape(len(values), -1), ROUNDING),
                degrees=math.prod(cross.means.shape[axis] - 1 for axis in chosen),
            )


def _mean_over_settings(values: Numbers) -> Numbers:
    averaged: Numbers = values.reshape(len(values), -1).mean(axis=1)
    return averaged


def _pair_weights(drawn: Numbers) -> tuple[Numbers, Numbers]:
    """How often each question stands in a pair with another one, as a share; and the number of pairs.

    A draw of one question alone has no pair; it has all the weight.
    """
    n = drawn.sum(axis=-1, keepdims=True)
    n_pairs = n**2 - (drawn**2).sum(axis=-1, keepdims=True)
    weights = np.divide(drawn * (n - drawn), n_pairs, out=drawn / n, where=n_pairs > 0)
    return weights, n_pairs[..., 0]


def _homes(factors: tuple[str, ...]) -> tuple[list[Component], list[Component]]:
    """The components that an effect on all questions belongs to, and those of what it is to single ones."""
    match factors:
        case ():
            return [], [QUESTION]
        case (_,):
            return [Component("setting", factors)], [BY_QUESTION, Component("by_question", factors, True)]
        case _:
            piece = Component("interactions", factors if len(factors) == 2 else (), True)
            return [INTERACTIONS, piece], [BY_QUESTION, Component("by_question", (), True)]


def _components(factors: Sequence[str]) -> list[Component]:
    """Each once; those that are no piece come first."""
    sets = [chosen for n in range(len(factors) + 1) for chosen in itertools.combinations(factors, n)]
    homes = [home for side in zip(*map(_homes, sets), strict=True) for home in side if home]
    whole = [*(home[0] for home in homes), SAMPLING]
    return list(dict.fromkeys([*whole, *(piece for home in homes for piece in home[1:])]))
