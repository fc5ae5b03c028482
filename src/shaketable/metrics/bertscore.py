"""How near are the answer and the reference in meaning, token by token?"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from shaketable import weights
from shaketable.metrics.greedy_matching import Asked, best_matches
from shaketable.metrics.scoring import references, unscored
from shaketable.text.encoder import PACKAGES, Encoder, encoder
from shaketable.types import Measure, Question, Record, Score

LAYERS = {"all-MiniLM-L6-v2": 5, "all-mpnet-base-v2": 10, "roberta-large": 17}
"""roberta-large: tuned by the authors of BERTScore. The sentence encoders: chosen by us, not tuned."""

BASELINES = {
    ("roberta-large", 17): 0.83122575,  # published with bert-score, English
    # measure_baseline over all 1,526 sentences of the bundled corpora (resources/questions/*_corpus.jsonl), seed 0
    ("all-MiniLM-L6-v2", 5): 0.50138,
}
"""What unrelated sentences score: raw F1 by encoder and layer."""


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
    packages: ClassVar[tuple[str, ...]] = PACKAGES
    encoder: str = "all-MiniLM-L6-v2"
    layer: int | None = None
    """None: the known layer of the encoder, else its last but one."""
    baseline: float | None = None
    """None: the known baseline of the encoder and layer, if there is one."""
    device: str = field(default="auto", compare=False)
    """auto: cuda where PyTorch sees it, else cpu. Numbers differ by rounding alone."""

    def lacks(self) -> str | None:
        return weights.lacks(self.encoder)

    @cached_property
    def _raw(self) -> dict[Asked, float]:
        """What was worked out so far."""
        return {}

    def prepare(self, records: Iterable[Record], questions: Mapping[str, Question]) -> None:
        asked = {key for record in records if (key := _asked(record, questions)) and key not in self._raw}
        if asked:
            self._raw.update(best_matches(encoder(self.encoder, self.device), self._layer, asked))

    def score(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[list[Score]]:
        self.prepare(records, questions)
        scored: list[list[Score]] = []
        for record in records:
            asked = _asked(record, questions)
            reason = unscored(record, references(questions[record.trial.question_id]))
            scored.append(self._numbers(record.trial.key, None if asked is None else self._raw[asked], reason))
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


def _asked(record: Record, questions: Mapping[str, Question]) -> Asked | None:
    """The answer and what it is compared with; None: there is nothing to compare."""
    golds = references(questions[record.trial.question_id])
    return (record.answer.text, golds) if record.answer is not None and golds else None


def measure_baseline(by: Encoder, layer: int, texts: Sequence[str], seed: int, n_pairs: int = 5000) -> float:
    """Mean raw F1 of random pairs of different texts; sentences of many subjects make it a baseline."""
    rng = random.Random(seed)
    distinct = sorted(set(texts))
    drawn = [(first, (second,)) for first, second in (rng.sample(distinct, 2) for _ in range(n_pairs))]
    values = best_matches(by, layer, drawn)
    return sum(values[pair] for pair in drawn) / n_pairs
