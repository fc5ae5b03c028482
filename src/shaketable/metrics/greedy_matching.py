"""Answers and the texts they are compared with → BERTScore's F1. Each distinct text is read once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from shaketable.text.encoder import Encoder, TokenStates

if TYPE_CHECKING:
    from torch import Tensor

T = TypeVar("T")
Golds = tuple[str, ...]
"""The texts that one answer is compared with; the best counts."""
Asked = tuple[str, Golds]

GOLD_CHARACTERS = 1 << 18
"""Of references whose states are held together: some 65,000 English tokens, 100 MB at 384 dimensions. An answer to
questions of several such blocks is read once for each."""
ANSWER_CHARACTERS = 1 << 17
"""Of answers whose states are held together."""
PAIRS_AT_ONCE = 256


def best_matches(by: Encoder, layer: int, asked: Iterable[Asked]) -> dict[Asked, float]:
    """Raw F1 of each answer with the best of its references. What is held at once does not grow with the answers."""
    texts_of: dict[Golds, set[str]] = {}
    for text, golds in asked:
        texts_of.setdefault(golds, set()).add(text)
    best: dict[Asked, float] = {}
    # In an order of their own, so that the same answers are scored in the same company, whoever came first.
    for block in _cut(sorted(texts_of), lambda golds: sum(map(len, golds)), GOLD_CHARACTERS):
        golds_of: dict[str, list[Golds]] = {}
        for golds in block:
            for text in texts_of[golds]:
                golds_of.setdefault(text, []).append(golds)
        for (text, gold), value in _match_block(by, layer, golds_of):
            for golds in golds_of[text]:
                if gold in golds:
                    best[text, golds] = max(value, best.get((text, golds), value))
    return best


def _match_block(
    by: Encoder, layer: int, golds_of: Mapping[str, Sequence[Golds]]
) -> Iterator[tuple[tuple[str, str], float]]:
    """Each pair once, shortest answers first: neighbors need little padding."""
    golds = sorted({gold for each in golds_of.values() for golds in each for gold in golds})
    gold_states = dict(zip(golds, _unit_states(by, layer, golds), strict=True))
    for texts in _cut(sorted(golds_of, key=lambda text: (len(text), text)), len, ANSWER_CHARACTERS):
        fresh = [text for text in texts if text not in gold_states]
        states = gold_states | dict(zip(fresh, _unit_states(by, layer, fresh), strict=True))
        pairs = list(dict.fromkeys((text, gold) for text in texts for golds in golds_of[text] for gold in golds))
        pairs.sort(key=lambda pair: (len(states[pair[0]].is_word), len(states[pair[1]].is_word)))
        for first in range(0, len(pairs), PAIRS_AT_ONCE):
            batch = pairs[first : first + PAIRS_AT_ONCE]
            f1 = match([states[text] for text, _ in batch], [states[gold] for _, gold in batch])
            yield from zip(batch, f1, strict=True)


def match(candidates: Sequence[TokenStates], golds: Sequence[TokenStates]) -> list[float]:
    """F1 of greedy cosine matching, row by row (Zhang et al. 2020, equations 1 to 3); states have length 1.

    As in bert-score, the marks of beginning and end are not averaged, yet a word may match them.
    Unlike bert-score, padding is never the best match of a word: there it counts as cosine 0, so
    that a pair with negative cosines (rare outside mixed scripts) scores by the length of its company.
    """
    import torch

    candidate_states, candidate_mask, candidate_words = _padded(candidates)
    gold_states, gold_mask, gold_words = _padded(golds)
    cosine = candidate_states @ gold_states.transpose(1, 2)
    possible = candidate_mask.unsqueeze(2) & gold_mask.unsqueeze(1)
    cosine.masked_fill_(~possible, -1.0)
    precision = (cosine.amax(2) * candidate_words).sum(1) / candidate_words.sum(1)
    recall = (cosine.amax(1) * gold_words).sum(1) / gold_words.sum(1)
    # A text without words divides 0 by 0, as do two that have nothing in common. Nothing else may be no number.
    is_zero = (candidate_words.sum(1) == 0) | (gold_words.sum(1) == 0) | (precision + recall == 0)
    f1 = torch.where(is_zero, 0.0, 2 * precision * recall / (precision + recall))
    return f1.clamp(max=1.0).tolist()


def _unit_states(by: Encoder, layer: int, texts: Sequence[str]) -> list[TokenStates]:
    from torch.nn.functional import normalize

    return [
        TokenStates(states=normalize(text.states, dim=1), is_word=text.is_word)
        for text in by.token_states(texts, layer)
    ]


def _padded(texts: Sequence[TokenStates]) -> tuple[Tensor, Tensor, Tensor]:
    """States, which places are filled, and the weight of each place."""
    import torch
    from torch.nn.utils.rnn import pad_sequence

    states = pad_sequence([text.states for text in texts], batch_first=True)
    words = pad_sequence([text.is_word for text in texts], batch_first=True).float()
    lengths = torch.tensor([len(text.is_word) for text in texts], device=states.device)
    filled = torch.arange(states.shape[1], device=states.device) < lengths.unsqueeze(1)
    return states, filled, words


def _cut(items: Sequence[T], size: Callable[[T], int], at_most: int) -> Iterator[list[T]]:
    """Neighbors while they are small together."""
    part: list[T] = []
    total = 0
    for item in items:
        if part and total + size(item) > at_most:
            yield part
            part, total = [], 0
        part.append(item)
        total += size(item)
    if part:
        yield part
