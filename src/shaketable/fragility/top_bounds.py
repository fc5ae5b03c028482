"""Bounds for models that tell only the few likeliest tokens, from one greedy answer.

What the unlisted tokens weigh at another temperature is known between two extremes: their mass at
temperature 1 is spread over all of them, or concentrated in as few as can be. Above temperature 1
the extremes part quickly; there, sample instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class TopBounds:
    """Of the probability of a correct answer."""

    temperatures: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


def bounds_from_top_logprobs(
    top_logprobs: Sequence[Sequence[tuple[str, float]]],
    chosen: Sequence[str],
    *,
    is_correct: Callable[[str], bool],
    temperatures: Sequence[float],
    n_vocabulary: int,
    max_tokens: int,
    stays_correct: bool = True,
    end_texts: Collection[str] = (),
) -> TopBounds:
    """From the likeliest tokens (text, log-probability at temperature 1) at each position of one answer.

    `stays_correct`: a text that is correct stays so whatever follows, as for substrings.
    `end_texts`: what the end marks look like among the tokens; they add nothing to the text.
    """
    low, rejected = [0.0] * len(temperatures), [0.0] * len(temperatures)
    path = [1.0] * len(temperatures)
    text = ""
    for position, (listed, token) in enumerate(zip(top_logprobs, chosen, strict=True)):
        logs = dict(listed)
        is_last = position == max_tokens - 1
        for number, temperature in enumerate(temperatures):
            total = _largest_total([log for _, log in listed], temperature, n_vocabulary)
            for one, log in logs.items():
                share = path[number] * math.exp(log / temperature) / total
                ends = one in end_texts
                correct = is_correct(text if ends else text + one)
                if correct and (ends or is_last or stays_correct):
                    low[number] += share
                elif not correct and (ends or is_last):
                    rejected[number] += share
            path[number] *= math.exp(logs[token] / temperature) / total if token in logs else 0.0
        if token in end_texts or (stays_correct and is_correct(text + token)):
            break
        text += token
    return TopBounds(temperatures=tuple(temperatures), low=tuple(low), high=tuple(1 - mass for mass in rejected))


def tail_bounds(mass: float, largest: float, n_tokens: int, temperature: float) -> tuple[float, float]:
    """Σ p^(1/t) over at most `n_tokens` unlisted tokens with this mass in all and none above `largest`."""
    if mass <= 0 or n_tokens <= 0:
        return 0.0, 0.0
    n_full = min(int(mass / largest * (1 + 1e-12)), n_tokens) if largest > 0 else 0
    rest = max(mass - n_full * largest, 0.0)
    concentrated = n_full * largest ** (1 / temperature) + rest ** (1 / temperature)
    spread = n_tokens * (mass / n_tokens) ** (1 / temperature)
    return min(concentrated, spread), max(concentrated, spread)


def _largest_total(logs: Sequence[float], temperature: float, n_vocabulary: int) -> float:
    known = sum(math.exp(log / temperature) for log in logs)
    mass = max(1 - sum(math.exp(log) for log in logs), 0.0)
    return known + tail_bounds(mass, math.exp(min(logs)), n_vocabulary - len(logs), temperature)[1]
