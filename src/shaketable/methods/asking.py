"""How a method asks: `hits = yield from search(...)`, `reply = yield from generate(...)`."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, cast

from shaketable.types import Completion, Evidence, Generate, Hit, Message, Reply, Search, Step


def search(query: str, k: int) -> Generator[Step, Reply, tuple[Hit, ...]]:
    """What the retriever found and the perturbation left."""
    reply = yield Search(query=query, k=k)
    return cast(Evidence, reply).hits


def generate(text: str, **settings: Any) -> Generator[Step, Reply, Completion]:
    """One user message, one completion."""
    reply = yield Generate(messages=(Message(role="user", content=text),), **settings)
    return cast(Completion, reply)


def document(hits: tuple[Hit, ...], *, with_titles: bool = False) -> str:
    """The evidence as one text: sentences in order, joined by a space."""
    if with_titles:
        return "\n".join(f"{hit.passage.title}: {hit.passage.text}" for hit in hits)
    return " ".join(hit.passage.text for hit in hits)
