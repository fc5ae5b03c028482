"""A question → where its auxiliary, its subject and its verb stand, where that is certain."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shaketable.variations.english.edits import has_capitals
from shaketable.variations.english.indirect import AUXILIARIES, DO, FINITE, WH_WORDS
from shaketable.variations.english.inflection import is_verb

if TYPE_CHECKING:
    from spacy.tokens import Token

MANY_WORDS = 10
"""A longer subject is often not where the parser sees it."""
FEW_WORDS = 6
"""Nobody keeps the verb in mind over more."""
ADVERBS = frozenset({"first", "last", "also", "still", "originally", "officially", "finally", "formally", "currently"})
"""What may stand before the verb and as well behind it."""
PLACES = frozenset({"when", "where"})
PREDICATES = frozenset({"both", "in", "from", "of", "a", "an"})
"""What begins the predicate of a question about two things."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    asked: tuple[Token, ...]
    """The question word with what belongs to it; empty: it can be answered with yes or no."""
    auxiliary: Token
    subject: tuple[Token, ...]
    adverbs: tuple[Token, ...]
    """Between the subject and the verb."""
    verb: Token | None
    """None: the auxiliary is a form of `be` and the only verb."""
    rest: tuple[Token, ...]
    """Behind the verb, or behind the subject where there is none."""

    @property
    def is_adverbial(self) -> bool:
        """Whether time, place or manner is asked for, so that the subject cannot be mistaken for an object."""
        first = self.asked[0] if self.asked else None
        return first is not None and (
            first.tag_ == "IN" or (first.lower_ in ("when", "where", "why", "how") and len(self.asked) == 1)
        )

    @property
    def asks_when(self) -> bool:
        return bool(self.asked) and (
            self.asked[0].lower_ == "when" or self.asked[-1].lower_ in ("year", "month", "decade", "century")
        )

    @property
    def has_object(self) -> bool:
        return self.verb is not None and any(
            child.dep_ in ("dobj", "attr", "oprd", "dative", "ccomp", "xcomp", "acomp") and child.i > self.verb.i
            for child in self.verb.children
        )


def order_of(words: list[Token]) -> Order | None:
    """None: the question has another shape, or the parser is not to be believed."""
    while words and words[-1].text in "?.!":
        words = words[:-1]
    place = _auxiliary(words)
    if place is None or place + 2 > len(words):
        return None
    asked, auxiliary, behind = words[:place], words[place], words[place + 1 :]
    if any(word.text in (";", ":") or word.lower_ in ("or", "not", "n't", "never", "no") for word in behind):
        return None
    if sure := _verb_at_the_end(asked, auxiliary, behind) or _about_two(asked, auxiliary, behind):
        return sure
    if any(word.text in (",", "(") for word in behind):
        return None
    if auxiliary.dep_ in ("aux", "auxpass"):
        return _with_verb(asked, auxiliary, behind)
    return _with_be(asked, auxiliary, behind)


def _verb_at_the_end(asked: list[Token], auxiliary: Token, behind: list[Token]) -> Order | None:
    """`Where was the father of the king born`: parsers often miss it, and it has one reading."""
    *nouns, verb = behind
    while nouns and nouns[-1].lower_ in ADVERBS:
        nouns.pop()
    if not asked or not _is_plain(tuple(nouns)) or not verb.text.islower() or not verb.text.isalpha():
        return None
    if auxiliary.lower_ in DO:
        known = verb.tag_ in ("VB", "VBP") or (verb.tag_ == "NN" and asked[0].lower_ in PLACES and has_capitals(behind))
        ends = known and is_verb(verb.lower_)
    else:
        ends = (
            auxiliary.lemma_ == "be" and verb.tag_ in ("VBN", "VBD") and (len(asked) > 1 or asked[0].lower_ in PLACES)
        )
    adverbs = tuple(behind[len(nouns) : -1])
    return (
        Order(asked=tuple(asked), auxiliary=auxiliary, subject=tuple(nouns), adverbs=adverbs, verb=verb, rest=())
        if ends
        else None
    )


def _about_two(asked: list[Token], auxiliary: Token, behind: list[Token]) -> Order | None:
    """`Are A and B both from Rome`, `Do A and B share the same river`, where parsers get lost in the names."""
    texts = [word.text for word in behind]
    if asked or "and" not in texts or "," in texts:
        return None
    for place in range(texts.index("and") + 2, len(behind) - 1):
        word, here = behind[place], texts[place : place + 4]
        nouns = behind[:place]
        if word.text in ("have", "share", "originate", "come") and auxiliary.lower_ in DO and "same" in here:
            rest = tuple(behind[place + 1 :])
            return Order(asked=(), auxiliary=auxiliary, subject=tuple(nouns), adverbs=(), verb=word, rest=rest)
        if auxiliary.lemma_ == "be" and (
            word.text in ("both", "located") or (word.text in ("from", "of", "in") and "same" in here[:3])
        ):
            return Order(
                asked=(), auxiliary=auxiliary, subject=tuple(nouns), adverbs=(), verb=None, rest=tuple(behind[place:])
            )
    return None


def _auxiliary(words: list[Token]) -> int | None:
    if not words:
        return None
    if words[0].lower_ in AUXILIARIES and words[0].tag_ in FINITE:
        return 0
    asks = words[0].lower_ in WH_WORDS or (
        words[0].tag_ == "IN" and len(words) > 1 and words[1].lower_ in ("which", "what", "whose")
    )
    for place, word in enumerate(words[:7] if asks else ()):
        if word.lower_ in AUXILIARIES and word.tag_ in FINITE:
            return place
        if word.tag_[:2] == "VB" or word.text in ",;:\"“'‘(" or (place > 1 and word.lower_ in WH_WORDS | {"of"}):
            return None
    return None


def _with_verb(asked: list[Token], auxiliary: Token, behind: list[Token]) -> Order | None:
    verb = auxiliary.head
    forms = ("VB", "VBP") if auxiliary.lower_ in DO or auxiliary.tag_ == "MD" else ("VBN", "VBG")
    subject = next((word for word in verb.lefts if word.dep_ in ("nsubj", "nsubjpass") and word.i > auxiliary.i), None)
    if subject is None or verb.tag_ not in forms or not verb.text.islower() or verb.dep_ != "ROOT":
        return None
    nouns = tuple(word for word in behind if word.i <= subject.right_edge.i)
    between = tuple(word for word in behind if subject.right_edge.i < word.i < verb.i)
    known = all(word.lower_ in ADVERBS for word in between)
    if subject.left_edge.i != behind[0].i or not _is_plain(nouns) or not known:
        return None
    if any(
        child.dep_ in ("neg", "ccomp") or (child.dep_ == "conj" and child.pos_ == "VERB") for child in verb.children
    ):
        return None
    if verb.tag_ == "VBG" and behind[-1].tag_ in ("VBN", "VBD"):
        return None  # Where was the movie going in style filmed.
    rest = tuple(word for word in behind if word.i > verb.i)
    return Order(asked=tuple(asked), auxiliary=auxiliary, subject=nouns, adverbs=between, verb=verb, rest=rest)


def _with_be(asked: list[Token], auxiliary: Token, behind: list[Token]) -> Order | None:
    if auxiliary.lemma_ != "be" or auxiliary.dep_ != "ROOT":
        return None
    subject = next((word for word in auxiliary.rights if word.dep_ in ("nsubj", "attr")), None)
    if subject is None or subject.left_edge.i != behind[0].i:
        return None
    nouns = tuple(word for word in behind if word.i <= subject.right_edge.i)
    rest = tuple(word for word in behind if word.i > subject.right_edge.i)
    short = len(nouns) <= FEW_WORDS and all(word.lower_ == "of" for word in nouns if word.tag_ in ("IN", "TO"))
    # Where Rome is, who the king's father is; but `what capital is` asks something else.
    named = bool(asked) and (asked[0].lower_ == "where" or (asked[0].lower_ == "who" and nouns[0].text[:1].isupper()))
    ends = named and short and not rest if asked else bool(rest) and rest[0].lower_ in PREDICATES
    if not ends or not _is_plain(nouns):
        return None
    return Order(asked=tuple(asked), auxiliary=auxiliary, subject=nouns, adverbs=(), verb=None, rest=rest)


def _is_plain(nouns: tuple[Token, ...]) -> bool:
    return (
        0 < len(nouns) <= MANY_WORDS
        and (nouns[-1].tag_[:2] in ("NN", "PR", "CD") or nouns[-1].text == ")")
        and not any(word.tag_[:2] in ("VB", "MD") or word.lower_ in WH_WORDS | {"there", "that"} for word in nouns)
    )


def has_two_bare_verbs(words: Sequence[Token]) -> bool:
    """`When did the town he came from fall`: which of them `did` belongs to, parsers do not always see."""
    bare = [
        word
        for before, word in itertools.pairwise(words)
        if word.tag_ in ("VB", "VBP") and before.tag_ not in ("TO", "MD", "CC") and word.lower_ not in AUXILIARIES
    ]
    return len(bare) > 1 and any(word.lower_ in DO for word in words)
