"""One prefix's next-token distribution, condensed so that any temperature costs little."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from shaketable.facts.curves.predicate import ACCEPT, REJECT, UNDECIDED

OPENED = 3
"""A token whose own next tokens are known: its mass is counted there."""
_N_GROUPS = 4

_N_EXACT = 2048
"""Up to so many tokens, or where some are shut out, each is summed by itself."""
_N_TOP = 128
"""Of more tokens, at most so many of the most likely are; the rest are summed in bins."""
_WIDTH = 1 / 8
"""Of a bin, in log-probability. With moments up to the fourth its relative error is below (_WIDTH / 2t)^5 / 120."""
_MOMENTS = (1, 1, 1 / 2, 1 / 6, 1 / 24)
_BLOCK = 64
_FARTHEST = 200
"""Tokens so far below the top in log-probability cannot be drawn; at temperature 4 each has less than 1e-21."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Truncation:
    """Which tokens can be drawn; as common libraries, after the temperature: first top-k, then top-p."""

    top_k: int = 0
    """0: all."""
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if self.top_k < 0 or not 0 < self.top_p <= 1:
            raise ValueError(f"top_k is {self.top_k} and top_p {self.top_p}, expected 0 or more and a share up to 1.")


class Spectrum:
    def __init__(self, log_probabilities: np.ndarray, verdicts: np.ndarray, truncation: Truncation) -> None:
        """Log-probabilities of every token at temperature 1, and what the predicate says of each."""
        self.log_probabilities = log_probabilities
        self.groups = verdicts.copy()
        """ACCEPT, REJECT, UNDECIDED or OPENED, for each token."""
        self.top_p = truncation.top_p
        self.top = float(log_probabilities.max(initial=-np.inf))
        if not np.isfinite(self.top):
            raise ValueError(f"The largest log-probability is {self.top}, expected a finite number.")
        possible = np.flatnonzero(log_probabilities > self.top - _FARTHEST)
        if 0 < truncation.top_k < len(possible):
            least = np.partition(log_probabilities[possible], -truncation.top_k)[-truncation.top_k]
            possible = possible[log_probabilities[possible] >= least]
        self.has_bins = len(possible) > _N_EXACT and truncation == Truncation()
        self._keep_singly(self._fill_bins(possible) if self.has_bins else possible)
        self._known: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}

    def shares(self, temperatures: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """log Σ exp(l / t) over all tokens, and each group's share of that sum: shapes (t,) and (t, group)."""
        asked = temperatures.tobytes()
        if asked not in self._known:
            self._known[asked] = self._sum(temperatures)
        return self._known[asked]

    def _sum(self, temperatures: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        heights = np.exp(np.multiply.outer(1 / temperatures, self.single_logs - self.top))
        if self.top_p < 1.0:
            heights *= np.arange(len(self.single)) < self._n_nucleus(heights)[:, None]
        sums = heights @ _one_hot(self.groups[self.single])
        if self.has_bins:
            sums += _bin_heights(temperatures.tobytes(), self.moments.shape[1]) @ self.moments.reshape(-1, _N_GROUPS)
        totals = sums.sum(axis=1)
        return np.log(totals) + self.top / temperatures, sums / totals[:, None]

    def log_probability(self, token: int, temperatures: np.ndarray, log_totals: np.ndarray) -> np.ndarray:
        """Of one token at each temperature; minus infinity where truncation shuts it out."""
        log_probability: np.ndarray = float(self.log_probabilities[token]) / temperatures - log_totals
        if self.top_p < 1.0:
            heights = np.exp(np.multiply.outer(1 / temperatures, self.single_logs - self.top))
            i = np.flatnonzero(self.single == token)
            inside = i[0] < self._n_nucleus(heights) if i.size else False
            log_probability = np.where(inside, log_probability, -np.inf)
        return log_probability

    def drawable(self, temperature: float, *, opened: bool) -> tuple[np.ndarray, np.ndarray]:
        """The undecided tokens that can be drawn (and the opened ones), with heights in proportion to probability."""
        wanted = (UNDECIDED, OPENED) if opened else (UNDECIDED,)
        if self.has_bins:
            tokens = np.flatnonzero(np.isin(self.groups, wanted))
            return tokens, np.exp((self.log_probabilities[tokens].astype(np.float64) - self.top) / temperature)
        heights = np.exp((self.single_logs - self.top) / temperature)
        n = int(self._n_nucleus(heights[None])[0]) if self.top_p < 1.0 else len(heights)
        kept = np.flatnonzero(np.isin(self.groups[self.single[:n]], wanted))
        return self.single[kept], heights[kept]

    def likeliest(self, n: int, group: int = UNDECIDED) -> list[int]:
        """The n likeliest tokens of a group, best first, lowest id among equals."""
        tokens = self.single[self.groups[self.single] == group][:n]
        # All in the bins are less likely than these.
        if len(tokens) < n and self.has_bins:
            tokens = np.flatnonzero(self.groups == group)
            logs = self.log_probabilities[tokens]
            if len(tokens) > n:
                is_among = logs >= np.partition(logs, -n)[-n]
                tokens, logs = tokens[is_among], logs[is_among]
            tokens = tokens[np.argsort(-logs, kind="stable")][:n]
        return [int(token) for token in tokens]

    def open(self, token: int) -> None:
        """Move a token out of the undecided; its bin is summed again without it."""
        group = self.groups[token]
        self.groups[token] = OPENED
        self._known.clear()
        if not (self.single == token).any():
            self._keep_singly(np.append(self.single, token))
            self._sum_again(int(self._places(np.array([token]))[0][0]), group)

    def _keep_singly(self, tokens: np.ndarray) -> None:
        # Descending and stable, as nucleus sampling sorts them.
        tokens = np.sort(tokens)
        self.single = tokens[np.argsort(-self.log_probabilities[tokens], kind="stable")]
        self.single_logs = self.log_probabilities[self.single].astype(np.float64)

    def _fill_bins(self, tokens: np.ndarray) -> np.ndarray:
        """Sum the tokens in bins, all but those of the first bins, which are given back."""
        numbers, offsets = self._places(tokens)
        n_apart = int(np.searchsorted(np.cumsum(np.bincount(numbers)), _N_TOP, side="right"))
        # Few lengths, so that spectra share their tables of heights.
        n_bins = -(-(int(numbers.max()) + 1) // _BLOCK) * _BLOCK
        keys = numbers * _N_GROUPS + self.groups[tokens]
        sums, powers = [np.bincount(keys, minlength=n_bins * _N_GROUPS)], offsets
        for _ in _MOMENTS[1:]:
            sums.append(np.bincount(keys, powers, minlength=n_bins * _N_GROUPS))
            powers = powers * offsets
        self.moments = np.array(sums, dtype=np.float64).reshape(len(_MOMENTS), n_bins, _N_GROUPS)
        """Of the tokens in each bin, by group: the sums of the powers of their offsets to its middle."""
        self.moments[:, :n_apart] = 0
        return tokens[numbers < n_apart]

    def _places(self, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Each token's bin, counted from the top, and its offset to the middle of that."""
        depths = (self.top - self.log_probabilities[tokens].astype(np.float64)) * (1 / _WIDTH)
        numbers = depths.astype(np.int64)
        return numbers, (numbers + 0.5 - depths) * _WIDTH

    def _sum_again(self, number: int, group: int) -> None:
        edges = self.top - np.array([number + 2, number - 1]) * _WIDTH
        near = (self.groups == group) & (self.log_probabilities > edges[0]) & (self.log_probabilities < edges[1])
        numbers, offsets = self._places(np.flatnonzero(near))
        self.moments[:, number, group] = [(offsets[numbers == number] ** i).sum() for i in range(len(_MOMENTS))]

    def _n_nucleus(self, heights: np.ndarray) -> np.ndarray:
        """How many of the most likely tokens reach the share top_p, at each temperature."""
        shares = heights / heights.sum(axis=1, keepdims=True)
        before = np.cumsum(shares, axis=1) - shares
        return np.asarray((before < self.top_p).sum(axis=1))


@functools.lru_cache(maxsize=64)
def _bin_heights(temperatures: bytes, n_bins: int) -> np.ndarray:
    """What each moment of each bin adds to the sum, at each temperature: the same for all spectra."""
    betas = 1 / np.frombuffer(temperatures)
    powers = betas[:, None] ** np.arange(len(_MOMENTS)) * _MOMENTS
    middles = np.exp(np.multiply.outer(betas, -(np.arange(n_bins) + 0.5) * _WIDTH))
    return np.asarray((powers[:, :, None] * middles[:, None]).reshape(len(betas), -1))


def _one_hot(groups: np.ndarray) -> np.ndarray:
    return np.asarray(groups[:, None] == np.arange(_N_GROUPS), dtype=np.float64)


__all__ = ["ACCEPT", "OPENED", "REJECT", "UNDECIDED", "Spectrum", "Truncation"]
