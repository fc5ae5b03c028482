"""The words of a question → the same in the order of an embedded clause.

Words move only where the parser and the shape of the sentence agree on what moves; for any other question there is
nothing.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from shaketable.variations.english.asked import (
    Asked,
    Embedded,
    asks_again,
    asks_twice,
    bare_verb,
    before_adverbs,
    dangles,
    helped_verb,
    is_closed,
    is_inside,
    is_participle,
    is_plain,
    is_relative,
    joined,
    main_participle,
    small,
)
from shaketable.variations.english.inflection import form, is_verb
from shaketable.variations.english.question_words import ADVERBIAL, AUXILIARIES, BE, DO, FINITE, RELATIVE, WH_WORDS

if TYPE_CHECKING:
    from spacy.tokens import Token

COMMANDS = frozenset({"name", "give", "identify", "list", "complete", "describe", "explain", "define", "translate"})
OPEN_ENDS = frozenset({"about", "called", "from", "in", "like", "on"})
"""A question that ends in one of these asks for what would stand behind it."""
PREDICATES = frozenset({"a", "an", "both", "born", "based", "from", "located", "situated"})
"""What a predicate begins with, where parsers see one long noun phrase."""
ARTICLES = frozenset({"the", "a", "an"})
NOUN_STARTS = frozenset({"``", "DT", "NNP", "NNPS", "PRP", "PRP$", "CD", "JJS"})
DESCRIBING = frozenset({"JJ", "JJR", "JJS", "RB", "RBR", "RBS", "IN"})
PARTICIPLES = frozenset({"VBN", "VBG", "VBD"})
"""Taggers take many participles for past tenses."""
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
MANY_WORDS = 14
"""A longer subject does not go before a verb that ends the clause."""
FAR = 16
"""A question word that comes later is asked where the answer would stand."""


def is_command(words: Sequence[Token]) -> bool:
    return len(words) > 1 and words[0].lower_ in COMMANDS and words[1].tag_ in ("DT", "CD", "PRP$", "JJ", "JJS")


def embedded(words: Sequence[Token]) -> Embedded | None:
    """What can follow `I would like to know`; None: nothing that is sure."""
    if len(words) < 3 or asks_twice(words):
        return None
    if words[0].lower_ in AUXILIARIES:
        return _yes_or_no(Asked(words=words, n_opening=0))
    front, main = _parted(words)
    if len(main) < 3 or main[1].lower_ in ("or", "and"):
        return None
    n_opening = _n_before_verb(main, 1 if main[0].lower_ in WH_WORDS else 2)
    if n_opening == len(main):
        # Taggers take past tenses for participles; nothing moves.
        sure = not front and main[0].lower_ in WH_WORDS - ADVERBIAL and any(word.tag_[:2] == "VB" for word in main)
        return Embedded(text=small(main)) if sure else None
    tells = main[0].lower_ in ("when", "where", "why") and n_opening > 1 and main[1].tag_ not in ("IN", "RB")
    quotes = not main[n_opening - 1].text[-1:].isalnum()
    again = any(word.lower_ in WH_WORDS for word in main[2:n_opening]) and main[0].lower_ in ADVERBIAL
    if n_opening == len(main) - 1 or tells or again or (front and quotes):  # When it was new, what …
        return None
    asked = Asked(words=main, n_opening=n_opening)
    if not front:
        return _ordered(asked)
    moved = asked.unchanged if asked.opening in ("who", "what", "which") and _is_be(asked) else _ordered(asked)
    stands = asked.opening == "what" and asked.verb.tag_ == "VBP" and not _is_be(asked)  # what stand up comic
    has_moved = asked.verb.lower_ in ("has", "have", "had") and moved != asked.unchanged
    if moved is None or moved.is_noun or stands or has_moved or "'" in asked.verb.text:
        return None
    # who, in Greek myth, was …: at the end it could be taken to belong to something else.
    return Embedded(text=f"{asked.opening}, {small(front)},{moved.text.removeprefix(asked.opening)}")


# --- which kind of question -----------------------------------------------------------------------


def _parted(words: Sequence[Token]) -> tuple[Sequence[Token], Sequence[Token]]:
    """A phrase without a verb before the question word, and the question; no words: it is asked in another way."""
    for place, (word, following) in enumerate(itertools.pairwise(words[:FAR])):
        asks = word.lower_ in WH_WORDS
        if not asks and not (word.tag_ in ("IN", "TO") and following.lower_ in WH_WORDS - ADVERBIAL):
            continue
        if not place:
            return [], words
        before = words[place - 1]
        front = words[: place - 1] if before.text == "," else words[:place]
        clear = before.text == "," or (asks and before.tag_[:2] in ("NN", "CD"))
        opens = len(front) > 1 and (front[0].tag_ == "IN" or front[0].lower_ == "according")
        simple = not any(one.text == "," or one.tag_ in FINITE for one in front)
        # In Kent, who …: parsers see a clause about Kent, which would end at another comma.
        relative = is_relative(word) and any(one.text == "," for one in words[place:])
        return (front, words[place:]) if clear and opens and simple and not relative else ([], [])
    return [], []


def _n_before_verb(words: Sequence[Token], start: int) -> int:
    for place in range(start, len(words)):
        finite = words[place].tag_ in FINITE or words[place].lower_ in AUXILIARIES
        if finite and not (place > start and words[place - 1].lower_ in RELATIVE):
            return place
    return len(words)


def _ordered(asked: Asked) -> Embedded | None:
    if asked.verb.lower_ in DO:
        return _with_do(asked)
    if _is_be(asked):
        return None if asks_again(asked) else _with_be(asked)
    return _with_auxiliary(asked) if asked.verb.lower_ in AUXILIARIES else _in_order(asked)


def _is_be(asked: Asked) -> bool:
    return asked.verb.lower_ in BE


# --- word order -----------------------------------------------------------------------------------


def _in_order(asked: Asked) -> Embedded | None:
    """The question word is the subject: nothing moves."""
    # by what means is …: taggers take the noun for the verb.
    return None if asks_again(asked) or asked.rest[0].lower_ in AUXILIARIES else asked.unchanged


def _with_do(asked: Asked) -> Embedded | None:
    """`did` goes into the main verb."""
    main = bare_verb(asked)
    if asked.opening == "who" and main is None and any(word.lower_ in ("voice", "music") for word in asked.rest[:4]):
        return asked.unchanged  # who does the voice
    if not main:
        return None
    subject, verb, after = asked.rest[:main], asked.rest[main], asked.rest[main + 1 :]
    if not is_verb(verb.lower_) or not verb.text.islower() or any(word.dep_ == "conj" for word in verb.children):
        return None
    tag = {"did": "VBD", "does": "VBZ", "do": "VBP"}[asked.verb.lower_]
    if tag == "VBZ" and any(word.lower_ == "and" for word in subject):
        # What does A and B have in common: people write it, and nobody says `A and B has`.
        tag = "VBP" if joined(after) == "in common" else ""
    others = any(
        (word.tag_ == "VB" and before.tag_ not in ("TO", "MD", "CC"))
        or (word.tag_ == "VBP" and before.tag_[:2] == "NN" and word.lower_ not in AUXILIARIES)
        for before, word in itertools.pairwise(asked.rest[main:])
    )
    if joined(after[:1]) == "of" and verb.lower_ not in ("die", "consist", "think"):  # did the model of … last
        return None
    if others or (len(after) == 1 and verb.lower_ != "take" and is_verb(after[0].lower_)):  # did the deal last
        return None
    if not tag or not is_closed(subject):
        return None
    inflected = form(verb.lower_, tag) + verb.whitespace_
    return Embedded(text=f"{asked.opening} {joined(subject)} {inflected}{joined(after)}".strip())


def _with_auxiliary(asked: Asked) -> Embedded | None:
    """has, had, can, will: behind the subject where the parser finds one and its verb, else as it was."""
    main = helped_verb(asked)
    if main is not None:
        if any(word.lower_ == "be" for word in asked.rest[main + 1 : main + 2]):  # could the broadcast be streamed
            return None
        if not _fits(asked.verb, asked.rest, main):
            return None
        main = before_adverbs(asked.rest, main)
    compares = any(word.text == "," for word in asked.rest)  # Which film has the director who died first, A or B
    if main and not compares:
        return asked.turned(main)
    first = asked.rest[0]
    is_object = first.lower_ in ("a", "an", "no", "more") or first.tag_ in ("NNS", "CD")  # has towns built by Romans
    later = any(
        word.tag_ in PARTICIPLES | {"VB", "VBP"} and not is_inside(asked.rest, place)
        for place, word in enumerate(asked.rest)
    )
    unsure = asked.verb.tag_ == "MD" or (later and not is_object and not compares)
    return None if asked.is_adverbial or (main != 0 and unsure) else _in_order(asked)


def _fits(auxiliary: Token, rest: Sequence[Token], main: int) -> bool:
    """Whether the verb has a form that the auxiliary takes: could be, has been, has seen."""
    if main and rest[main - 1].lower_ in ("be", "been", "have"):
        return True
    return rest[main].tag_ in (("VB",) if auxiliary.tag_ == "MD" else ("VBN", "VBD"))


def _with_be(asked: Asked) -> Embedded | None:
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
        return None if predicate or (ends_bare and asked.is_adverbial) else asked.turned(n_words)
    unclear = (is_name or joined(rest[1:2])[:1].isupper()) and not owns and not tells
    sure = not unclear and rest[0].lower_ not in ("a", "an") and is_closed(rest) and not NO_NOUN.search(joined(rest))
    return Embedded(text=joined(rest), is_noun=True) if is_what and sure else None


def _is_predicate(asked: Asked) -> bool:
    """Whether what follows `be` is said of the question word: `who is older`, `which river is in Italy`."""
    first = asked.rest[0]
    if asked.opening == "what" or first.tag_[:3] == "NNP":
        return first.dep_ in ("acomp", "prep", "advmod") and first.tag_[:2] != "NN"
    near = asked.rest if asked.opening == "who" else asked.rest[:2]  # home to; who is president since
    return first.tag_ in DESCRIBING or (first.tag_ == "NN" and any(word.tag_ in ("IN", "TO", "WRB") for word in near))


def _yes_or_no(asked: Asked) -> Embedded | None:
    rest = asked.rest
    if asked.verb.lower_ in DO:
        return _with_do(asked)
    if not _is_be(asked):
        return None
    if rest[0].lower_ == "there":
        return asked.turned(1)
    for place, (before, word) in enumerate(itertools.pairwise(rest), 1):
        if word.text in PREDICATES or re.match("(?:in )?the same ", joined(rest[place:])):
            known = before.text[:1].isupper() or before.text in (")", '"', "”")
            several = asked.verb.lower_ in ("are", "were")  # Are A from 1999 and B from 2001 both films
            joins = not several or any(one.lower_ == "and" for one in rest[:place])
            return asked.turned(place) if known and joins else None
    return None
