"""Bounds for models that tell only the few likeliest tokens, from one greedy answer.

What the unlisted tokens weigh at another temperature is known between two extremes: their mass at
temperature 1 is spread over all of them, or concentrated in as few as can be. Above temperature 1
the extremes part quickly; there, sample instead.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from shaketable.facts.curves.automaton import ACCEPTED, REJECTED, Automaton, State, after, is_correct

END_TEXTS = frozenset(
    {"<|im_end|>", "<|endoftext|>", "<|end_of_text|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "<end_of_turn>", "</s>"}
)
"""End marks of common models, as endpoints that list them show them."""


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
    rule: Automaton,
    temperatures: Sequence[float],
    n_vocabulary: int,
    max_tokens: int,
    end_texts: Collection[str] = END_TEXTS,
) -> TopBounds:
    """From the likeliest tokens (text, log-probability at temperature 1) at each position of one answer.

    `rule` judges: what it has accepted stays correct whatever follows, and what it has rejected stays wrong; any other
    text is decided by its end alone. `end_texts`: what the end marks look like among the tokens; they add nothing.
    """
    low, rejected = [0.0] * len(temperatures), [0.0] * len(temperatures)
    path = [1.0] * len(temperatures)
    state = rule.start
    for position, (listed, token) in enumerate(zip(top_logprobs, chosen, strict=True)):
        is_last = position == max_tokens - 1
        verdicts = [_verdict(rule, state, text, text in end_texts, is_last) for text, _ in listed]
        for number, temperature in enumerate(temperatures):
            total = _largest_total([log for _, log in listed], temperature, n_vocabulary)
            for (_, log), verdict in zip(listed, verdicts, strict=True):
                share = path[number] * math.exp(log / temperature) / total
                low[number] += share * (verdict == ACCEPTED)
                rejected[number] += share * (verdict == REJECTED)
            # Two tokens may look alike; the smaller one is certainly no overstatement.
            alike = min((log for text, log in listed if text == token), default=-math.inf)
            path[number] *= math.exp(alike / temperature) / total
        if token in end_texts or _is_broken(token):
            break
        state = after(rule, state, token)
        if state in (ACCEPTED, REJECTED):
            break
    return TopBounds(temperatures=tuple(temperatures), low=tuple(low), high=tuple(1 - mass for mass in rejected))


def spells(tokens: Sequence[str], text: str) -> bool:
    """Whether the tokens, as an endpoint shows them, are the text: up to the first end mark or broken character."""
    whole = itertools.takewhile(lambda token: token not in END_TEXTS and not _is_broken(token), tokens)
    return text.strip().startswith("".join(whole).strip())


def _verdict(rule: Automaton, state: State, text: str, ends: bool, is_last: bool) -> str | None:
    """Of an answer that goes on with this token: certainly right, certainly wrong, or None, not known yet."""
    if _is_broken(text) and not ends:
        return None
    reached = state if ends else after(rule, state, text)
    if ends or is_last:
        return ACCEPTED if is_correct(rule, reached) else REJECTED
    return ACCEPTED if reached == ACCEPTED else REJECTED if reached == REJECTED else None


def _is_broken(text: str) -> bool:
    """Whether a token is part of a character: endpoints show a replacement mark, or the bytes as `\\xe2`."""
    return "\ufffd" in text or "\\x" in text


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
