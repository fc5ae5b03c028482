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
    helped_verb,
    holds_a_title,
    is_closed,
    is_inside,
    is_relative,
    joined,
    small,
)
from shaketable.variations.english.be_questions import with_be
from shaketable.variations.english.inflection import form, is_verb
from shaketable.variations.english.question_words import ADVERBIAL, AUXILIARIES, BE, DO, FINITE, RELATIVE, WH_WORDS

if TYPE_CHECKING:
    from spacy.tokens import Token

COMMANDS = frozenset({"name", "give", "identify", "list", "complete", "describe", "explain", "define", "translate"})
PREDICATES = frozenset({"a", "an", "both", "born", "based", "from", "located", "situated"})
"""What a predicate begins with, where parsers see one long noun phrase."""
SUBJECT_STARTS = frozenset({"``", "DT", "NN", "NNS", "NNP", "NNPS", "PRP", "PRP$", "CD"})
PARTICIPLES = frozenset({"VBN", "VBG", "VBD"})
"""Taggers take many participles for past tenses."""
FAR = 16
"""A question word that comes later is asked where the answer would stand."""


def is_command(words: Sequence[Token]) -> bool:
    return len(words) > 1 and words[0].lower_ in COMMANDS and words[1].tag_ in ("DT", "CD", "PRP$", "JJ", "JJS")


def embedded(words: Sequence[Token]) -> Embedded | None:
    """What can follow `I would like to know`; None: nothing that is sure."""
    if len(words) < 3 or asks_twice(words) or _is_unusual(words):
        return None
    turned = _turned(words)
    return None if turned and turned.text != small(words) and holds_a_title(words) else turned


def _turned(words: Sequence[Token]) -> Embedded | None:
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
    # which king who built it was he the son of: nobody can tell what moves.
    described = any(
        word.lower_ in RELATIVE or (word.tag_ in PARTICIPLES and word.text.islower()) for word in main[2:n_opening]
    )
    if described and main[n_opening].lower_ in AUXILIARIES and main[n_opening + 1].tag_ in SUBJECT_STARTS:
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


def _is_unusual(words: Sequence[Token]) -> bool:
    """A statement with a verb left over at its end, a remark behind the question word, or a title that opens as a
    question does: `What Dreams May Come was shot in what year`."""
    first, second = words[:2]
    if words[-1].text in ("is", "are", "was", "were") or second.text == ",":
        return True
    if first.lower_ not in WH_WORDS or not second.text[:1].isupper():
        return False
    again = any(
        before.tag_[:2] in ("IN", "VB") and word.text in ("what", "which") and after.tag_ in ("NN", "NNS", "JJ")
        for before, word, after in zip(words[2:], words[3:], words[4:], strict=False)
    )
    names = first.lower_ in ("what", "which", "whose") and second.tag_[:2] not in ("VB", "MD", "PR")
    return not names or again


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
        return None if asks_again(asked) else with_be(asked)
    return _with_auxiliary(asked) if asked.verb.lower_ in AUXILIARIES else _in_order(asked)


def _is_be(asked: Asked) -> bool:
    return asked.verb.lower_ in BE


# --- word order -----------------------------------------------------------------------------------


def _in_order(asked: Asked) -> Embedded | None:
    """The question word is the subject: nothing moves."""
    # by what means is …: taggers take the noun for the verb.
    if asks_again(asked) or asked.rest[0].lower_ in AUXILIARIES:
        return None
    later = any(
        word.lower_ in AUXILIARIES and word.tag_ in FINITE and not is_inside(asked.rest, place)
        for place, word in enumerate(asked.rest)
    )
    # which prize given by Rome has he won: taggers take the participle for the verb.
    return None if later and asked.verb.tag_ == "VBD" and asked.rest[0].tag_ == "IN" else asked.unchanged


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
