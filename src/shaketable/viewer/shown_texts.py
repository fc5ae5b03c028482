"""What a record's model read: its prompts, and the evidence in them, as pages and the command line show it."""

from __future__ import annotations

from dataclasses import dataclass

from shaketable.text.gold import gold_among
from shaketable.types import Evidence, Generate, Hit, Message, Question, Record


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownTexts:
    prompts: tuple[tuple[Message, ...], ...]
    """The messages of each generation, in their order."""
    evidence: tuple[tuple[Hit, bool], ...]
    """What the answer relied on, or the last search brought, each with whether it is a supporting document."""
    flags: tuple[str, ...]
    """What kept the perturbation from this evidence."""


def show_texts(record: Record, question: Question) -> ShownTexts:
    replies = [event.reply for event in record.trace if isinstance(event.reply, Evidence)]
    found = replies[-1].hits if replies else ()
    hits = record.answer.hits if record.answer is not None and record.answer.hits else found
    return ShownTexts(
        prompts=tuple(event.step.messages for event in record.trace if isinstance(event.step, Generate)),
        evidence=tuple((hit, bool(gold_among(question, [hit.passage.title]))) for hit in hits),
        flags=tuple(dict.fromkeys(flag for reply in replies for flag in reply.flags)),
    )
