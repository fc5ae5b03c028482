"""Why a wording was refused → what its model is told, in plain words, so that the next attempt is better."""

from __future__ import annotations

import functools

from shaketable.prompts import REWORD_ADVICE
from shaketable.variations.gate.refusal import Refusal

OWN_FIGURES = ("numbers_lost", "names_lost")
"""Kinds of refusals whose figures stand in the question."""
MAX_FEEDBACK = 400
"""Characters; some reasons list every name of a long question."""


def feedback_on(refusal: Refusal) -> str:
    """Return the reason as a sentence, and what to do about it where that is known.

    A reason with figures that are not the question's is left out: a model may put them into the question.
    """
    advice = advice_by_kind().get(refusal.kind, "")
    if advice and refusal.kind not in OWN_FIGURES and any(map(str.isdigit, refusal.text)):
        return advice
    reason = " ".join(refusal.text.split()).rstrip(".")
    room = MAX_FEEDBACK - len(advice) - len(". ")
    if len(reason) > room:
        reason = f"{reason[: room - 1]}…"
    return f"{reason[:1].upper()}{reason[1:]}. {advice}".rstrip()


@functools.cache
def advice_by_kind() -> dict[str, str]:
    """Kind of refusal → what to do."""
    return dict(line.split(": ", 1) for line in REWORD_ADVICE.text.splitlines())
