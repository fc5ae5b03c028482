"""Texts → how unlikely a language model finds them, token by token: what nobody would write has an unlikely span."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from shaketable import catalog
from shaketable.errors import ModelError, ShaketableError
from shaketable.protocols import CheckedModel, WhiteBoxModel
from shaketable.types import Failure, Probe

READER = "smollm2"
SPAN = 5
"""Tokens of a span. Of 1 to 5 this told broken wordings by rules from good ones best, at 5 % of the good ones lost."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Loss:
    """Negative log-likelihood in nats."""

    mean: float
    """Of all tokens."""
    worst: float
    """The mean of the most unlikely `SPAN` tokens in a row. The first token is not among them: it says where a text
    begins, and each kind of wording begins in its own way."""
    n_tokens: int


def losses(texts: Sequence[str], reader: str = READER) -> list[Loss | None]:
    """One for each text; None for one that cannot be read, because it is empty or longer than the model's window."""
    known = _known(reader)
    new = [text for text in dict.fromkeys(texts) if text not in known]
    if new:
        probes = [Probe(text=text.strip(), wants=("logprobs",), beginning_mark=True) for text in new]
        for text, reply in zip(new, _model(reader).probe(probes), strict=True):
            known[text] = None if isinstance(reply, Failure) else _loss(reply.extras["logprobs"])
    return [known[text] for text in texts]


def lacks(reader: str = READER) -> str | None:
    """Why the model cannot read on this machine, without loading it; None: it can."""
    try:
        model = _model(reader)
    except ShaketableError as error:
        return str(error)
    return model.lacks() if isinstance(model, CheckedModel) else None


@functools.cache
def _known(reader: str) -> dict[str, Loss | None]:
    """What this process has read; the same originals come with every kind of wording."""
    return {}


def _model(reader: str) -> WhiteBoxModel:
    model = catalog.build("model", reader, "reader")
    if not isinstance(model, WhiteBoxModel):
        raise ModelError(f"{reader} does not show the probabilities of a given text. Name a local model: '{READER}'.")
    return model


def _loss(logprobs: Sequence[float | None]) -> Loss | None:
    # Rounded, because the last digits of a sum may depend on the machine.
    each = [-logprob for logprob in logprobs if logprob is not None]
    if not each:
        return None
    rest = each[1:] or each
    spans = [rest[start : start + SPAN] for start in range(max(1, len(rest) - SPAN + 1))]
    return Loss(
        mean=round(sum(each) / len(each), 4),
        worst=round(max(sum(span) / len(span) for span in spans), 4),
        n_tokens=len(each),
    )
