"""How unlikely is the wording of the question to a model?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from shaketable import catalog
from shaketable.errors import ShaketableError
from shaketable.metrics.scoring import unscored
from shaketable.protocols import WhiteBoxModel
from shaketable.types import Failure, Measure, Probe, Question, Record, Score

ANSWERING = "answering"
Loss = tuple[float, int] | str
"""Loss and number of tokens, or why there is none."""


@dataclass(frozen=True, kw_only=True)
class QueryLoss:
    """Mean negative log-likelihood of the wording's tokens alone, after the beginning mark, in nats; higher is less
    likely. `query_tokens` is how many there are.

    Each wording is read once for each model. None for a failed trial, a model whose probabilities cannot be read, and
    a wording without tokens.
    """

    version: ClassVar[int] = 1
    numbers: ClassVar[tuple[Measure, ...]] = (
        Measure(name="query_loss", unit="score", higher_is_better=None),
        Measure(name="query_tokens", unit="count", higher_is_better=None),
    )
    reads_trace: ClassVar[bool] = False
    model: str = ANSWERING
    """The model that reads, as in a study; `answering`: the one that answered."""

    def score(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[list[Score]]:
        reasons = [unscored(record) for record in records]
        wanted: dict[str, dict[str, None]] = {}
        for record, reason in zip(records, reasons, strict=True):
            if reason is None:
                wanted.setdefault(self._reader(record), {})[record.trial.variant.text] = None
        for model, texts in wanted.items():
            self._read(model, list(texts))
        return [
            self._scores(record, reason or self._losses[self._reader(record), record.trial.variant.text])
            for record, reason in zip(records, reasons, strict=True)
        ]

    @cached_property
    def _losses(self) -> dict[tuple[str, str], Loss]:
        """By model and wording, kept from one batch of records to the next."""
        return {}

    def _reader(self, record: Record) -> str:
        return record.trial.model if self.model == ANSWERING else self.model

    def _read(self, model: str, texts: Sequence[str]) -> None:
        new = [text for text in texts if (model, text) not in self._losses]
        if not new:
            return
        reader = _model(model)
        if isinstance(reader, str):
            self._losses.update({(model, text): reader for text in new})
            return
        probes = [Probe(text=text, wants=("logprobs",), beginning_mark=True) for text in new]
        for text, reply in zip(new, reader.probe(probes), strict=True):
            self._losses[model, text] = (
                f"{reply.kind}: {reply.message}" if isinstance(reply, Failure) else _loss(reply.extras["logprobs"])
            )

    def _scores(self, record: Record, own_loss: Loss) -> list[Score]:
        key = record.trial.key
        if isinstance(own_loss, str):
            return [Score(key=key, metric=name, value=None, reason=own_loss) for name in ("query_loss", "query_tokens")]
        loss, n_tokens = own_loss
        return [
            Score(key=key, metric="query_loss", value=loss),
            Score(key=key, metric="query_tokens", value=float(n_tokens)),
        ]


def _model(text: str) -> WhiteBoxModel | str:
    """The model of this label; a reason where there is none that can be read, such as behind a file of answers."""
    try:
        built = catalog.build("model", text)
    except ShaketableError:
        return f"'{text}' is no model of this package; name one that can read the wordings: query_loss(model=…)"
    if not isinstance(built, WhiteBoxModel):
        return f"{catalog.name_of(built)} does not show the probabilities of a given text; name a local model"
    return built


def _loss(logprobs: Sequence[float | None]) -> Loss:
    """A model without a beginning mark gives its first token no probability; the others count."""
    known = [logprob for logprob in logprobs if logprob is not None]
    return (
        (-math.fsum(known) / len(known), len(logprobs)) if known else "the wording has one token and no mark before it"
    )
