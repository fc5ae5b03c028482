"""One prompt's fragility curve: which prefixes to ask the model for, and what its replies say at every temperature."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from shaketable.facts.curves.leftover import Estimates, Leftover
from shaketable.facts.curves.predicate import ACCEPT, REJECT, UNDECIDED, Predicate
from shaketable.facts.curves.spectrum import Truncation
from shaketable.facts.curves.tree import Suffix, Tree
from shaketable.types import Curve, Json

_GOLD_MASS = 0.01
"""A beginning of an accepted answer is followed first while its mass is above this at some target."""
_N_WRONG = 5
_N_ZOOMS, _N_STEPS = 2, 24
"""How often, and into how many steps, a step of the scan is divided where a curve crosses the threshold."""


@functools.cache
def _steps(low: float, high: float, step: float) -> tuple[float, ...]:
    return tuple(round(low + i * step, 10) for i in range(round((high - low) / step) + 1))


def grid_to(end: float) -> tuple[float, ...]:
    """Where curves are given: in steps of 0.05 up to the end."""
    return _steps(0.05, end, 0.05)


@dataclass(frozen=True, kw_only=True)
class CurveSettings:
    max_tokens: int = 5
    """Of an answer, the end mark included."""
    temperatures: tuple[float, ...] = _steps(0.2, 2.0, 0.2)
    """Targets: the tree grows, and stops growing, with a view to these."""
    grid: tuple[float, ...] = grid_to(4.0)
    """Where the finished curve is given."""
    threshold: float = 0.5
    """Broken: the probability of a correct answer lies strictly below this."""
    budget: int = 400
    """Token positions the model may compute, samples included."""
    n_samples: int = 90
    """Paths at most that are drawn from what the tree leaves open; 0: none, bounds alone."""
    n_sampled_temperatures: int = 3
    """At how many temperatures they are drawn."""
    least_effective: float = 20.0
    """There is no estimate where samples amount to fewer equally weighted ones ..."""
    narrow: float = 0.1
    """... unless the bounds lie no further apart than this."""
    eps: float = 0.001
    """Enough is known once the bounds lie no further apart at any target."""
    eps_temperature: float = 0.001
    """With the goal `breaking`: or once the breaking temperature is known this well."""
    level: float = 0.95
    top_k: int = 0
    top_p: float = 1.0
    goal: Literal["curve", "breaking"] = "curve"
    """What to spend the budget on: all targets alike, or the middle of the interval where the answer breaks."""
    n_at_once: int = 4
    """Prefixes asked for in one turn while the tree grows; more fill a batch, fewer are chosen better."""
    scan_step: float = 0.01
    """A dip below the threshold narrower than this can be missed."""
    scan_to: float = 4.0

    def __post_init__(self) -> None:
        if min((*self.temperatures, *self.grid, self.scan_step)) <= 0:
            raise ValueError("A temperature of a curve is 0 or less; expected temperatures above 0.")
        if self.max_tokens < 1 or self.budget < 0 or self.n_samples < 0 or self.n_at_once < 1:
            raise ValueError("max_tokens and n_at_once must be 1 or more, budget and n_samples 0 or more.")


Requests = Generator[list[Suffix], Sequence[Any], None]


def curve(
    key: str, predicate: Predicate, settings: CurveSettings, seed: int = 0
) -> Generator[list[Suffix], Sequence[Any], Curve]:
    """Asks for next-token log-probabilities at temperature 1 by yielding lists of token-id suffixes
    (after the fixed prompt; `()` is the prompt itself); is sent one array per suffix; returns the curve."""
    if not any(gold.strip() for gold in predicate.golds):
        return Curve(key=key, level=settings.level, reason="no accepted answers")
    growth = _Growth(predicate, settings, seed)
    yield from growth.grow()
    return growth.result(key)


class _Growth:
    def __init__(self, predicate: Predicate, settings: CurveSettings, seed: int) -> None:
        self.predicate, self.settings, self.seed = predicate, settings, seed
        self.rng = np.random.Generator(np.random.Philox(key=seed))
        truncation = Truncation(top_k=settings.top_k, top_p=settings.top_p)
        self.tree = Tree(predicate, n_tokens=settings.max_tokens, targets=settings.temperatures, truncation=truncation)
        self.leftover: Leftover | None = None
        self.openings = [gold.strip().casefold() for gold in predicate.golds if gold.strip()]

    @property
    def n_positions(self) -> int:
        return len(self.tree.nodes)

    # --- asking --------------------------------------------------------------------------------

    def grow(self) -> Requests:
        """First along the accepted answers, then wherever most is open, then samples of the rest."""
        settings = self.settings
        n_path = max(settings.max_tokens - 1, 1)
        for_tree = settings.budget - settings.n_samples * n_path
        if self.tree.root_verdict == UNDECIDED and settings.budget:
            yield from self._expand([()])
        while (beginnings := self._accepted_beginnings()) and self.n_positions < settings.budget:
            yield from self._expand(beginnings[: settings.budget - self.n_positions])
        while self.n_positions < for_tree and not self._is_enough():
            n = min(settings.n_at_once, for_tree - self.n_positions)
            best = self.tree.best_open(n)
            if not best:
                break
            yield from self._expand(best)
        if settings.n_samples and self.tree.nodes and not self._is_enough():
            yield from self._sample(n_path)

    def _expand(self, suffixes: Sequence[Suffix]) -> Requests:
        replies = yield list(suffixes)
        for suffix, reply in zip(suffixes, replies, strict=True):
            self.tree.add(suffix, reply)

    def _accepted_beginnings(self) -> list[Suffix]:
        """Likely open prefixes that read like the beginning of an accepted answer."""
        beginnings = []
        for node in self.tree.nodes.values():
            if not self._begins(node.suffix):
                continue
            for token in node.spectrum.likeliest(64):
                suffix = (*node.suffix, token)
                if self._begins(suffix) and (mass := self.tree.open_mass(node, token).max()) >= _GOLD_MASS:
                    beginnings.append((-float(mass), suffix))
        return [suffix for _, suffix in sorted(beginnings)]

    def _begins(self, suffix: Suffix) -> bool:
        text = self.predicate.vocabulary.text(suffix).lstrip().rstrip("\ufffd").casefold()
        return any(gold.startswith(text) for gold in self.openings)

    def _is_enough(self) -> bool:
        if self.settings.goal == "breaking":
            first, last, _ = self._bracket()
            if last is not None and last - first <= self.settings.eps_temperature:
                return True
            self.tree.aim([max(first, self.settings.scan_step) if last is None else (first + last) / 2])
        low, high = self.tree.bounds()
        return bool((high - low <= self.settings.eps).all())

    def _sample(self, n_path: int) -> Requests:
        low, high = self.tree.bounds()
        left = high - low
        # Evenly over the targets that the bounds leave open: paths of other temperatures count for little there.
        unclear = np.flatnonzero(left > self.settings.narrow)
        unclear = unclear if unclear.size else np.array([left.argmax()])
        places = np.linspace(0, len(unclear) - 1, self.settings.n_sampled_temperatures)
        chosen = sorted({int(unclear[round(i)]) for i in places})
        self.leftover = Leftover(self.tree, self.tree.targets[chosen].tolist(), self.rng)
        openings = self.leftover.draw(self.settings.n_samples)
        while openings and (n := (self.settings.budget - self.n_positions) // n_path):
            yield from self.leftover.follow(openings[:n])
            openings = openings[n:]

    # --- reading the result --------------------------------------------------------------------

    def _estimates(self, temperatures: np.ndarray) -> Estimates:
        if self.tree.nodes:
            leftover = self.leftover or Leftover(self.tree, [1.0], self.rng)
            estimates = leftover.estimate(temperatures, self.settings.level)
        else:
            low = np.full(len(temperatures), float(self.tree.root_verdict == ACCEPT))
            high = np.full(len(temperatures), float(self.tree.root_verdict != REJECT))
            estimates = Estimates(low=low, high=high, value=low, value_low=low, value_high=high, n_effective=0 * low)
        middle = (estimates.low + estimates.high) / 2
        return dataclasses.replace(estimates, value=np.where(np.isnan(estimates.value), middle, estimates.value))

    def _is_known(self, estimates: Estimates) -> np.ndarray:
        """Where the samples, or the bounds, are good enough for an estimate."""
        is_narrow = estimates.high - estimates.low <= self.settings.narrow
        return np.asarray(is_narrow | (estimates.n_effective >= self.settings.least_effective))

    def _why_unknown(self) -> str:
        return (
            f"where there is no estimate the samples amount to fewer than {self.settings.least_effective:g} equally "
            f"weighted ones, and the bounds lie more than {self.settings.narrow:g} apart"
        )

    def _bracket(self) -> tuple[float, float | None, float | None]:
        """Where the lower bound, the upper bound and the estimate first fall below the threshold.

        0 where they start below; for the lower bound the end of the scan, for the others None, where they never do.
        """
        settings = self.settings
        scan = np.array(_steps(settings.scan_step, settings.scan_to, settings.scan_step))
        estimates = self._estimates(scan)
        low, high, middle = self._crossings(scan, estimates)
        # Before the estimate crosses, the answer may have broken unseen where nothing can be said.
        is_unclear = ~self._is_known(estimates) & (estimates.low < settings.threshold)
        if middle is not None and (is_unclear & (scan <= middle + settings.scan_step)).any():
            middle = None
        return settings.scan_to if low is None else low, float(scan[0]) if high == 0.0 else high, middle

    def _crossings(self, scan: np.ndarray, estimates: Estimates) -> list[float | None]:
        """Of the lower bound, the upper bound and the estimate: 0 where they start below, None where they never do.

        All three are followed at once, each time into the step where it crosses; at the end it is taken as straight.
        """
        threshold = self.settings.threshold
        crossings: dict[int, float | None] = {}
        spans = dict.fromkeys(range(3), scan)
        values = dict(enumerate((estimates.low, estimates.high, estimates.value)))
        for zoom in range(_N_ZOOMS + 1):
            if zoom and spans:
                estimates = self._estimates(np.concatenate(list(spans.values())))
                lines = [np.split(line, len(spans)) for line in (estimates.low, estimates.high, estimates.value)]
                values = {line: lines[line][i] for i, line in enumerate(spans)}
            for line, span in list(spans.items()):
                below = np.flatnonzero(values[line] < threshold)
                if not below.size or below[0] == 0:
                    crossings.setdefault(line, 0.0 if below.size else None)
                    del spans[line]
                    continue
                (start, end), (over, under) = (array[below[0] - 1 : below[0] + 1] for array in (span, values[line]))
                crossings[line] = float(start + (end - start) * (over - threshold) / (over - under))
                spans[line] = np.linspace(start, end, _N_STEPS + 1)
        return [crossings[line] for line in range(3)]

    def result(self, key: str) -> Curve:
        settings = self.settings
        estimates = self._estimates(np.array(settings.grid))
        is_known = self._is_known(estimates)
        low, high, middle = self._bracket()
        at = middle or 1.0
        stated = {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}
        shown: dict[str, Json] = {name: value for name, value in stated.items() if not isinstance(value, tuple)}
        return Curve(
            key=key,
            temperatures=settings.grid,
            low=tuple(estimates.low.tolist()),
            high=tuple(estimates.high.tolist()),
            value=_where(is_known, estimates.value),
            value_low=_where(is_known, estimates.value_low),
            value_high=_where(is_known, estimates.value_high),
            n_effective=tuple(estimates.n_effective.tolist()),
            level=settings.level,
            breaking=middle,
            breaking_low=low,
            breaking_high=high,
            value_reason=None if is_known.all() else self._why_unknown(),
            position_losses=self._losses(at),
            wrong=self._wrong(at),
            n_expanded=len(self.leftover.frozen) if self.leftover else len(self.tree.nodes),
            n_positions=self.n_positions,
            n_samples=len(self.leftover.paths) if self.leftover else 0,
            settings={
                **shown,
                "seed": self.seed,
                "match": self.predicate.match,
                "cut_at_newline": self.predicate.cut_at_newline,
            },
        )

    def _losses(self, temperature: float) -> tuple[float, ...]:
        """Mass that leaves the accepted answers at each position."""
        losses = [0.0] * self.settings.max_tokens
        masses = self.tree.masses(np.array([temperature]))
        for i, suffix in enumerate(self.tree.nodes):
            if self._begins(suffix):
                losses[len(suffix)] += float(masses.nodes[i, 0] - masses.accepted[i, 0])
                if suffix:
                    losses[len(suffix) - 1] -= float(masses.nodes[i, 0])
        return tuple(losses)

    def _wrong(self, temperature: float) -> tuple[dict[str, Json], ...]:
        """The likeliest tokens after which no answer can be correct, as the text up to there."""
        answers: list[tuple[float, Suffix]] = []
        at = np.array([temperature])
        masses = self.tree.masses(at)
        for i, node in enumerate(self.tree.nodes.values()):
            log_total = node.spectrum.shares(at)[0]
            for token in node.spectrum.likeliest(_N_WRONG, REJECT):
                share = np.exp(node.spectrum.log_probability(token, at, log_total)[0])
                answers.append((float(masses.nodes[i, 0] * share), (*node.suffix, token)))
        answers.sort(key=lambda item: (-item[0], item[1]))
        return tuple(
            {"text": self.predicate.vocabulary.text(suffix), "probability": mass, "temperature": temperature}
            for mass, suffix in answers[:_N_WRONG]
        )


def _where(is_known: np.ndarray, values: np.ndarray) -> tuple[float | None, ...]:
    return tuple(float(value) if known else None for known, value in zip(is_known, values, strict=True))
