"""What a published claim is compared with, and the three verdicts there are."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

import polars as pl

from shaketable.types import OldFinding, Study

Verdict = Literal["agrees", "differs", "cannot be said"]
Row = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """One claim of a study beside one system of a run."""

    claim: str
    """What the study says, in our words."""
    published: str
    """Its figure, with what it belongs to."""
    system: str
    own: str
    """The run's figure, with interval and n; empty: there is none."""
    verdict: Verdict
    reason: str
    """What decided it, or why it cannot be said."""


@dataclass(frozen=True, kw_only=True)
class Own:
    """A run's findings, as claims look into them."""

    study: Study
    main_metric: str | None
    findings: Sequence[OldFinding]

    def rows(self, analysis: str, **wanted: Any) -> list[Row]:
        """The rows of an analysis that have these values."""
        return [
            row
            for finding in self.findings
            if finding.analysis == analysis
            for row in finding.rows
            if all(row.get(name) == value for name, value in wanted.items())
        ]

    def by_system(self, analysis: str, **wanted: Any) -> dict[str, list[Row]]:
        """The same, for each system, in the order of the finding."""
        systems: dict[str, list[Row]] = {}
        for row in self.rows(analysis, **wanted):
            systems.setdefault(str(row["system"]), []).append(row)
        return systems


Claim = Callable[[Own], Iterator[Comparison]]


@functools.cache
def table(name: str) -> pl.DataFrame:
    """A published table."""
    return pl.read_csv((resources.files("shaketable") / "resources" / "published" / f"{name}.csv").read_bytes())


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """A value with its interval; no value: there is none."""

    value: float | None
    low: float | None
    high: float | None
    n: int

    @classmethod
    def of(cls, row: Row) -> Span:
        return cls(value=row["value"], low=row["low"], high=row["high"], n=row["n"])

    @classmethod
    def mean(cls, rows: Sequence[Row]) -> Span:
        """Over conditions of the same questions. The mean of the ends is no narrower than the interval of the mean."""
        spans = [span for row in rows if (span := cls.of(row)).is_known]
        if not spans:
            return cls(value=None, low=None, high=None, n=0)
        value, low, high = (
            sum(getattr(span, name) for span in spans) / len(spans) for name in ("value", "low", "high")
        )
        return cls(value=value, low=low, high=high, n=min(span.n for span in spans))

    @property
    def is_known(self) -> bool:
        return self.value is not None and self.low is not None and self.high is not None

    def __str__(self) -> str:
        if self.value is None:
            return ""
        interval = f" [{self.low:.3g}, {self.high:.3g}]" if self.low is not None and self.high is not None else ""
        return f"{self.value:.3g}{interval}, n = {self.n}"


def ordered(smaller: Span, larger: Span) -> tuple[Verdict, str]:
    """Is the first below the second? Only intervals that lie apart decide."""
    if not smaller.is_known or not larger.is_known:
        return "cannot be said", "the run has no such numbers"
    if smaller.high < larger.low:  # type: ignore[operator]
        return "agrees", "the intervals lie apart"
    if smaller.low > larger.high:  # type: ignore[operator]
        return "differs", "the intervals lie apart, the other way round"
    return "cannot be said", "the intervals overlap"


def signed(span: Span, sign: Literal[-1, 1]) -> tuple[Verdict, str]:
    """Is it above 0 (sign 1), or below (-1)?"""
    zero = Span(value=0.0, low=0.0, high=0.0, n=span.n)
    verdict, reason = ordered(zero, span) if sign == 1 else ordered(span, zero)
    return verdict, reason.replace("the intervals overlap", "the interval holds 0")


def least(spans: Mapping[str, Span], name: str, sign: Literal[-1, 1] = 1) -> tuple[Verdict, str]:
    """Is the named one the least of all (sign -1: the most)?"""
    others = {other: span for other, span in spans.items() if other != name and span.is_known}
    own = spans.get(name)
    if own is None or not own.is_known or not others:
        return "cannot be said", f"the run has no {name} beside others"
    below = {other: ordered(own, span) if sign == 1 else ordered(span, own) for other, span in others.items()}
    if all(verdict == "agrees" for verdict, _ in below.values()):
        return "agrees", "its interval lies apart from all others"
    beyond = [other for other, (verdict, _) in below.items() if verdict == "differs"]
    if beyond:
        return "differs", f"{beyond[0]} lies beyond it"
    return "cannot be said", "the intervals overlap"


def within(span: Span, published: float) -> tuple[Verdict, str]:
    """Does the interval hold the published number?"""
    if not span.is_known:
        return "cannot be said", "the run has no such number"
    if span.low <= published <= span.high:  # type: ignore[operator]
        return "agrees", "the interval holds the published number"
    return "differs", "the interval does not hold the published number"


def model_of(system: str, names: Mapping[str, str]) -> str | None:
    """Which of the study's models a system runs, by a part of its name; None: none of them."""
    written = system.casefold()
    return next((name for part, name in names.items() if part in written), None)
