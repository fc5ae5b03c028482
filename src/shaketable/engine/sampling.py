"""Logits → tokens: each row with its own temperature, truncation and uniform number.

A token is drawn by inverting the cumulative distribution at the row's own number, so one row's
draw needs nothing of another's, and no general sampling routine runs over the vocabulary.
Order as in common libraries: repetition penalty, temperature, top-k, top-p.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from shaketable.types import Sampling


def uniforms(seed: int, n: int) -> np.ndarray:
    """The row's own random numbers, one per token it may draw."""
    return np.random.Generator(np.random.Philox(key=seed)).random(n)


def draw(
    logits: torch.Tensor, samplings: Sequence[Sampling], numbers: Sequence[float], seen: Sequence[Sequence[int]]
) -> torch.Tensor:
    """One token for each row of logits. `seen` holds the prompt and own tokens, for the penalty."""
    tokens, hot, scaled = _shape(logits, samplings, seen)
    if not len(hot):
        return tokens
    scaled -= scaled.amax(-1, keepdim=True)
    cumulative = scaled.exp_().cumsum(-1)
    total = cumulative[:, -1:]
    targets = torch.tensor([[numbers[i]] for i in hot.tolist()], device=logits.device, dtype=torch.float64)
    # The first token strictly above a target strictly below the total: one without mass is never drawn.
    targets = torch.minimum((targets * total.double()).float(), torch.nextafter(total, torch.zeros_like(total)))
    tokens[hot] = torch.searchsorted(cumulative, targets, right=True)[:, 0]
    return tokens


def sampled_logprobs(
    logits: torch.Tensor, samplings: Sequence[Sampling], seen: Sequence[Sequence[int]]
) -> torch.Tensor:
    """Natural logs of the probabilities that `draw` draws from; at temperature 0 the greedy token has them all."""
    tokens, hot, scaled = _shape(logits, samplings, seen)
    logprobs = torch.full_like(logits, -torch.inf, dtype=torch.float32).scatter_(1, tokens[:, None], 0.0)
    if len(hot):
        logprobs[hot] = torch.log_softmax(scaled, -1)
    return logprobs


def entropy(logprobs: torch.Tensor) -> float:
    """Of one distribution, in nats."""
    return float(torch.special.entr(logprobs.exp()).sum())


def _shape(
    logits: torch.Tensor, samplings: Sequence[Sampling], seen: Sequence[Sequence[int]]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Each row's greedy token; the rows above temperature 0, and their logits after penalty, heat and truncation."""
    logits = logits.float()
    penalized = [i for i, sampling in enumerate(samplings) if sampling.repetition_penalty != 1.0]
    if penalized:
        logits = logits.clone()
        for i in penalized:
            logits[i] = penalize(logits[i], seen[i], samplings[i].repetition_penalty)
    tokens = torch.argmax(logits, -1)
    hot = [i for i, sampling in enumerate(samplings) if sampling.temperature > 0]
    rows = torch.tensor(hot, device=logits.device, dtype=torch.long)
    temperatures = torch.tensor([samplings[i].temperature for i in hot], device=logits.device)
    scaled = (logits if len(hot) == len(samplings) else logits.index_select(0, rows)) / temperatures[:, None]
    for k, i in enumerate(hot):
        if samplings[i].top_k or samplings[i].top_p < 1.0:
            scaled[k] = truncate(scaled[k], samplings[i].top_k, samplings[i].top_p)
    return tokens, rows, scaled


def penalize(logits: torch.Tensor, seen: Sequence[int], penalty: float) -> torch.Tensor:
    ids = torch.tensor(sorted(set(seen)), device=logits.device)
    values = logits[ids]
    logits[ids] = torch.where(values > 0, values / penalty, values * penalty)
    return logits


def truncate(scaled: torch.Tensor, top_k: int, top_p: float) -> torch.Tensor:
    """Minus infinity for every token outside the k most likely, then outside the smallest set with mass p."""
    if top_k and top_k < len(scaled):
        least = torch.topk(scaled, top_k).values[-1]
        scaled = scaled.masked_fill(scaled < least, -torch.inf)
    if top_p < 1.0:
        ordered, order = torch.sort(scaled, descending=True, stable=True)
        mass = torch.softmax(ordered, -1).cumsum(-1)
        outside = mass - torch.softmax(ordered, -1) >= top_p
        scaled = scaled.masked_fill(torch.zeros_like(outside).scatter(0, order, outside), -torch.inf)
    return scaled
