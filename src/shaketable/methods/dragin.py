"""DRAGIN (LB): search when the model is unsure of a word that matters, with the words it looked at then."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from shaketable.methods.asking import gathered, note, probe, search
from shaketable.methods.chain_of_thought import (
    PHRASE,
    ChainOfThought,
    Distribution,
    first_sentence,
    join,
    of_distribution,
)
from shaketable.methods.rind_qfs import content_words, has_content, qfs, qfs_weights, rind, token_attention
from shaketable.methods.words import assign, merge, named, spell_bytes, spoken
from shaketable.protocols import Steps
from shaketable.text.language import sentences
from shaketable.types import Completion, Effort, Hit, Message, Reply, Step


@dataclass(frozen=True)
class Doubt:
    """The first sentence with a word that needs a search."""

    before: str
    """The sentences before it, which are kept."""
    sentence: str
    words: list[str]
    hits: list[int]
    """Places of the words that need it."""


@dataclass(frozen=True, kw_only=True)
class Dragin(ChainOfThought):
    """Su et al., arXiv 2403.10081, as their code does it, with these departures unless a setting says otherwise:
    entropy is that of the model's own distribution at temperature 1, spaces and line breaks are recognized for any
    tokenizer, and words without content cannot start a search.
    """

    threshold: float = 0.6
    """theta, in nats: the entropy above which a word that gets an average share of its sentence's attention needs a
    search. 0.6 to 1.5 in the authors' settings, which were found with processed entropy; the raw one is greater, so
    the same threshold searches more often."""
    k: int = 3
    keep_top_n: int = 25
    """N: words of the query."""
    query: Literal["real_words", "current", "current_without_hits", "everything", "last_sentence", "last_tokens"] = (
        "real_words"
    )
    """`real_words` is QFS; `last_tokens` takes `keep_top_n` of them."""
    query_tokens: int = 64
    """Longer queries lose their head; 0: none does."""
    content_filter: Literal["before", "after", "off"] = "before"
    """Drop hits without content before deciding, or only from the query, as the authors' code does."""
    distribution: Distribution = "raw"
    """Whose entropy counts; the authors' code, and so their thresholds, have `processed`."""
    with_prompt: bool = False
    """Attention is read after the prompt instead of on the generated tokens alone."""
    exclude_self: bool = False
    """A token's look at itself does not count."""
    keep_documents: bool = False
    """What was found stays in the prompt for all later sentences, not for the next one alone."""
    newline: Literal["token", "id_13"] = "token"
    """How a line break is told; 13 is its id in Llama 2, and a full stop's in other vocabularies."""

    tokens: Literal["text", "authors"] = "text"
    """`authors`: the end mark belongs to the last word, with its attention and entropy, and words are spelled by bytes,
    as in the authors' code on byte-level vocabularies: a sentence with a letter outside ASCII finds no words there."""

    searches: ClassVar[bool] = True
    usual_calls: ClassVar[float] = 5.0

    @property
    def wants(self) -> tuple[str, ...]:
        return ("attention", self._entropy, "token_ids")

    def answer(self, wording: str) -> Steps:
        text = ""
        gathered_hits: tuple[Hit, ...] = ()
        shown: tuple[Hit, ...] = ()
        while True:
            length = len(text)
            reply = yield from self.ask(wording, text, shown, wants=(self._entropy, "token_ids"))
            doubt = yield from self._doubt(reply, self.asked(wording, text, shown))
            if doubt is None:
                text = join(text, reply.text)
            else:
                query = yield from self._query(wording, text, doubt)
                hits = yield from search(query, self.k)
                reply = yield from self.ask(wording, join(text, doubt.before), hits)
                text = join(text, doubt.before, first_sentence(reply.text))
                gathered_hits = gathered(gathered_hits, hits)
                shown = gathered_hits if self.keep_documents else ()
            if len(text) <= length or PHRASE in text or (yield from self._is_long(text)):
                return (yield from self.conclude(wording, text, gathered_hits, shown))

    def at_most(self, max_tokens: int) -> Effort:
        # Each round adds a token at least, and its sentence may be written twice.
        n_passages = self.k * (self.max_length if self.keep_documents else 1)
        return self.rounds(self.max_length, n_calls=2, n_passages=n_passages)

    def _doubt(self, reply: Completion, messages: tuple[Message, ...]) -> Generator[Step, Reply, Doubt | None]:
        """RIND: the first sentence with a word whose need lies above the threshold."""
        places = spoken(reply)
        if self.tokens == "authors":
            places = range(places.start, len(reply.tokens))
        if not reply.text.strip() or not places:
            return None
        extras: Mapping[str, Any] = reply.extras
        ids = tuple(extras["token_ids"][token] for token in places)
        before: dict[str, Any] = {"before": messages, "layout": self.layout} if self.with_prompt else {}
        reading = yield from probe(reply.text, "attention", token_ids=ids, **before)
        looked = token_attention(reading.extras["attention"], exclude_self=self.exclude_self)
        entropy = [extras[self._entropy][token] for token in places]
        tokens = [reply.tokens[token] for token in places]
        words = named(merge(tokens, ids, newline=self.newline), reply.text)
        if self.tokens == "authors":
            words = [replace(word, text=spell_bytes(word.text)) for word in words]
        attention = [float(sum(looked[token] for token in word.tokens)) for word in words]
        uncertainty = [sum(entropy[token] for token in word.tokens) / len(word.tokens) for word in words]
        texts, split = [word.text for word in words], sentences(reply.text)
        for i, own in enumerate(assign(texts, split)):
            own_tokens = slice(own.start, own.stop)
            needs = rind(attention[own_tokens], uncertainty[own_tokens])
            hits = [token for token, need in enumerate(needs) if need > self.threshold]
            kept = hits
            if self.content_filter != "off" and hits:
                content = content_words(split[i])
                kept = [token for token in hits if has_content(texts[own_tokens][token], content)]
            triggered = bool(hits if self.content_filter == "after" else kept)
            yield from note(
                "rind",
                sentence=split[i],
                words=texts[own_tokens],
                scores=[round(need, 4) for need in needs],
                hits=hits,
                content_hits=kept,
                threshold=self.threshold,
                triggered=triggered,
            )
            if triggered:
                return Doubt(join(*split[:i]), split[i], texts[own_tokens], kept)
        return None

    def _query(self, wording: str, text: str, doubt: Doubt) -> Generator[Step, Reply, str]:
        so_far = join(wording, text, doubt.before)
        if self.query == "real_words":
            query = yield from self._real_words(so_far, doubt)
        elif self.query == "current":
            query = doubt.sentence
        elif self.query == "current_without_hits":
            query = join(*(word for i, word in enumerate(doubt.words) if i not in doubt.hits))
        elif self.query == "last_sentence":
            query = (sentences(so_far) or [""])[-1]
        else:
            query = so_far
        query = query.strip() or doubt.sentence
        if self.query == "last_tokens":
            query = yield from _last_tokens(query, self.keep_top_n)
        return (yield from _last_tokens(query, self.query_tokens))

    def _real_words(self, so_far: str, doubt: Doubt) -> Generator[Step, Reply, str]:
        """QFS: the content words that the model looked at when it wrote the hits."""
        current = [i for i, word in enumerate(doubt.words) if word]
        text = join(so_far, *(doubt.words[i] for i in current))
        reading = yield from probe(text, "attention", "token_ids", beginning_mark=True)
        words = named(merge(reading.tokens, reading.extras["token_ids"]), text)
        words = [word for word in words if word.text]
        first = len(words) - len(current)
        hits = {first + offset for offset, i in enumerate(current) if i in doubt.hits and first + offset >= 0}
        weights = qfs_weights(reading.extras["attention"], words, hits)
        kept = qfs([word.text for word in words], weights, hits, content_words(text), self.keep_top_n)
        yield from note(
            "qfs",
            words=[words[i].text for i in kept],
            weights=None if weights is None else [round(weights[i], 4) for i in kept],
        )
        return join(*(words[i].text for i in kept))

    def _is_long(self, text: str) -> Generator[Step, Reply, bool]:
        reading = yield from probe(text, "token_ids")
        return len(reading.tokens) + 1 > self.max_length  # The authors' count includes the beginning mark.

    @property
    def _entropy(self) -> str:
        return of_distribution("entropy", self.distribution)


def _last_tokens(text: str, n: int) -> Generator[Step, Reply, str]:
    """The text without its head, so that at most n tokens are left; 0: as it is."""
    if not n or len(text.encode("utf-8", "replace")) <= n:  # A token has one byte at least.
        return text
    reading = yield from probe(text, "token_ids")
    return "".join(reading.tokens[-n:]).strip() or text
