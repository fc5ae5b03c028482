"""Drives a method with hand-written replies and keeps what it asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from shaketable.types import (
    Answer,
    Completion,
    Evidence,
    Generate,
    Hit,
    Note,
    Passage,
    Probe,
    Reading,
    Search,
    Sentence,
)

END = "<end>"


def pieces(text):
    """One token per word, the space before it kept."""
    return tuple(re.findall(r"\s*\S+", text))


def completion(text, *, finish="end", end_mark=True, notes=(), thoughts="", written="", **extras):
    """A reply whose tokens are its words; extras that are numbers hold for every token."""
    tokens = pieces(text) + ((END,) if finish == "end" and end_mark else ())
    lists = {name: [value] * len(tokens) if isinstance(value, float) else list(value) for name, value in extras.items()}
    lists = {name: values + [0.0] * (len(tokens) - len(values)) for name, values in lists.items()}
    return Completion(
        text=text,
        finish_reason=finish,
        n_prompt_tokens=10,
        n_tokens=len(tokens),
        seconds=0.0,
        tokens=tokens,
        extras={"token_ids": list(range(len(tokens))), **lists},
        notes=notes,
        thoughts=thoughts,
        written=written,
    )


def hit(text, title="Title"):
    passage = Passage(id=text, title=title, sentences=(Sentence(id=f"{text}#0", text=text),))
    return Hit(passage=passage, rank=1, score=1.0, source="hand")


def even_attention(n):
    return np.tril(np.ones((2, n, n), np.float32)) / np.arange(1, n + 1, dtype=np.float32)[:, None]


@dataclass
class Driven:
    answer: Answer | None = None
    steps: list = field(default_factory=list)

    def of(self, kind):
        return [step for step in self.steps if isinstance(step, kind)]

    def notes(self, name):
        return [dict(step.values) for step in self.of(Note) if step.name == name]

    @property
    def queries(self):
        return [step.query for step in self.of(Search)]

    @property
    def purposes(self):
        return [step.purpose for step in self.of(Generate)]


def drive(method, wording, replies, *, hits=(), attention=even_attention, most_steps=3000):
    """`replies` are completions or texts, one after another, the last one again and again; `hits` for every search, or
    a function of the query."""
    driven, going, reply = Driven(), method.answer(wording), None
    replies, n = list(replies), 0
    while True:
        try:
            step = going.send(reply)
        except StopIteration as end:
            driven.answer = end.value
            return driven
        driven.steps.append(step)
        assert len(driven.steps) < most_steps, "the method does not end"
        match step:
            case Generate():
                reply = replies[min(n, len(replies) - 1)]
                n += 1
                if isinstance(reply, str):
                    reply = completion(reply, entropy=0.0, logprobs=0.0, processed_entropy=0.0, processed_logprobs=0.0)
            case Search():
                reply = Evidence(hits=tuple(hits(step.query) if callable(hits) else hits)[: step.k])
            case Probe(text=text, token_ids=ids):
                tokens = pieces(text)
                assert text.strip(), "an empty text cannot be read"
                if ids is not None and len(ids) == len(tokens) + 1:  # The end mark is no part of the text.
                    tokens = (*tokens, END)
                assert ids is None or len(ids) == len(tokens)
                extras = {"token_ids": list(range(len(tokens)))}
                reply = Reading(tokens=tokens, extras=extras | {"attention": attention(len(tokens))})
            case Note():
                reply = None
