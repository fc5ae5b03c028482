"""A record of a worker → what the forecast of the time left would have noted on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import cast

from shaketable.stages.forecast.tally import Tally
from shaketable.stages.plan import Condition
from shaketable.types import Completion, Generate, Record


def count_shared(records: Sequence[Record]) -> Mapping[int, int]:
    """Identity of a reply → records that it answers: those of temperature 0 share one, also when they travelled."""
    return Counter(id(event.reply) for record in records for event in record.trace)


def note_replies(tally: Tally, record: Record, condition: Condition, n_sharing: Mapping[int, int]) -> None:
    n_replies, max_tokens = 0, 0
    for event in record.trace:
        if not isinstance(event.step, Generate):
            continue
        settings = {**condition.drawing, **event.step.sampling}
        max_tokens = event.step.max_tokens or cast(int, settings["max_tokens"])
        tally.max_tokens = max(tally.max_tokens, max_tokens)
        if isinstance(event.reply, Completion):
            tally.note(event.reply, 1 / n_sharing[id(event.reply)], n_replies, max_tokens)
            n_replies += 1
    tally.end(n_replies, max_tokens)
