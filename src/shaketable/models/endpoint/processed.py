"""Log-probabilities of the distribution that was sampled, from what endpoints give: those of the likeliest tokens
before temperature and truncation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from shaketable.types import Json

LEAST_EXACT = 0.05
"""Of a probability: how far the tokens that are not listed may move it at a temperature below 1."""
NEAR = 1e-6
"""Log-probabilities that lie so close are equal."""


def why_unknown(settings: Mapping[str, Any], n_listed: int) -> str | None:
    """Why the sampled distribution does not follow from so many tokens a position; None: it does, where truncation by
    top_p alone leaves no more. `settings` as they are sent."""
    temperature, top_k = settings.get("temperature"), max(settings.get("top_k") or 0, 0)
    if temperature == 0:
        return None
    if temperature is None or "top_p" not in settings:
        return "the endpoint samples with settings of its own"
    if settings.get("repetition_penalty", 1.0) != 1.0:
        return "a repetition penalty changes the probabilities of all tokens"
    if top_k > n_listed:
        return f"top_k is {top_k}, and {n_listed} tokens are listed"
    if temperature > 1 and not top_k:
        return f"{n_listed} listed tokens say too little of the others at temperature {temperature:g} without top_k"
    return None


def processed_logprobs(
    logprobs: Sequence[float], tops: Sequence[Sequence[float]], settings: Mapping[str, Any], n_listed: int
) -> list[Json] | None:
    """Return each token's log-probability after temperature, top_k and top_p; None: it does not follow.

    `tops`: of the likeliest tokens at each position. Most servers truncate after the temperature; llama.cpp does it
    before, which shows where it draws a token that the others would have cut off.
    """
    if why_unknown(settings, n_listed) is not None:
        return None
    if settings["temperature"] == 0:
        return [0.0] * len(logprobs)
    for is_truncated_first in (False, True):
        made = [
            _processed(logprob, sorted(top, reverse=True), settings, is_truncated_first=is_truncated_first)
            for logprob, top in zip(logprobs, tops, strict=True)
        ]
        if all(one is not None for one in made):
            return list[Json](made)
    return None


def _processed(
    logprob: float, top: Sequence[float], settings: Mapping[str, Any], *, is_truncated_first: bool
) -> float | None:
    temperature, top_p = float(settings["temperature"]), float(settings["top_p"])
    top_k = max(settings.get("top_k") or 0, 0)
    if len(top) < max(top_k, 1):
        return None
    kept = list(top[:top_k]) if top_k else list(top)
    truncating = 1.0 if is_truncated_first else temperature
    weights = [math.exp(one / truncating) for one in kept]
    others = 0.0 if top_k else _weight_of_others(top, truncating)
    if top_p < 1:
        n = _nucleus(weights, sum(weights) + others, top_p)
        if n is None:
            return None
        kept, others = kept[:n], 0.0
    elif is_truncated_first and not top_k:
        others = _weight_of_others(top, temperature)
    if logprob < kept[-1] - NEAR and (top_k or top_p < 1):
        return None
    total, own = sum(math.exp(one / temperature) for one in kept), math.exp(logprob / temperature)
    if own / total - own / (total + others) > LEAST_EXACT and temperature != 1:
        return None
    return min(math.log(own) - math.log(total + (others if temperature == 1 else others / 2)), 0.0)


def _weight_of_others(top: Sequence[float], temperature: float) -> float:
    """Of all tokens that are not listed: at most, below temperature 1, as each is no likelier than the last listed."""
    mass = max(1.0 - sum(map(math.exp, top)), 0.0)
    return mass * math.exp(top[-1] * (1 / temperature - 1))


def _nucleus(weights: Sequence[float], total: float, top_p: float) -> int | None:
    """How many of the likeliest tokens make up this share; None: more than are listed."""
    share = 0.0
    for n, weight in enumerate(weights, 1):
        share += weight / total
        if share >= top_p - NEAR:
            return n
    return None
