"""Records ↔ the JSON of the trace column. Long texts that many records share are kept once, by digest.

A step stands under its name, `{"search": QUERY, "k": 5}`: its first field is the value of that name, the others have
their own. The reply stands beside it, `"evidence": DIGEST`. What of an answer has no column stands beside the events.
"""

from __future__ import annotations

import functools
import json
import typing
from collections.abc import Iterator, Mapping
from typing import Any

from shaketable.store.codec import Fetch, Form, Keep, decode, form_of, format_json
from shaketable.store.older import Packed, mend_event
from shaketable.types import (
    Answer,
    Completion,
    Cost,
    Event,
    Evidence,
    Failure,
    Hit,
    Json,
    Message,
    Reading,
    Record,
    Reply,
    Step,
    Trial,
)

SHARED: tuple[object, ...] = (tuple[Message, ...], tuple[Hit, ...], Evidence)
"""Types of fields and replies that many records have in common."""
STEPS: Mapping[str, Form[Any]] = {kind.__name__.lower(): form_of(kind, SHARED) for kind in typing.get_args(Step)}
REPLIES: Mapping[str, Form[Any]] = {
    kind.__name__.lower(): form_of(kind, SHARED) for kind in (Completion, Reading, Failure)
}
NAMES = {form.kind: name for name, form in {**STEPS, **REPLIES}.items()}
FIRST = {name: form.packing[0][0] for name, form in STEPS.items()}
"""Name of a step → its first field."""
ANSWER = form_of(Answer, SHARED)
EVIDENCE = "evidence"


def pack(record: Record, keep: Keep) -> str:
    body: dict[str, Any] = {"events": [_pack_event(event, keep) for event in record.trace]}
    if record.answer is not None:
        body |= ANSWER.pack(record.answer, keep)
        del body["text"]
    return format_json(body)


def _pack_event(event: Event, keep: Keep) -> dict[str, Any]:
    name = NAMES[type(event.step)]
    packed = STEPS[name].pack(event.step, keep)
    packed[name] = packed.pop(FIRST[name])
    if isinstance(event.reply, Evidence):
        packed[EVIDENCE] = keep(event.reply)
    elif event.reply is not None:
        reply = NAMES[type(event.reply)]
        packed[reply] = REPLIES[reply].pack(event.reply, keep)
    return packed


def unpack(
    trial: Trial,
    answer: str | None,
    failure: str | None,
    cost: Cost,
    environment: Mapping[str, Json],
    trace: str,
    fetch: Fetch,
) -> Record:
    body = json.loads(trace)
    return Record(
        trial=trial,
        answer=None if answer is None else ANSWER.unpack({**body, "text": answer}, fetch),
        failure=decode(Failure, json.loads(failure)) if failure else None,
        trace=tuple([_unpack_event(event, fetch) for event in body["events"]]),
        cost=cost,
        environment=environment,
    )


def _unpack_event(packed: Packed, fetch: Fetch) -> Event:
    packed = mend_event(packed)
    name = _step_in(packed)
    step: Step = STEPS[name].unpack({**packed, FIRST[name]: packed[name]}, fetch)
    return Event(step=step, reply=_unpack_reply(packed, fetch))


def _unpack_reply(packed: Packed, fetch: Fetch) -> Reply | Failure:
    if EVIDENCE in packed:
        evidence: Evidence = fetch(packed[EVIDENCE], functools.partial(decode, Evidence))
        return evidence
    name = next((name for name in REPLIES if name in packed), None)
    reply: Reply | Failure = None if name is None else REPLIES[name].unpack(packed[name], fetch)
    return reply


def _step_in(packed: Packed) -> str:
    name = next((name for name in STEPS if name in packed), None)
    if name is None:
        raise ValueError("an event of a trace names no step")
    return name


def pack_completion(reply: Completion, keep: Keep) -> str:
    return format_json(REPLIES["completion"].pack(reply, keep))


def unpack_completion(packed: Packed, fetch: Fetch) -> Completion:
    reply: Completion = REPLIES["completion"].unpack(packed, fetch)
    return reply


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is no JSON")


def references(trace: str) -> Iterator[str]:
    """The digests of the shared texts that a trace refers to. Raises ValueError where it is no JSON, which knows no NaN
    and nothing infinite: analyses could not read it."""
    body = json.loads(trace, parse_constant=_refuse)
    yield from (body[name] for name in ANSWER.shared if name in body)
    for event in body["events"]:
        step = _step_in(event)
        names = {step if name == FIRST[step] else name for name in STEPS[step].shared}
        yield from (event[name] for name in (*sorted(names), EVIDENCE) if name in event)
        for reply in (name for name in REPLIES if name in event):
            yield from (event[reply][name] for name in sorted(REPLIES[reply].shared) if name in event[reply])
