"""Logits → tokens: each row with its own temperature, truncation and uniform number.

A token is drawn by inverting the cumulative distribution at the row's own number, so one row's
draw needs nothing of another's, and no general sampling routine runs over the vocabulary.
Order as in common libraries: repetition penalty, temperature, top-k, top-p.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import torch

from shaketable.engine.elementwise import by_whole_vectors
from shaketable.types import Sampling

IN_CACHE = 8
"""Rows that go through all steps of a draw together on a processor, whose cache holds few."""


def uniforms(seed: int, n: int) -> np.ndarray:
    """The row's own random numbers, one per token it may draw."""
    return np.random.Generator(np.random.Philox(key=seed)).random(n)


def draw(
    logits: torch.Tensor, samplings: Sequence[Sampling], numbers: Sequence[float], seen: Sequence[Sequence[int]]
) -> torch.Tensor:
    """One token for each row of logits. `seen` holds the prompt and own tokens, for the penalty."""
    tokens, scaled = _shape(logits, samplings, seen)
    if scaled is None:
        return tokens
    drawn = _invert(scaled, torch.tensor(np.array(numbers, dtype=np.float64), device=logits.device))
    return torch.where(_is_hot(samplings, logits.device), drawn, tokens)


def draw_each(
    logits: Sequence[torch.Tensor],
    samplings: Sequence[Sampling],
    numbers: Sequence[float],
    seen: Sequence[Sequence[int]],
) -> torch.Tensor:
    """As `draw`, for the rows of several tensors, without laying them side by side on a processor."""
    if logits[0].is_cuda:
        return draw(torch.cat(list(logits)), samplings, numbers, seen)
    tokens: list[torch.Tensor] = []
    start = 0
    for piece in itertools.chain.from_iterable(torch.split(tensor, IN_CACHE) for tensor in logits):
        some = slice(start, start + len(piece))
        tokens.append(draw(piece, samplings[some], numbers[some], seen[some]))
        start += len(piece)
    return torch.cat(tokens)


def draw_plainly(logits: torch.Tensor, temperatures: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
    """The same without truncation and penalty, everything on the device; the greedy token at temperature 0."""
    logits = logits.float()
    is_hot = temperatures > 0
    scaled = logits / torch.where(is_hot, temperatures, 1.0).float()[:, None]
    return torch.where(is_hot, _invert(scaled, numbers), torch.argmax(logits, -1))


def _invert(scaled: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
    """The tokens at which the cumulative distributions of scaled logits, which are used up, reach the numbers."""
    scaled -= scaled.amax(-1, keepdim=True)
    cumulative = by_whole_vectors(torch.Tensor.exp_, scaled).cumsum(-1)
    total = cumulative[:, -1:]
    # The first token strictly above a target strictly below the total: one without mass is never drawn.
    targets = (numbers[:, None] * total.double()).float()
    targets = torch.minimum(targets, torch.nextafter(total, torch.zeros_like(total)))
    return torch.searchsorted(cumulative, targets, right=True)[:, 0]


def sampled_logprobs(
    logits: torch.Tensor, samplings: Sequence[Sampling], seen: Sequence[Sequence[int]]
) -> torch.Tensor:
    """Natural logs of the probabilities that `draw` draws from; at temperature 0 the greedy token has them all."""
    tokens, scaled = _shape(logits, samplings, seen)
    greedy = torch.full_like(logits, -torch.inf, dtype=torch.float32).scatter_(1, tokens[:, None], 0.0)
    if scaled is None:
        return greedy
    return torch.where(_is_hot(samplings, logits.device)[:, None], torch.log_softmax(scaled, -1), greedy)


def entropies(logprobs: torch.Tensor) -> list[float]:
    """Of each row, in nats. On a processor row by row: threads share a sum by how many there are."""
    weighed = torch.special.entr(logprobs.exp())
    found: list[float] = weighed.sum(-1).tolist() if weighed.is_cuda else [float(row.sum()) for row in weighed]
    return found


def _is_hot(samplings: Sequence[Sampling], device: torch.device) -> torch.Tensor:
    return torch.tensor([sampling.temperature > 0 for sampling in samplings], device=device)


def _shape(
    logits: torch.Tensor, samplings: Sequence[Sampling], seen: Sequence[Sequence[int]]
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Each row's greedy token, and its logits after penalty, heat and truncation; None: all rows are greedy.

    Greedy rows are scaled with the others, so that the shape does not depend on how many there are.
    """
    logits = logits.float()
    penalized = [i for i, sampling in enumerate(samplings) if sampling.repetition_penalty != 1.0]
    if penalized:
        logits = logits.clone()
        for i in penalized:
            logits[i] = penalize(logits[i], seen[i], samplings[i].repetition_penalty)
    tokens = torch.argmax(logits, -1)
    if all(sampling.temperature == 0 for sampling in samplings):
        return tokens, None
    temperatures = torch.tensor([sampling.temperature or 1.0 for sampling in samplings], device=logits.device)
    scaled = logits / temperatures[:, None]
    truncated = [i for i, one in enumerate(samplings) if one.temperature and (one.top_k or one.top_p < 1.0)]
    if truncated:
        # A GPU's routines may choose by the number of rows: there all of them are treated alike.
        rows = list(range(len(samplings))) if logits.is_cuda else truncated
        places = torch.tensor(rows, device=logits.device)
        chosen = [samplings[i] for i in rows]
        scaled[places] = truncate(scaled[places], [one.top_k for one in chosen], [one.top_p for one in chosen])
    return tokens, scaled


def penalize(logits: torch.Tensor, seen: Sequence[int], penalty: float) -> torch.Tensor:
    ids = torch.tensor(sorted(set(seen)), device=logits.device)
    values = logits[ids]
    logits[ids] = torch.where(values > 0, values / penalty, values * penalty)
    return logits


def truncate(scaled: torch.Tensor, top_k: Sequence[int], top_p: Sequence[float]) -> torch.Tensor:
    """Minus infinity for every token outside a row's k most likely, then outside its smallest set with mass p."""
    device = scaled.device
    ordered, order = torch.sort(scaled, descending=True, stable=True)
    n_kept = torch.tensor([k if 0 < k < scaled.shape[1] else scaled.shape[1] for k in top_k], device=device)
    least = ordered.gather(1, n_kept[:, None] - 1)
    ordered = ordered.masked_fill(ordered < least, -torch.inf)
    weights = torch.softmax(ordered, -1)
    limits = torch.tensor([p if p < 1.0 else torch.inf for p in top_p], device=device, dtype=scaled.dtype)
    ordered = ordered.masked_fill(weights.cumsum(-1) - weights >= limits[:, None], -torch.inf)
    return torch.empty_like(scaled).scatter_(1, order, ordered)
