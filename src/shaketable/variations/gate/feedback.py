"""Why a wording was refused → what its model is told, in plain words, so that the next attempt is better."""

from __future__ import annotations

import functools

from shaketable.prompts import REWORD_ADVICE
from shaketable.variations.gate.refusal import Refusal

MAX_FEEDBACK = 400
"""Characters; some reasons list every name of a long question."""


def feedback_on(refusal: Refusal) -> str:
    """The reason as a sentence, and what to do about it where that is known."""
    advice = advice_by_kind().get(refusal.kind, "")
    reason = " ".join(refusal.text.split()).rstrip(".")
    room = MAX_FEEDBACK - len(advice) - len(". ")
    if len(reason) > room:
        reason = f"{reason[: room - 1]}…"
    return f"{reason[:1].upper()}{reason[1:]}. {advice}".rstrip()


@functools.cache
def advice_by_kind() -> dict[str, str]:
    """Kind of refusal → what to do."""
    return dict(line.split(": ", 1) for line in REWORD_ADVICE.text.splitlines())
