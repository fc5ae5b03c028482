"""One prefix's next-token distribution, condensed so that any temperature costs little."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shaketable.fragility.predicate import ACCEPT, REJECT, UNDECIDED

OPENED = 3
"""A token whose own next tokens are known: its mass is counted there."""
_N_GROUPS = 4

_N_EXACT = 2048
"""Up to so many tokens, each is summed by itself."""
_N_TOP = 256
"""Of more tokens, so many of the most likely are; the rest are summed in bins."""
_WIDTH = 1 / 8
"""Of a bin, in log-probability. With moments up to the fourth its relative error is below (_WIDTH / 2t)^5 / 120."""
_MOMENTS = (1, 1, 1 / 2, 1 / 6, 1 / 24)


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
        possible = np.flatnonzero(log_probabilities > -np.inf)
        if 0 < truncation.top_k < len(possible):
            least = np.partition(log_probabilities[possible], -truncation.top_k)[-truncation.top_k]
            possible = possible[log_probabilities[possible] >= least]
        single = possible
        if len(possible) > _N_EXACT and self.top_p == 1.0:
            split = np.argpartition(-log_probabilities[possible], _N_TOP)
            single = possible[split[:_N_TOP]]
            binned = possible[split[_N_TOP:]]
        else:
            binned = np.zeros(0, np.int64)
        self._keep_singly(single)
        self._fill_bins(binned)
        self._known: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}

    def shares(self, temperatures: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """log Σ exp(l / t) over all tokens, and each group's share of that sum: shapes (t,) and (t, group)."""
        asked = temperatures.tobytes()
        if asked not in self._known:
            self._known[asked] = self._sum(1 / temperatures)
        return self._known[asked]

    def _sum(self, betas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        heights = np.exp(np.multiply.outer(betas, self.single_logs - self.top))
        if self.top_p < 1.0:
            heights *= np.arange(len(self.single)) < self._n_nucleus(heights)[:, None]
        sums = heights @ _one_hot(self.groups[self.single])
        if self.bin_logs.size:
            powers = betas[:, None] ** np.arange(len(_MOMENTS)) * _MOMENTS
            heights = np.exp(np.multiply.outer(betas, self.bin_logs - self.top)) * (powers @ self.bin_moments)
            sums += heights @ self.bin_groups
        totals = sums.sum(axis=1)
        return np.log(totals) + self.top * betas, sums / totals[:, None]

    def log_probability(self, token: int, temperatures: np.ndarray, log_totals: np.ndarray) -> np.ndarray:
        """Of one token at each temperature; minus infinity where truncation shuts it out."""
        found: np.ndarray = float(self.log_probabilities[token]) / temperatures - log_totals
        if self.top_p < 1.0:
            heights = np.exp(np.multiply.outer(1 / temperatures, self.single_logs - self.top))
            place = np.flatnonzero(self.single == token)
            inside = place[0] < self._n_nucleus(heights) if place.size else False
            found = np.where(inside, found, -np.inf)
        return found

    def drawable(self, temperature: float, *, opened: bool) -> tuple[np.ndarray, np.ndarray]:
        """The undecided tokens that can be drawn (and the opened ones), with heights in proportion to probability."""
        wanted = (UNDECIDED, OPENED) if opened else (UNDECIDED,)
        if self.bin_logs.size:
            tokens = np.flatnonzero(np.isin(self.groups, wanted))
            return tokens, np.exp((self.log_probabilities[tokens].astype(np.float64) - self.top) / temperature)
        heights = np.exp((self.single_logs - self.top) / temperature)
        n = int(self._n_nucleus(heights[None])[0]) if self.top_p < 1.0 else len(heights)
        kept = np.flatnonzero(np.isin(self.groups[self.single[:n]], wanted))
        return self.single[kept], heights[kept]

    def likeliest(self, n: int, group: int = UNDECIDED) -> list[int]:
        """The n likeliest tokens of a group, best first, lowest id among equals."""
        tokens = np.flatnonzero(self.groups == group) if self.bin_logs.size else self.single
        tokens = tokens[self.groups[tokens] == group]
        logs = self.log_probabilities[tokens]
        if len(tokens) > n:
            best = np.argpartition(-logs, n)[:n]
            tokens, logs = tokens[best], logs[best]
        return [int(token) for token in tokens[np.lexsort((tokens, -logs))]]

    def open(self, token: int) -> None:
        """Move a token out of the undecided; its bin is summed again without it."""
        self.groups[token] = OPENED
        self._known.clear()
        if not (self.single == token).any():
            self._keep_singly(np.append(self.single, token))
            self._take_from_bin(token)

    def _keep_singly(self, tokens: np.ndarray) -> None:
        # Descending and stable, as nucleus sampling sorts them.
        tokens = np.sort(tokens)
        self.single = tokens[np.argsort(-self.log_probabilities[tokens], kind="stable")]
        self.single_logs = self.log_probabilities[self.single].astype(np.float64)

    def _fill_bins(self, tokens: np.ndarray) -> None:
        self.binned = tokens
        self._keys, moments = self._moments(tokens)
        self._filled = np.flatnonzero(moments[0])
        self.bin_logs = self.top - (self._filled // _N_GROUPS + 0.5) * _WIDTH
        self.bin_groups = _one_hot(self._filled % _N_GROUPS)
        self.bin_moments = moments[:, self._filled]

    def _moments(self, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Each token's bin, one for every step of log-probability and group, and the bins' sums of powers."""
        logs = self.log_probabilities[tokens].astype(np.float64)
        numbers = np.floor((self.top - logs) / _WIDTH)
        keys = numbers.astype(np.int64) * _N_GROUPS + self.groups[tokens]
        offsets = logs - (self.top - (numbers + 0.5) * _WIDTH)
        sums: list[np.ndarray] = [np.bincount(keys, minlength=1).astype(np.float64)]
        powers = np.ones_like(offsets)
        for _ in _MOMENTS[1:]:
            powers = powers * offsets
            sums.append(np.bincount(keys, powers, minlength=1))
        return keys, np.array(sums)

    def _take_from_bin(self, token: int) -> None:
        """Sum a token's bin again without it."""
        place = np.flatnonzero(self.binned == token)[0]
        key = self._keys[place]
        self._keys[place] = -1
        left = self.binned[self._keys == key]
        sums = self._moments(left)[1][:, key] if left.size else np.zeros(len(_MOMENTS))
        self.bin_moments[:, np.searchsorted(self._filled, key)] = sums

    def _n_nucleus(self, heights: np.ndarray) -> np.ndarray:
        """How many of the most likely tokens reach the share top_p, at each temperature."""
        shares = heights / heights.sum(axis=1, keepdims=True)
        before = np.cumsum(shares, axis=1) - shares
        return np.asarray((before < self.top_p).sum(axis=1))


def _one_hot(groups: np.ndarray) -> np.ndarray:
    return np.asarray(groups[:, None] == np.arange(_N_GROUPS), dtype=np.float64)


__all__ = ["ACCEPT", "OPENED", "REJECT", "UNDECIDED", "Spectrum", "Truncation"]
