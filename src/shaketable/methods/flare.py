"""FLARE: look ahead, and search with the likely part of a sentence that has unlikely tokens."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar, Literal

from shaketable.methods.asking import gathered, note, search
from shaketable.methods.chain_of_thought import (
    PHRASE,
    ChainOfThought,
    Distribution,
    first_sentence,
    join,
    of_distribution,
    share_of_tokens,
)
from shaketable.methods.words import merge, spoken, tokens_of_each
from shaketable.protocols import Steps
from shaketable.text.language import sentences
from shaketable.types import Completion, Effort, Hit, Reply, Step

AGGREGATE: dict[str, Callable[[Sequence[float]], float]] = {"mean": fmean, "max": max, "min": min}


@dataclass(frozen=True, kw_only=True)
class Flare(ChainOfThought):
    """Jiang et al., arXiv 2305.06983.

    `dragin_code` is the variant that DRAGIN compares with: a sentence whose tokens are too unlikely
    together starts a search, and all that follows from the evidence is kept. Tokens are matched to sentences by their
    characters; the DRAGIN code loses count there. Where no token is likely, the question is searched.

    `original` is the authors' own: it searches with the question, then looks one sentence ahead, again and again. If
    any of its tokens is unlikely, its likely part is searched and the sentence written anew from what was found; if
    masking leaves nothing, or all is likely, the sentence stays. What was found last stays in the prompt.
    The authors' code writes such a sentence a second time; at its temperature of 0 that gives the same text.
    """

    mode: Literal["dragin_code", "original"] = "dragin_code"
    threshold: float = 0.1
    """dragin_code: of 1 - p, for the sentence and for the tokens left out of the query; 0.06 to 0.4 by its authors."""
    aggregate: Literal["mean", "max", "min"] = "mean"
    """dragin_code: how a sentence's 1 - p are put together."""
    trigger_below: float = 0.8
    """original: a token less likely than this starts a search."""
    mask_below: float = 0.4
    """original: tokens less likely than this are left out of the query."""
    text_tokens: int = 256
    """original: tokens beyond which the text does not grow."""
    k: int | None = None
    """None: 3, or 2 in the original."""
    distribution: Distribution = "raw"
    """Whose probabilities count; the DRAGIN code has `processed`."""
    masks: Literal["words", "tokens"] = "words"
    """What an unlikely token leaves out of a query: the word that it is part of, or itself alone, as in the authors'
    code, whose queries then hold halves of words."""

    searches: ClassVar[bool] = True

    @property
    def wants(self) -> tuple[str, ...]:
        return (of_distribution("logprobs", self.distribution),)

    def answer(self, wording: str) -> Steps:
        return (yield from self._original(wording) if self.mode == "original" else self._dragin_code(wording))

    def at_most(self, max_tokens: int) -> Effort:
        # Each round adds a token at least, and its text may be written twice.
        if self.mode == "original":
            return self.rounds(self.text_tokens + 1, n_calls=2, n_passages=self.k or 2)
        return self.rounds(self.max_length + 1, n_calls=2, n_passages=self.k or 3)

    def _dragin_code(self, wording: str) -> Steps:
        text, n_tokens = "", 0.0
        gathered_hits: tuple[Hit, ...] = ()
        while True:
            length = len(text)
            reply = yield from self.ask(wording, text, wants=self.wants)
            before, query = yield from self._doubt(reply)
            if query is None:
                new = reply.text
                n_tokens += reply.n_tokens
            else:
                n_tokens += share_of_tokens(reply, before)
                hits = yield from search(query or wording, self.k or 3)
                gathered_hits = gathered(gathered_hits, hits)
                reply = yield from self.ask(wording, join(text, before), hits)
                new = join(before, reply.text)
                n_tokens += reply.n_tokens
            text = join(text, new)
            if len(text) <= length or PHRASE in text or n_tokens > self.max_length:
                return (yield from self.conclude(wording, text, gathered_hits))

    def _doubt(self, reply: Completion) -> Generator[Step, Reply, tuple[str, str | None]]:
        """The sentences before the first unlikely one, and its query; None: all are likely."""
        split = sentences(reply.text)
        for i, (tokens, doubts) in enumerate(self._doubts(reply, split)):
            score = AGGREGATE[self.aggregate](doubts) if doubts else 0.0
            query = None
            if score > self.threshold:
                query = self._without(tokens, [doubt > self.threshold for doubt in doubts])
            yield from note("flare", sentence=split[i], score=round(score, 4), query=query)
            if query is not None:
                return join(*split[:i]), query
        return "", None

    def _original(self, wording: str) -> Steps:
        text, n_tokens, length = "", 0.0, -1
        hits = gathered_hits = yield from search(wording, self.k or 2)
        while len(text) > length and PHRASE not in text and n_tokens <= self.text_tokens:
            length = len(text)
            reply = yield from self.ask(wording, text, hits, wants=self.wants)
            ahead = first_sentence(reply.text)
            query = yield from self._query(reply, ahead)
            if query:
                hits = yield from search(query, self.k or 2)
                gathered_hits = gathered(gathered_hits, hits)
                reply = yield from self.ask(wording, text, hits)
                ahead = first_sentence(reply.text)
            text = join(text, ahead)
            n_tokens += share_of_tokens(reply, ahead)
        return (yield from self.conclude(wording, text, gathered_hits, hits))

    def _query(self, reply: Completion, ahead: str) -> Generator[Step, Reply, str | None]:
        """The likely part of the sentence that lies ahead, which may be nothing; None: all of it is likely enough."""
        [(tokens, doubts)] = self._doubts(reply, [ahead])
        query = None
        if any(1 - doubt < self.trigger_below for doubt in doubts):
            query = self._without(tokens, [1 - doubt < self.mask_below for doubt in doubts])
        least = round(1 - max(doubts), 4) if doubts else None
        yield from note("flare", sentence=ahead, least_likely=least, query=query)
        return query

    def _doubts(self, reply: Completion, split: Sequence[str]) -> list[tuple[list[str], list[float]]]:
        """The tokens of each sentence, and 1 - p of each."""
        if not reply.text.strip():
            return [([], []) for _ in split]
        [name] = self.wants
        given = reply.extras.get(name)
        if not isinstance(given, list) or len(given) != len(reply.tokens):
            instead = "distribution='raw', or " if self.distribution == "processed" else ""
            raise ValueError(f"The model gave no {name} for its tokens. Use {instead}a model or an endpoint that does.")
        places = spoken(reply)
        tokens = [reply.tokens[token] for token in places]
        doubts = [1 - math.exp(float(given[token])) for token in places]  # type: ignore[arg-type]
        return [([tokens[i] for i in own], [doubts[i] for i in own]) for own in tokens_of_each(tokens, split)]

    def _without(self, tokens: Sequence[str], unlikely: Sequence[bool]) -> str:
        """The sentence without its unlikely words, or tokens."""
        left_out = list(unlikely)
        if self.masks == "words":
            for word in merge(tokens):
                left_out[word.tokens.start : word.tokens.stop] = [any(unlikely[i] for i in word.tokens)] * len(
                    word.tokens
                )
        kept = (" " if is_out else token for token, is_out in zip(tokens, left_out, strict=True))
        return " ".join("".join(kept).split())
