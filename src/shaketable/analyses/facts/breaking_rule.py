"""How a breaking temperature is read off the scan of a fact, or off its curve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from shaketable.analyses.facts.facts import Fact
from shaketable.facts.score import TOLERANCE, Rule, breaking_temperature, frs, is_broken
from shaketable.types import Curve

HOTTEST = 2.0
"""Where the study's grid ends; a fact that holds so far is unbroken."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BreakingRule:
    """How a breaking temperature is read off a scan."""

    rule: Rule = "first"
    threshold: float = 0.5
    inclusive: bool = False

    def capped(self, fact: Fact) -> float | None:
        """On the grid, or where nothing was sampled, of the curve; None: unbroken up to the end, or undecided."""
        if fact.tried:
            return breaking_temperature(
                fact.accuracies, rule=self.rule, threshold=self.threshold, inclusive=self.inclusive
            )
        breaking = self._on_curve(fact)
        return breaking if breaking is not None and breaking <= HOTTEST else None

    def undecided(self, fact: Fact) -> str | None:
        """Why it is known neither where the fact breaks nor that it holds up to the end; None: one of them is."""
        if self.capped(fact) is not None or fact.hottest in fact.accuracies:
            return None
        if fact.tried:
            return "the scan has not come to its end"
        if fact.curve is None:
            return fact.no_curve or "it has neither a scan nor a curve"
        if self._on_curve(fact) is not None or self._holds(fact.curve, HOTTEST):
            return None
        read_at = fact.curve.settings.get("threshold", self.threshold)
        if read_at != self.threshold:
            return f"its curve was read at the threshold {read_at}"
        return "the curve leaves open where it breaks"

    def is_decided(self, fact: Fact) -> bool:
        return self.undecided(fact) is None

    def is_unbroken(self, fact: Fact) -> bool | None:
        """Up to the end of the scan; None: undecided. That it breaks may be certain when it is not certain where."""
        if self.is_decided(fact):
            return self.capped(fact) is None
        surely = None if fact.tried or fact.curve is None else fact.curve.breaking_high
        return False if surely is not None and surely <= HOTTEST else None

    def uncapped(self, fact: Fact) -> float | None:
        """By the curve; its end, as a lower bound, for a fact that holds that long. None: the curve cannot say."""
        breaking = self._on_curve(fact)
        if breaking is None and fact.curve is not None and self.is_censored(fact):
            return fact.curve.temperatures[-1]
        return breaking

    def span(self, fact: Fact) -> tuple[float, float | None]:
        """Between which temperatures the curve breaks, by the interval of its estimate, or by its certain bounds where
        there is none, to the step of its grid; None: it may hold beyond its end."""
        curve = fact.curve
        if curve is None or not curve.temperatures:
            return 0.0, None
        lows = [low if value is None else value for low, value in zip(curve.low, curve.value_low, strict=True)]
        highs = [high if value is None else value for high, value in zip(curve.high, curve.value_high, strict=True)]
        before, at = (self._first_below(line) for line in (lows, highs))
        temperatures = (0.0, *curve.temperatures)
        least = max(temperatures[-1 if before is None else before], curve.breaking_low or 0.0)
        most = [t for t in (None if at is None else temperatures[at + 1], curve.breaking_high) if t is not None]
        breaking = curve.breaking
        return min(least, least if breaking is None else breaking), max(min(most), breaking or 0.0) if most else None

    def _first_below(self, line: Sequence[float]) -> int | None:
        broken = (is_broken(value, threshold=self.threshold, inclusive=self.inclusive) for value in line)
        return next((i for i, is_below in enumerate(broken) if is_below), None)

    def is_censored(self, fact: Fact) -> bool:
        """Whether the curve ends before the fact breaks."""
        curve = fact.curve
        return curve is not None and self._on_curve(fact) is None and self._holds(curve, math.inf)

    def _on_curve(self, fact: Fact) -> float | None:
        """Where the curve breaks; None: nowhere, or nobody knows, or it was read at another threshold than this."""
        if fact.curve is None or fact.curve.settings.get("threshold", self.threshold) != self.threshold:
            return None
        return fact.curve.breaking

    def _holds(self, curve: Curve, up_to: float) -> bool:
        """Whether a correct answer stays likely enough, by the certain bound or else by the estimate."""
        here = [i for i, t in enumerate(curve.temperatures) if t <= up_to + TOLERANCE]
        least = [max(curve.low[i], curve.value[i] or 0.0) for i in here]
        return bool(least) and not any(
            is_broken(value, threshold=self.threshold, inclusive=self.inclusive) for value in least
        )

    def score(self, fact: Fact, d: float, *, is_capped: bool = True) -> float | None:
        """The fact's score; None without entropy or an end of the scan, and uncapped without a curve that can say."""
        if fact.entropy is None:
            return None
        if is_capped:
            return frs(fact.entropy, self.capped(fact), d) if self.is_decided(fact) else None
        breaking = self.uncapped(fact)
        return None if breaking is None else frs(fact.entropy, breaking, d)

    def score_span(self, fact: Fact, d: float) -> tuple[float, float] | None:
        """The uncapped score at both ends of where the curve breaks: it only rises with the breaking temperature."""
        if fact.entropy is None or self.uncapped(fact) is None:
            return None
        low, high = self.span(fact)
        return frs(fact.entropy, low, d), frs(fact.entropy, high, d)
