"""How near are the answer and the reference in meaning, token by token?"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from shaketable import weights
from shaketable.metrics.scoring import references, unscored
from shaketable.text.encoder import Encoder, TokenStates, encoder
from shaketable.types import Measure, Question, Record, Score

if TYPE_CHECKING:
    from torch import Tensor

LAYERS = {"all-MiniLM-L6-v2": 5, "all-mpnet-base-v2": 10, "roberta-large": 17}
"""roberta-large: tuned by the authors of BERTScore. The sentence encoders: chosen by us, not tuned."""

BASELINES = {
    ("roberta-large", 17): 0.83122575,  # published with bert-score, English
    # measure_baseline over all 1,526 sentences of the bundled corpora (resources/questions/*_corpus.jsonl), seed 0
    ("all-MiniLM-L6-v2", 5): 0.50138,
}
"""What unrelated sentences score: raw F1 by encoder and layer."""

TEXTS_AT_ONCE = 256
"""Candidates whose token states are held together; at 512 tokens each they take 200 MB."""
PAIRS_AT_ONCE = 64


@dataclass(frozen=True, kw_only=True)
class Bertscore:
    """BERTScore F1 without idf weights, raw (`bertscore`) and rescaled (`bertscore_rescaled`); higher is better.

    Raw values reach from about 0 to 1; an empty answer or reference scores 0. Rescaled is
    (raw - baseline) / (1 - baseline): 0 is what unrelated sentences get, 1 the same text, and less
    than 0 is possible. Compares with the sentence-form reference where a question has one, else
    with each accepted answer, keeping the best. Values of different encoders or layers cannot be
    compared. Both are None for a failed trial and for a question without reference and accepted
    answers; rescaled is also None where the baseline is unknown.
    """

    version: ClassVar[int] = 1
    numbers: ClassVar[tuple[Measure, ...]] = (
        Measure(name="bertscore", unit="score", higher_is_better=True, maximum=1.0),
        Measure(name="bertscore_rescaled", unit="score", higher_is_better=True, minimum=None, maximum=1.0),
    )
    reads_trace: ClassVar[bool] = False
    encoder: str = "all-MiniLM-L6-v2"
    layer: int | None = None
    """None: the known layer of the encoder, else its last but one."""
    baseline: float | None = None
    """None: the known baseline of the encoder and layer, if there is one."""

    def lacks(self) -> str | None:
        return weights.lacks(self.encoder)

    def score(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[list[Score]]:
        golds = [references(questions[record.trial.question_id]) for record in records]
        pairs = {
            (record.answer.text, gold)
            for record, texts in zip(records, golds, strict=True)
            if record.answer is not None
            for gold in texts
        }
        values = pair_values(encoder(self.encoder), self._layer, sorted(pairs)) if pairs else {}
        scored: list[list[Score]] = []
        for record, texts in zip(records, golds, strict=True):
            reason = unscored(record, texts)
            raw = None
            if reason is None and record.answer is not None:
                raw = max(values[record.answer.text, gold] for gold in texts)
            scored.append(self._numbers(record.trial.key, raw, reason))
        return scored

    def _numbers(self, key: str, raw: float | None, reason: str | None) -> list[Score]:
        rescaled = None
        rescaled_reason = reason
        if raw is not None and self._baseline is None:
            rescaled_reason = f"no baseline for {self.encoder} layer {self._layer}; give baseline="
        elif raw is not None and self._baseline is not None:
            rescaled = (raw - self._baseline) / (1 - self._baseline)
        return [
            Score(key=key, metric="bertscore", value=raw, reason=reason),
            Score(key=key, metric="bertscore_rescaled", value=rescaled, reason=rescaled_reason),
        ]

    @property
    def _layer(self) -> int:
        if self.layer is not None:
            return self.layer
        return LAYERS[self.encoder] if self.encoder in LAYERS else encoder(self.encoder).n_layers - 1

    @property
    def _baseline(self) -> float | None:
        return BASELINES.get((self.encoder, self._layer)) if self.baseline is None else self.baseline


def pair_values(by: Encoder, layer: int, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], float]:
    """Raw F1 of each (candidate, reference). Every distinct text is encoded once; memory stays bounded."""
    golds = sorted({gold for _, gold in pairs})
    gold_states = dict(zip(golds, _unit_states(by, layer, golds), strict=True))
    golds_of: dict[str, list[str]] = {}
    for text, gold in pairs:
        golds_of.setdefault(text, []).append(gold)
    texts = sorted(golds_of, key=len)
    values: dict[tuple[str, str], float] = {}
    for start in range(0, len(texts), TEXTS_AT_ONCE):
        chunk = texts[start : start + TEXTS_AT_ONCE]
        states = {text: gold_states[text] for text in chunk if text in gold_states}
        fresh = [text for text in chunk if text not in states]
        states.update(zip(fresh, _unit_states(by, layer, fresh), strict=True))
        batch_pairs = [(text, gold) for text in chunk for gold in golds_of[text]]
        for first in range(0, len(batch_pairs), PAIRS_AT_ONCE):
            batch = batch_pairs[first : first + PAIRS_AT_ONCE]
            f1 = match([states[text] for text, _ in batch], [gold_states[gold] for _, gold in batch])
            values.update(zip(batch, f1, strict=True))
    return values


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
    # A text without words divides 0 by 0.
    f1 = torch.nan_to_num(2 * precision * recall / (precision + recall), nan=0.0)
    return [min(1.0, value) for value in f1.tolist()]


def measure_baseline(by: Encoder, layer: int, texts: Sequence[str], seed: int, n_pairs: int = 5000) -> float:
    """Mean raw F1 of random pairs of different texts; sentences of many subjects make it a baseline."""
    rng = random.Random(seed)
    distinct = sorted(set(texts))
    drawn = [(first, second) for first, second in (rng.sample(distinct, 2) for _ in range(n_pairs))]
    values = pair_values(by, layer, drawn)
    return sum(values[pair] for pair in drawn) / n_pairs


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
    filled = pad_sequence([torch.ones_like(text.is_word) for text in texts], batch_first=True)
    words = pad_sequence([text.is_word for text in texts], batch_first=True).float()
    return states, filled, words
