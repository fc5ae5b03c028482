"""Questions with `be` → what of them can be told: `what the tip is made of`, `who was the king`, `the name of …`."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from shaketable.variations.english.asked import (
    Asked,
    Embedded,
    before_adverbs,
    dangles,
    helped_verb,
    is_closed,
    is_inside,
    is_participle,
    is_plain,
    joined,
    main_participle,
)
from shaketable.variations.english.inflection import form, is_verb
from shaketable.variations.english.question_words import ARTICLES, FINITE

if TYPE_CHECKING:
    from spacy.tokens import Token

OPEN_ENDS = frozenset({"about", "called", "from", "in", "like", "on"})
"""A question that ends in one of these asks for what would stand behind it."""
NOUN_STARTS = frozenset({"``", "DT", "NNP", "NNPS", "PRP", "PRP$", "CD", "JJS"})
DESCRIBING = frozenset({"JJ", "JJR", "JJS", "RB", "RBR", "RBS", "IN"})
NO_NOUN = re.compile(r" [-–] |;|\b(?:called|considered|known|named|nicknamed|referred)\b(?! [A-Z\"“'‘])")
"""A choice, or a predicate that parsers take for a part of the noun phrase."""
STRANDED = re.compile(
    r"\b(?:about|as|by|for|of|to|with) (?:after|at|before|by|during|for|in|on|when)\b|\b(?:from|in|of|on|to|with),"
)
"""A preposition whose noun is the question word: `who was Rome at war with in May`."""
TIMES = re.compile(r"\b(?:year|month|day|date|decade|century|season|time)$")
KINDS = re.compile(
    r"\b(?:age|breed|channel|colou?r|date|day|genre|height|kind|length|month|nationality|number|position|race|relation|religion|"
    r"shape|size|sort|time|type|year)\b"
)
"""What is said of something, and is no subject itself: `what shape is the tip`."""
ASKED_FOR = frozenset({
    "abbreviation", "address", "age", "award", "capital", "cause", "causes", "color", "colour", "currency", "date",
    "difference", "distance", "height", "job", "label", "language", "length", "location", "meaning", "mouth",
    "name", "names", "nationality", "nickname", "number", "origin", "place", "population", "price", "profession",
    "purpose", "reason", "relationship", "salary", "seat", "size", "source", "speed", "sum", "surname",
    "temperature", "title", "topic", "value", "year",
})  # fmt: skip
"""What one can know of a thing; people, films and companies are known in another way."""
MANY_WORDS = 14
"""A longer subject does not go before a verb that ends the clause."""


def with_be(asked: Asked) -> Embedded | None:
    rest = asked.rest
    if rest[0].lower_ in ("not", "n't"):
        return None
    if len(rest) == 1 and rest[0].tag_ == "IN":  # Which country he is from: in order already.
        return asked.unchanged if asked.n_opening > 2 else None
    if rest[0].lower_ in ("there", "it"):
        return None if any(word.tag_ in FINITE for word in rest[1:2]) else asked.turned(1)
    if asked.opening == "when" and re.match(r"the (?:last|first) time\b", joined(rest)):
        return Embedded(text=joined(rest), is_noun=True)
    places = [place for place, word in enumerate(rest) if is_participle(word) and not is_inside(rest, place)]
    if places and not asked.is_adverbial and before_adverbs(rest, places[0]) == 0:
        sure = rest[places[0]].tag_ != "VBG" or helped_verb(asked) == places[0]
        return asked.unchanged if sure and rest[-1].tag_ != "IN" else None  # who was born
    if places and (asked.is_adverbial or helped_verb(asked) in places):
        main = main_participle(asked, places)
        return asked.turned(main) if main else None
    continues = asked.n_opening > 1 and any(
        rest[place].dep_ not in ("pcomp", "amod", "compound") and rest[place].tag_ == "VBG" for place in places
    )
    if places and (continues or TIMES.search(asked.opening)):
        return None
    return _with_nouns(asked)


def _with_nouns(asked: Asked) -> Embedded | None:
    """`what is the …`, `who was …`, `where are …`: the noun alone, the noun before the verb, or as it was."""
    rest, n_words = asked.rest, len(asked.rest)
    if rest[-1].tag_ == "IN" and n_words > 2 and rest[-2].tag_ in ("VBN", "JJ") and rest[-2].text.islower():
        return asked.turned(n_words - 2) if is_plain(rest[:-2]) else None
    if rest[-1].text in OPEN_ENDS and n_words > 1:
        return asked.turned(n_words - 1) if is_plain(rest[:-1]) and rest[-2].tag_[:2] != "JJ" else None
    if not asked.is_adverbial and _is_predicate(asked):
        kind = KINDS.search(asked.opening) and rest[0].tag_ != "IN"  # what kind of dog is …: a name without a capital
        return None if rest[-1].tag_ == "IN" or kind else asked.unchanged
    if dangles(rest) or STRANDED.search(joined(rest)):
        return None
    first = rest[0].lower_
    if asked.words[0].lower_ in ("who", "which", "whose") and (first in ARTICLES or asked.opening == "which"):
        return asked.unchanged
    if asked.words[0].lower_ == "what" and asked.n_opening > 1 and first in ARTICLES | {"one"}:
        if any(word.tag_ == "JJS" or word.text in ("first", "last", "most", "only") for word in rest[1:2]):
            return asked.unchanged  # what town is the largest
        if not KINDS.search(asked.opening):  # what town is the port: the town is the subject.
            return asked.unchanged if first == "the" and asked.n_opening == 2 and is_plain(rest) else None
    if joined(rest[2:3]) == "of" and first in ("a", "an"):
        return None  # what is a form of light: a kind of it, or what it is.
    return _with_one_noun(asked)


def _with_one_noun(asked: Asked) -> Embedded | None:
    """The noun before the verb, or alone where it is long and says what it is: `the capital of the country that …`."""
    rest, n_words, is_what = asked.rest, len(asked.rest), asked.opening == "what"
    is_short = n_words <= 3 or asked.opening not in ("who", "what")
    if not (rest[0].tag_ in NOUN_STARTS or (rest[0].tag_ in ("NN", "NNS") and is_short)):
        return None
    owns, is_name = any(word.tag_ == "POS" for word in rest), rest[0].tag_[:3] == "NNP"
    counts = rest[0].tag_ == "CD" or rest[0].lower_ in ("another", "some")
    tells = counts or (n_words > 7 and any(word.lower_ == "of" for word in rest[1:5]))
    # where was Rome at that time, what relation is Romulus to Remus: the predicate has begun.
    predicate = is_name and not owns and any(word.tag_ in ("IN", "TO") and word.lower_ != "of" for word in rest)
    ends_bare = (
        n_words > 2
        and rest[-1].text.islower()
        and rest[-1].tag_ == "NN"
        and rest[-2].tag_ == "IN"
        and rest[-2].lower_ != "of"
    )
    if is_plain(rest) and n_words <= MANY_WORDS and not (is_what and tells):
        unsure = predicate or _may_be_participle(rest) or (ends_bare and asked.is_adverbial)
        return None if unsure else asked.turned(n_words)
    unclear = (is_name or joined(rest[1:2])[:1].isupper()) and not owns and not tells
    sure = not unclear and rest[0].lower_ not in ("a", "an") and is_closed(rest) and not NO_NOUN.search(joined(rest))
    return Embedded(text=joined(rest), is_noun=True) if is_what and sure and _can_be_known(asked) else None


def _can_be_known(asked: Asked) -> bool:
    """`I would like to know the name of …`, `the largest …`, but not `the film that …`."""
    phrase = list(itertools.takewhile(lambda word: word.tag_[:1] != "W" and word.tag_ not in ("IN", "TO"), asked.rest))
    named = [
        word
        for word, after in zip(phrase, (*phrase[1:], None), strict=True)
        if word.tag_[:2] == "NN" and (after is None or after.tag_[:2] == "VB" or after.text == ",")
    ]
    best = any(word.tag_ in ("JJS", "RBS") or word.lower_ in ("first", "last", "only") for word in phrase)
    return bool(named) and (best or named[0].lower_ in ASKED_FOR)


def _may_be_participle(words: Sequence[Token]) -> bool:
    """`where is the film set`: the last word may be the verb."""
    last = words[-1].text
    quotes = words[-2:-1] and words[-2].text in ('"', "”", "'", "’")
    return len(words) > 1 and last.islower() and (bool(quotes) or (is_verb(last) and form(last, "VBN") == last))


def _is_predicate(asked: Asked) -> bool:
    """Whether what follows `be` is said of the question word: `who is older`, `which river is in Italy`."""
    first = asked.rest[0]
    if asked.opening == "what" or first.tag_[:3] == "NNP":
        return first.dep_ in ("acomp", "prep", "advmod") and first.tag_[:2] != "NN"
    near = asked.rest if asked.opening == "who" else asked.rest[:2]  # home to; who is president since
    return first.tag_ in DESCRIBING or (first.tag_ == "NN" and any(word.tag_ in ("IN", "TO", "WRB") for word in near))
