"""Records ↔ the JSON of the trace column. Long texts that many records share are kept once, by digest."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from shaketable.identity import canonical
from shaketable.store.old_edits import with_edit_fields
from shaketable.types import (
    Answer,
    Completion,
    Cost,
    Edit,
    Event,
    Evidence,
    Failure,
    Generate,
    Hit,
    Message,
    Note,
    Passage,
    Probe,
    Reading,
    Record,
    Search,
    Sentence,
    Trial,
)

Keep = Callable[[Any], str]
"""A shared value → the digest it is kept under."""


def pack(record: Record, keep: Keep) -> str:
    answer = record.answer
    body: dict[str, Any] = {"events": [_pack_event(event, keep) for event in record.trace]}
    if answer is not None:
        if answer.working:
            body["working"] = answer.working
        if answer.abstained:
            body["abstained"] = True
        if answer.reason:
            body["reason"] = answer.reason
        if answer.hits:
            body["hits"] = keep(answer.hits)
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def _pack_event(event: Event, keep: Keep) -> dict[str, Any]:
    step, reply = event.step, event.reply
    packed: dict[str, Any]
    if isinstance(step, Search):
        packed = {"search": step.query, "k": step.k}
    elif isinstance(step, Generate):
        packed = {"generate": keep(step.messages), "layout": step.layout}
        if step.max_tokens is not None:
            packed["max_tokens"] = step.max_tokens
        if step.stop:
            packed["stop"] = list(step.stop)
        if step.sampling:
            packed["sampling"] = dict(step.sampling)
        if step.purpose:
            packed["purpose"] = step.purpose
    elif isinstance(step, Probe):
        packed = {"probe": step.text, "wants": list(step.wants)}
        if step.before:
            packed["before"], packed["layout"] = keep(step.before), step.layout
    else:
        packed = {"note": step.name, "values": dict(step.values)}
    if isinstance(reply, Completion):
        packed["completion"] = _pack_completion(reply)
    elif isinstance(reply, Evidence):
        packed["evidence"] = keep(reply)
    elif isinstance(reply, Failure):
        packed["failure"] = _fields(reply)
    elif isinstance(reply, Reading):
        packed["tokens"] = list(reply.tokens)
    return packed


def _pack_completion(reply: Completion) -> dict[str, Any]:
    packed: dict[str, Any] = {
        "text": reply.text,
        "finish": reply.finish_reason,
        "n_prompt_tokens": reply.n_prompt_tokens,
        "n_tokens": reply.n_tokens,
        "seconds": round(reply.seconds, 6),
    }
    if reply.thoughts or reply.n_thought_tokens != 0:
        packed["thoughts"], packed["n_thought_tokens"] = reply.thoughts, reply.n_thought_tokens
    if reply.written:
        packed["written"] = reply.written
    for name in ("tokens", "notes"):
        if getattr(reply, name):
            packed[name] = list(getattr(reply, name))
    for name in ("extras", "decoding"):
        if getattr(reply, name):
            packed[name] = dict(getattr(reply, name))
    return packed


def unpack(
    trial: Trial,
    answer: str | None,
    failure: str | None,
    cost: Cost,
    environment: Mapping[str, Any],
    trace: str,
    fetch: Callable[[str], Any],
) -> Record:
    body = json.loads(trace)
    return Record(
        trial=trial,
        answer=None
        if answer is None
        else Answer(
            text=answer,
            working=body.get("working", ""),
            hits=tuple(map(hit_from, fetch(body["hits"]))) if "hits" in body else (),
            abstained=body.get("abstained", False),
            reason=body.get("reason"),
        ),
        failure=Failure(**json.loads(failure)) if failure else None,
        trace=tuple(_unpack_event(event, fetch) for event in body["events"]),
        cost=cost,
        environment=environment,
    )


def _unpack_event(packed: Mapping[str, Any], fetch: Callable[[str], Any]) -> Event:
    step: Any
    if "search" in packed:
        step = Search(query=packed["search"], k=packed["k"])
    elif "generate" in packed:
        step = Generate(
            messages=tuple(Message(**message) for message in fetch(packed["generate"])),
            layout=packed["layout"],
            max_tokens=packed.get("max_tokens"),
            stop=tuple(packed.get("stop", ())),
            sampling=packed.get("sampling", {}),
            purpose=packed.get("purpose", ""),
        )
    elif "probe" in packed:
        before = fetch(packed["before"]) if "before" in packed else ()
        step = Probe(
            text=packed["probe"],
            wants=tuple(packed["wants"]),
            before=tuple(Message(**message) for message in before),
            layout=packed.get("layout", "chat"),
        )
    else:
        step = Note(name=packed["note"], values=packed["values"])
    reply: Any = None
    if "completion" in packed:
        given = dict(packed["completion"])
        given["finish_reason"] = given.pop("finish")
        for name in ("tokens", "notes"):
            given[name] = tuple(given.get(name, ()))
        reply = Completion(**given)
    elif "evidence" in packed:
        reply = evidence_from(fetch(packed["evidence"]))
    elif "failure" in packed:
        reply = Failure(**packed["failure"])
    elif "tokens" in packed:
        reply = Reading(tokens=tuple(packed["tokens"]), extras={})
    return Event(step=step, reply=reply)


def passage_from(given: Mapping[str, Any]) -> Passage:
    return Passage(
        id=given["id"], title=given["title"], sentences=tuple(Sentence(**sentence) for sentence in given["sentences"])
    )


def hit_from(given: Mapping[str, Any]) -> Hit:
    return Hit(**{**given, "passage": passage_from(given["passage"])})


def evidence_from(given: Mapping[str, Any]) -> Evidence:
    return Evidence(
        hits=tuple(map(hit_from, given["hits"])),
        edits=tuple(Edit(**with_edit_fields(edit)) for edit in given["edits"]),
        flags=tuple(given["flags"]),
    )


def _fields(value: Failure) -> dict[str, Any]:
    return dict(json.loads(canonical(value)))
