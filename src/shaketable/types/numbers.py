"""Numbers: what a metric measures, scores of single records, estimates of many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Unit = Literal["share", "score", "count", "seconds", "temperature", "ratio"]
"""What a number counts: `share` is of 1 and told in percent, `ratio` has no unit, `score` is a metric's own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """What one number of a metric is: its unit, its direction and its word, said once."""

    name: str
    """As in the scores; `{k}` stands for a setting of the metric, `{part.x}` for anything else it has."""
    unit: Literal["share", "score", "count"] | None
    """`share`: 1 or 0 of an answer, so its mean is a share of answers. None: unknown, its values tell."""
    higher_is_better: bool | None
    """None: neither more nor less is better."""
    minimum: float | None = 0.0
    """The least value there is; None: values below 0 occur, and nothing may be divided by their mean."""
    maximum: float | None = None
    """The greatest value there is, 1 for shares; None: there is no end."""
    words: str = ""
    """What people call it in a sentence: `correctness`; empty: its name."""
    title: str = ""
    """What people call it above a picture: `Correct answers`; empty: its name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """One number of one record.

    >>> import shaketable
    >>> shaketable.Score(key="0a1b", metric="contains", value=None, reason="failed: timeout").reason
    'failed: timeout'
    """

    key: str
    """The record's."""
    metric: str
    """The name of the number: `rouge1`, `bertscore` ..."""
    value: float | None
    reason: str | None = None
    """Why the value is None."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What a judging model said of one answer."""

    text: str
    """Its whole reply."""
    value: float | None
    """1: correct, 0: incorrect; None: the reply says neither."""
    reason: str | None
    """Why the value is None."""
    n_prompt_tokens: int
    n_tokens: int
    seconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeEffort:
    """What the verdicts of one judging model took."""

    judge: str
    """The metric, as labels show it."""
    n_calls: int
    n_prompt_tokens: int
    n_tokens: int
    n_unclear: int
    """Replies that were no verdict."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    value: float | None
    low: float | None
    high: float | None
    level: float
    n: int
    how: str
    """How the interval was made: `bootstrap over questions (2000)` ..."""
    unit: Unit = "score"
    """Of value, low and high; the difference of two shares is a share too."""
    reason: str | None = None
    """Why there is no value."""
