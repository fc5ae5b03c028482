"""A step of a trace with its reply, as pages and the command line show it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from shaketable.text.gold import gold_among
from shaketable.types import (
    NOTHING,
    Completion,
    Edit,
    Event,
    Evidence,
    Failure,
    Generate,
    Hit,
    Json,
    Note,
    Probe,
    Question,
    Search,
    Step,
)

CONFIDENCES = ("processed_logprobs", "logprobs")
"""Extras that tell how sure a token was; of the distribution that was really sampled, where there is one."""
ALIGNED = ("words", "scores", "weights", "hits", "content_hits")
"""What a decision notes word by word: RIND's scores, QFS's weights, and places of words."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownEvidence:
    hits: tuple[tuple[Hit, bool], ...]
    """Each with whether it is a supporting document."""
    gold_hit: bool | None
    """Whether one of them is; None: the question names none."""
    edits: tuple[Edit, ...]
    flags: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownToken:
    text: str
    shade: str
    """A class: `c0` for a sure one to `c9`; empty without a probability."""
    words: str
    """Its probability."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownNote:
    words: tuple[tuple[str, float, bool], ...] = ()
    """Each word with its number, and whether it decided."""
    values: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    """What else was noted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownEvent:
    kind: Literal["search", "generate", "probe", "note"]
    title: str
    step: Step
    note: ShownNote | None = None
    """Of a note alone."""
    failure: Failure | None = None
    evidence: ShownEvidence | None = None
    completion: Completion | None = None
    tokens: tuple[ShownToken, ...] = ()
    """Of the completion; empty: the model gave no probabilities."""


def show_event(event: Event, question: Question) -> ShownEvent:
    kind, title = _name(event.step)
    reply = event.reply
    return ShownEvent(
        kind=kind,
        title=title,
        step=event.step,
        note=show_note(event.step.values) if isinstance(event.step, Note) else None,
        failure=reply if isinstance(reply, Failure) else None,
        evidence=_show_evidence(reply, question) if isinstance(reply, Evidence) else None,
        completion=reply if isinstance(reply, Completion) else None,
        tokens=shade_tokens(reply) if isinstance(reply, Completion) else (),
    )


def _name(step: Step) -> tuple[Literal["search", "generate", "probe", "note"], str]:
    match step:
        case Search():
            return "search", "Search"
        case Generate():
            return "generate", step.purpose or "Generate"
        case Probe():
            return "probe", "Probe"
        case Note():
            return "note", step.name


def _show_evidence(evidence: Evidence, question: Question) -> ShownEvidence:
    gold = gold_among(question, [hit.passage.title for hit in evidence.hits])
    return ShownEvidence(
        hits=tuple((hit, bool(gold_among(question, [hit.passage.title]))) for hit in evidence.hits),
        gold_hit=None if gold is None else bool(gold),
        edits=evidence.edits,
        flags=evidence.flags,
    )


def show_note(values: Mapping[str, Json]) -> ShownNote:
    """A decision: each word with its number, those that decided marked, and what else was noted."""
    words, numbers = values.get("words"), values.get("scores", values.get("weights"))
    if not isinstance(words, list) or not isinstance(numbers, list) or len(words) != len(numbers):
        return ShownNote(values=values)
    deciding = values.get("content_hits")
    places = deciding if isinstance(deciding, list) else []
    return ShownNote(
        words=tuple(
            (str(word), number, place in places)
            for place, (word, number) in enumerate(zip(words, numbers, strict=True))
            if isinstance(number, int | float)
        ),
        values={name: value for name, value in values.items() if name not in ALIGNED},
    )


def shade_tokens(completion: Completion) -> tuple[ShownToken, ...]:
    values = next((completion.extras[name] for name in CONFIDENCES if name in completion.extras), None)
    if not isinstance(values, list) or len(values) != len(completion.tokens):
        return ()
    return tuple(_shade(token, value) for token, value in zip(completion.tokens, values, strict=True))


def _shade(token: str, logprob: Json) -> ShownToken:
    if not isinstance(logprob, int | float):
        return ShownToken(text=token, shade="", words="no probability")
    probability = math.exp(min(0.0, logprob))
    shade = f"c{min(9, int(10 * (1 - probability)))}"
    return ShownToken(text=token, shade=shade, words=f"{100 * probability:.3g} %")
