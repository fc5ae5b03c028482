"""What the open part of a tree holds, estimated from sampled paths.

Paths are drawn at a few temperatures and serve all others by their weights, against the mixture of all
those temperatures. Each prefix on a path tells exactly how much of it is accepted and rejected at
once, so a path gives a share of success instead of one success or failure.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from shaketable.facts.curves.tree import Masses, Node, Suffix, Tree

Replies = Sequence[np.ndarray]
Requests = Generator[list[Suffix], Replies, None]


def clopper_pearson(n_successes: np.ndarray, n: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """The exact binomial interval; numbers that are not whole stand for weighted samples."""
    tail = (1 - level) / 2
    x = np.clip(n_successes, 0, n)
    low = special.betaincinv(np.where(x > 0, x, 1), n - x + 1, tail)
    high = special.betaincinv(x + 1, np.where(x < n, n - x, 1), 1 - tail)
    return np.where(x > 0, low, 0.0), np.where(x < n, high, 1.0)


@dataclass(frozen=True, kw_only=True)
class Estimates:
    """At some temperatures: certain bounds, and between them the estimate with its interval."""

    low: np.ndarray
    high: np.ndarray
    value: np.ndarray
    value_low: np.ndarray
    value_high: np.ndarray
    n_effective: np.ndarray
    """To how many equally weighted paths the samples amount."""


class Leftover:
    def __init__(self, tree: Tree, temperatures: Sequence[float], rng: np.random.Generator) -> None:
        """Freezes what is open now; `temperatures` are those at which paths are drawn."""
        self.tree, self.rng = tree, rng
        self.temperatures = np.array(temperatures, dtype=np.float64)
        self.frozen = list(tree.nodes)
        self.frozen_open = tree.masses(self.temperatures).open
        self.paths: list[list[Suffix]] = []
        """Finished ones: the prefixes of each that were open when it was drawn."""

    def draw(self, n: int) -> list[tuple[Suffix, int]]:
        """n openings, each with the number of its temperature. Evenly spread over what is open, then shuffled."""
        openings: list[tuple[Suffix, int]] = []
        turns = np.arange(n) % len(self.temperatures)
        for number, temperature in enumerate(self.temperatures):
            n_here = int((turns == number).sum())
            spots = (np.arange(n_here) + self.rng.random(n_here)) / n_here if n_here else np.zeros(0)
            cumulative = np.cumsum(self.frozen_open[:, number])
            for spot in spots * cumulative[-1]:
                i = min(int(np.searchsorted(cumulative, spot, side="right")), len(cumulative) - 1)
                node = self.tree.nodes[self.frozen[i]]
                within = 1 - (cumulative[i] - spot) / self.frozen_open[i, number]
                token = _pick(*node.spectrum.drawable(float(temperature), opened=False), within)
                openings.append(((*node.suffix, token), number))
        return [openings[i] for i in self.rng.permutation(len(openings))]

    def follow(self, openings: Sequence[tuple[Suffix, int]]) -> Requests:
        """Walk the openings to their ends, all at once, asking for each new prefix."""
        live = [([suffix], number) for suffix, number in openings]
        while live:
            wanted = list(dict.fromkeys(path[-1] for path, _ in live if path[-1] not in self.tree.nodes))
            if wanted:
                for suffix, reply in zip(wanted, (yield wanted), strict=True):
                    self.tree.add(suffix, reply)
            still_live = []
            for path, number in live:
                token = self._go_on(self.tree.nodes[path[-1]], float(self.temperatures[number]))
                if token is None:
                    self.paths.append(path)
                else:
                    still_live.append(([*path, (*path[-1], token)], number))
            live = still_live

    def _go_on(self, node: Node, temperature: float) -> int | None:
        tokens, heights = node.spectrum.drawable(temperature, opened=True)
        return _pick(tokens, heights, self.rng.random()) if heights.sum() > 0 else None

    def estimate(self, temperatures: np.ndarray, level: float) -> Estimates:
        n_drawn = len(self.temperatures)
        masses = self.tree.masses(np.concatenate([self.temperatures, temperatures]))
        asked = _columns(masses, slice(n_drawn, None))
        if not self.paths:
            nothing = np.full(len(temperatures), np.nan)
            return Estimates(
                low=asked.low,
                high=asked.high,
                value=nothing,
                value_low=asked.low,
                value_high=asked.high,
                n_effective=np.zeros(len(temperatures)),
            )
        accepted, decided = self._weigh(_columns(masses, slice(0, n_drawn)), asked)
        frozen = slice(0, len(self.frozen))
        sure = asked.accepted[frozen].sum(axis=0)
        left = asked.open[frozen].sum(axis=0)
        for i, suffix in enumerate(self.tree.nodes):
            if i >= len(self.frozen) and len(suffix) and self.places[suffix[:-1]] < len(self.frozen):
                left = left + asked.nodes[i]
        weights = decided.sum(axis=0)
        share = np.divide(accepted.sum(axis=0), weights, out=np.zeros_like(weights), where=weights > 0)
        relative = np.divide(decided, left, out=np.zeros_like(decided), where=left > 0)
        squares = (relative**2).sum(axis=0)
        total = relative.sum(axis=0)
        # Kish's effective number; where the weights fall short of their mean of 1, likely paths were missed.
        effective = np.minimum(np.divide(total**2, squares, out=np.zeros_like(total), where=squares > 0), total)
        share_low, share_high = clopper_pearson(share * effective, effective, level)
        low, high = asked.low, asked.high
        value_low = np.clip(sure + left * share_low, low, high)
        value_high = np.clip(sure + left * share_high, low, high)
        return Estimates(
            low=low,
            high=high,
            value=np.clip(sure + left * share, value_low, value_high),
            value_low=value_low,
            value_high=value_high,
            n_effective=effective,
        )

    def _weigh(self, drawn: Masses, asked: Masses) -> tuple[np.ndarray, np.ndarray]:
        """Accepted and decided mass that each path stands for: shapes (path, t)."""
        self.places = {suffix: i for i, suffix in enumerate(self.tree.nodes)}
        left = self.frozen_open.sum(axis=0)
        accepted = np.zeros((len(self.paths), asked.nodes.shape[1]))
        decided = np.zeros_like(accepted)
        for number, path in enumerate(self.paths):
            first = drawn.nodes[self.places[path[0]]]
            density = np.divide(first, left, out=np.zeros_like(left), where=left > 0)
            before = None
            for suffix in path:
                i = self.places[suffix]
                if before is not None:
                    undecided = drawn.open[before] + drawn.opened[before]
                    step = np.divide(drawn.nodes[i], undecided, out=np.zeros_like(left), where=undecided > 0)
                    density = density * step
                mean = density.mean()
                accepted[number] += asked.accepted[i] / mean
                decided[number] += (asked.accepted[i] + asked.rejected[i]) / mean
                before = i
        return accepted, decided


def _pick(tokens: np.ndarray, heights: np.ndarray, spot: float) -> int:
    cumulative = np.cumsum(heights)
    i = int(np.searchsorted(cumulative, spot * cumulative[-1], side="right"))
    return int(tokens[min(i, int(np.flatnonzero(heights)[-1]))])


def _columns(masses: Masses, which: slice) -> Masses:
    return Masses(
        nodes=masses.nodes[:, which],
        accepted=masses.accepted[:, which],
        rejected=masses.rejected[:, which],
        open=masses.open[:, which],
        opened=masses.opened[:, which],
    )
