"""Records whose one completion carries what a model says of its tokens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from made_records import QUESTION, record

from shaketable.types import Completion, Event, Generate, Message, Record, Score

STEP = Generate(messages=(Message(role="user", content="Who did it?"),))


def spoken(
    *tokens: str,
    tops: Sequence[Sequence[float]] = (),
    probabilities: Sequence[float] = (),
    processed: Sequence[float] = (),
    finish_reason: Any = "end",
    text: str | None = None,
    **more: Any,
) -> Record:
    """A record that said these tokens; probabilities instead of their logarithms, the last token ends the answer."""
    said = "".join(tokens if finish_reason == "length" else tokens[:-1]) if text is None else text
    extras: dict[str, Any] = {}
    if tops:
        extras["top_logprobs"] = [[[f"t{i}", _log(p)] for i, p in enumerate(top)] for top in tops]
    if probabilities:
        extras["logprobs"] = [_log(p) for p in probabilities]
    if processed:
        extras["processed_logprobs"] = [_log(p) for p in processed]
    completion = Completion(
        text=said,
        finish_reason=finish_reason,
        n_prompt_tokens=5,
        n_tokens=len(tokens),
        seconds=0.1,
        tokens=tokens,
        **{"extras": extras} | more,
    )
    return replace(record(said), trace=(Event(step=STEP, reply=completion),))


def only_score(metric: Any, one: Record) -> Score:
    ((score,),) = metric.score([one], {"q": QUESTION})
    return score


def _log(p: float) -> float:
    return math.log(p) if p else -100.0
