"""How a method asks: `hits = yield from search(...)`, `reply = yield from generate(...)`."""

from __future__ import annotations

import functools
from collections.abc import Generator
from dataclasses import replace
from typing import Any, Literal, cast

from shaketable.prompts import ANSWER_FROM_CONTEXT
from shaketable.prompts.own import Replaceable
from shaketable.types import Completion, Evidence, Generate, Hit, Message, Note, Probe, Reading, Reply, Search, Step

FROM_CONTEXT = Replaceable(
    template=ANSWER_FROM_CONTEXT,
    slots={"context": "document", "question": "question"},
    use="the question, with the evidence that was found",
)

Layout = Literal["chat", "plain"]
"""Turns of a conversation, or one text that goes on: for models without a chat template."""

OPEN_LABELS = ("\nAnswer:", "\nQuery:")
NEXT_BLOCKS = ("\nQuestion:", "\nQuery:", "\nDocument:")
"""What a model that knows no turns writes when it has answered: it invents the next block of our prompts."""


def search(query: str, k: int) -> Generator[Step, Reply, tuple[Hit, ...]]:
    """What the retriever found and the perturbation left."""
    reply = yield Search(query=query, k=k)
    return cast(Evidence, reply).hits


def tell_found(
    query: str, found: tuple[Hit, ...], *, is_handed_over: bool = True
) -> Generator[Step, Reply, tuple[Hit, ...]]:
    """What the perturbation left of what a pipeline found by itself; told after the fact, all of it."""
    reply = yield Search(query=query, k=len(found), found=found, is_handed_over=is_handed_over)
    return cast(Evidence, reply).hits


def generate(
    text: str, layout: Layout = "chat", *, opening: str = "", **settings: Any
) -> Generator[Step, Reply, Completion]:
    """One user message, one completion. In the plain layout it goes on from the opening, which is not in the reply,
    and the blocks that such a model invents after its answer are left out."""
    messages = _asked(text)
    if layout == "chat":
        return (yield from converse(messages, **settings))
    if opening:
        messages += (Message(role="assistant", content=opening),)
    reply = yield from converse(laid_out(messages, layout), layout=layout, stop=NEXT_BLOCKS, **settings)
    return own_words(reply)


@functools.lru_cache(maxsize=512)
def _asked(text: str) -> tuple[Message, ...]:
    """One value for the temperatures and repeats of a prompt: the store works out its digest once."""
    return (Message(role="user", content=text),)


def converse(messages: tuple[Message, ...], **settings: Any) -> Generator[Step, Reply, Completion]:
    """The next message; a last one by the assistant is continued."""
    reply = yield Generate(messages=messages, **settings)
    return cast(Completion, reply)


def laid_out(messages: tuple[Message, ...], layout: Layout) -> tuple[Message, ...]:
    """The conversation itself, or as one labelled text that ends where the model goes on."""
    if layout == "chat":
        return messages
    text = ""
    for message in messages:
        if message.role == "assistant":
            text = f"{_open(text)} {message.content.lstrip()}"
        else:
            text = f"{text}\n\n{message.content}" if text else message.content
    return (Message(role="user", content=text if messages[-1].role == "assistant" else _open(text)),)


def _open(text: str) -> str:
    return text if text.endswith(OPEN_LABELS) else f"{text}\nAnswer:"


def own_words(reply: Completion) -> Completion:
    """A reply in the plain layout without what the model invents after it."""
    return replace(reply, text=before_next_block(reply.text), written=before_next_block(reply.written))


def before_next_block(text: str) -> str:
    """A reply up to the first label of our prompts, wherever the line breaks before it are."""
    places = [start for label in NEXT_BLOCKS if (start := f"\n{text}".find(label)) >= 0]
    return text[: max(min(places) - 1, 0)] if places else text


def probe(text: str, *wants: str, **settings: Any) -> Generator[Step, Reply, Reading]:
    """How a white-box model reads a text."""
    reply = yield Probe(text=text, wants=wants, **settings)
    return cast(Reading, reply)


def note(name: str, **values: Any) -> Generator[Step, Reply, None]:
    """A decision and what it rests on, for the trace."""
    yield Note(name=name, values=values)


def document(hits: tuple[Hit, ...], *, with_titles: bool = False, joined: bool = False) -> str:
    """Return the evidence as one text, with an empty line between passages, or a space where they are `joined`."""
    if with_titles:
        texts = [f"{hit.passage.title}: {hit.passage.text}" for hit in hits]
        return ("\n" if joined else "\n\n").join(texts)
    return (" " if joined else "\n\n").join([hit.passage.text for hit in hits])


def numbered(hits: tuple[Hit, ...]) -> str:
    """The passages as a numbered list, without their titles."""
    return "\n".join(f"[{number}] {hit.passage.text}" for number, hit in enumerate(hits, 1))


def gathered(*hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
    """The hits of several searches, each passage once."""
    return tuple({hit.passage.id: hit for some in reversed(hits) for hit in reversed(some)}.values())[::-1]
