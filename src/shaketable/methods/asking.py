"""How a method asks: `hits = yield from search(...)`, `reply = yield from generate(...)`."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, cast

from shaketable.types import Completion, Evidence, Generate, Hit, Message, Note, Probe, Reading, Reply, Search, Step


def search(query: str, k: int) -> Generator[Step, Reply, tuple[Hit, ...]]:
    """What the retriever found and the perturbation left."""
    reply = yield Search(query=query, k=k)
    return cast(Evidence, reply).hits


def generate(text: str, **settings: Any) -> Generator[Step, Reply, Completion]:
    """One user message, one completion."""
    return (yield from converse((Message(role="user", content=text),), **settings))


def converse(messages: tuple[Message, ...], **settings: Any) -> Generator[Step, Reply, Completion]:
    """The next message; a last one by the assistant is continued."""
    reply = yield Generate(messages=messages, **settings)
    return cast(Completion, reply)


def probe(text: str, *wants: str, **settings: Any) -> Generator[Step, Reply, Reading]:
    """How a white-box model reads a text."""
    reply = yield Probe(text=text, wants=wants, **settings)
    return cast(Reading, reply)


def note(name: str, **values: Any) -> Generator[Step, Reply, None]:
    """A decision and what it rests on, for the trace."""
    yield Note(name=name, values=values)


def document(hits: tuple[Hit, ...], *, with_titles: bool = False) -> str:
    """The evidence as one text: sentences in order, joined by a space."""
    if with_titles:
        return "\n".join(f"{hit.passage.title}: {hit.passage.text}" for hit in hits)
    return " ".join(hit.passage.text for hit in hits)


def numbered(hits: tuple[Hit, ...]) -> str:
    """The passages as a numbered list, without their titles."""
    return "\n".join(f"[{place}] {hit.passage.text}" for place, hit in enumerate(hits, 1))


def gathered(*hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
    """The hits of several searches, each passage once."""
    return tuple({hit.passage.id: hit for found in reversed(hits) for hit in reversed(found)}.values())[::-1]
