"""The tree of an answer's tokens: what is certainly right, certainly wrong, and still open, at every temperature.

Every complete answer is one path, and every path lies under exactly one accepted, rejected or open
token, whose masses are known functions of the temperature. So the accepted mass bounds the
probability of a correct answer from below and one minus the rejected mass from above, for all
temperatures at once, whatever was expanded and in whatever order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from shaketable.facts.curves.predicate import ACCEPT, REJECT, UNDECIDED, Predicate, Prefix
from shaketable.facts.curves.spectrum import OPENED, Spectrum, Truncation

Suffix = tuple[int, ...]


@dataclass
class Node:
    """A prefix whose next token is known in distribution."""

    suffix: Suffix
    prefix: Prefix
    parent: Node | None
    spectrum: Spectrum
    log_mass: np.ndarray
    """Of the prefix, at each target temperature."""
    log_totals: np.ndarray
    shares: np.ndarray
    queue: list[int] = field(default_factory=list)
    """Undecided tokens not yet opened, likeliest first; refilled when empty."""


@dataclass(frozen=True, kw_only=True)
class Masses:
    """Of all nodes at some temperatures: shapes (node, t)."""

    nodes: np.ndarray
    accepted: np.ndarray
    rejected: np.ndarray
    open: np.ndarray
    """Under undecided tokens that are no nodes."""
    opened: np.ndarray
    """Under those that are."""

    @property
    def low(self) -> np.ndarray:
        return np.asarray(self.accepted.sum(axis=0))

    @property
    def high(self) -> np.ndarray:
        return np.asarray(self.accepted.sum(axis=0) + self.open.sum(axis=0))


_QUEUE = 64


class Tree:
    def __init__(
        self, predicate: Predicate, *, n_tokens: int, targets: Sequence[float], truncation: Truncation | None = None
    ) -> None:
        """Answers of at most `n_tokens` tokens, the end mark included; `targets` are kept up to date while growing."""
        self.predicate, self.n_tokens = predicate, n_tokens
        self.targets = np.array(targets, dtype=np.float64)
        self.truncation = truncation or Truncation()
        self.nodes: dict[Suffix, Node] = {}
        self.root_verdict = predicate.verdict(predicate.start, n_tokens)

    def add(self, suffix: Suffix, log_probabilities: np.ndarray) -> Node:
        """Expand a prefix: judge all its next tokens at once. Its parent must be in the tree."""
        logs = np.asarray(log_probabilities)
        n = self.predicate.vocabulary.n
        if logs.shape != (n,):
            raise ValueError(f"Log-probabilities have shape {logs.shape}, expected ({n},): one for each token.")
        parent = self.nodes[suffix[:-1]] if suffix else None
        prefix = self.predicate.after(parent.prefix, suffix[-1]) if parent else self.predicate.start
        verdicts = self.predicate.judge(prefix, self.n_tokens - len(suffix) - 1)
        log_mass = np.zeros_like(self.targets)
        if parent:
            step = parent.spectrum.log_probability(suffix[-1], self.targets, parent.log_totals)
            log_mass = parent.log_mass + step
            parent.spectrum.open(suffix[-1])
            parent.shares = parent.spectrum.shares(self.targets)[1]
        spectrum = Spectrum(logs, verdicts, self.truncation)
        log_totals, shares = spectrum.shares(self.targets)
        node = Node(suffix, prefix, parent, spectrum, log_mass, log_totals, shares)
        self.nodes[suffix] = node
        return node

    def aim(self, targets: Sequence[float]) -> None:
        """Keep other temperatures up to date from now on."""
        self.targets = np.array(targets, dtype=np.float64)
        for node in self.nodes.values():
            node.log_totals, node.shares = node.spectrum.shares(self.targets)
            node.log_mass = np.zeros_like(self.targets)
            if node.parent:
                step = node.parent.spectrum.log_probability(node.suffix[-1], self.targets, node.parent.log_totals)
                node.log_mass = node.parent.log_mass + step

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bound of the probability of a correct answer, at the targets."""
        if not self.nodes:
            low = np.full_like(self.targets, float(self.root_verdict == ACCEPT))
            return low, np.full_like(self.targets, float(self.root_verdict != REJECT))
        low = sum(np.exp(node.log_mass) * node.shares[:, ACCEPT] for node in self.nodes.values())
        still_open = sum(np.exp(node.log_mass) * node.shares[:, UNDECIDED] for node in self.nodes.values())
        return np.asarray(low), np.asarray(low + still_open)

    def masses(self, temperatures: np.ndarray) -> Masses:
        """At any temperatures, computed again from the stored distributions."""
        n, m = len(self.nodes), len(temperatures)
        log_mass, log_totals, shares = np.zeros((n, m)), np.zeros((n, m)), np.zeros((n, m, OPENED + 1))
        places = {suffix: i for i, suffix in enumerate(self.nodes)}
        for i, node in enumerate(self.nodes.values()):
            if node.parent:
                above = places[node.parent.suffix]
                step = node.parent.spectrum.log_probability(node.suffix[-1], temperatures, log_totals[above])
                log_mass[i] = log_mass[above] + step
            log_totals[i], shares[i] = node.spectrum.shares(temperatures)
        mass = np.exp(log_mass)
        return Masses(
            nodes=mass,
            accepted=mass * shares[:, :, ACCEPT],
            rejected=mass * shares[:, :, REJECT],
            open=mass * shares[:, :, UNDECIDED],
            opened=mass * shares[:, :, OPENED],
        )

    def best_open(self, n: int) -> list[Suffix]:
        """The n open prefixes with the largest mass, summed over the targets."""
        if not self.nodes:
            return [()] if self.root_verdict == UNDECIDED else []
        suffixes: list[tuple[float, Suffix]] = []
        for node in self.nodes.values():
            node.queue = [token for token in node.queue if node.spectrum.groups[token] == UNDECIDED]
            if not node.queue:
                node.queue = node.spectrum.likeliest(max(n, _QUEUE))
            suffixes += [(-float(self.open_mass(node, token).sum()), (*node.suffix, token)) for token in node.queue[:n]]
        return [suffix for mass, suffix in sorted(suffixes)[:n] if mass < 0]

    def open_mass(self, node: Node, token: int) -> np.ndarray:
        """Of one next token, at the targets."""
        step = node.spectrum.log_probability(token, self.targets, node.log_totals)
        return np.asarray(np.exp(node.log_mass + step))
