"""A question → what a speaker may say between its words: fillers, repetitions, false starts and corrections.

All words of the question stay, in their order: without what was put in, it is the question again.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from shaketable.text import language
from shaketable.text.ranking import terms
from shaketable.types import Passage, Question
from shaketable.variations.english.plain_words import OPENING, kept_places, plain_words
from shaketable.variations.english.question_words import ARTICLES, BEING

FIRST_FILLERS = ("um", "uh", "so, um", "okay, so", "so, uh", "well, uh", "hmm")
FILLERS = ("um", "uh", "er", "uh", "um", "you know", "let me think")
EDITS = ("no wait", "I mean", "sorry", "no sorry", "wait no", "no I mean", "uh, I mean")
"""What speakers say before they correct themselves, as in Disfl-QA (Gupta et al., 2021)."""
FALSE_STARTS = {
    "who": ("what", "when", "where"), "what": ("who", "where", "when"), "when": ("where", "who"),
    "where": ("when", "who"), "why": ("how", "when"), "which": ("who", "where"), "how": ("when", "what"),
}  # fmt: skip
HELPERS = frozenset({
    "is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "can", "could", "will", "would", "should",
})  # fmt: skip
JOINING = BEING | {"of", "in", "by", "for", "from", "with", "at", "on", "to", "about", "during", "between", "than"}
SMALL = OPENING | ARTICLES
"""Words that lose their capital inside a sentence."""
REPEATED = frozenset(
    {*FALSE_STARTS, *HELPERS, "in", "on", "at", "by", "the", "a", "an", "whose", "whom", "many", "much"}
)
THINGS = (
    ("father", "mother"), ("husband", "wife"), ("brother", "sister"), ("son", "daughter"), ("uncle", "aunt"),
    ("grandfather", "grandmother"), ("director", "producer"), ("author", "publisher"), ("actor", "director"),
    ("composer", "director"), ("performer", "writer"), ("film", "series"), ("movie", "series"), ("song", "album"),
    ("city", "state"), ("country", "city"), ("county", "city"), ("river", "lake"), ("team", "coach"),
    ("player", "coach"), ("president", "governor"), ("birth", "death"), ("year", "month"), ("novel", "poem"),
    ("band", "singer"), ("language", "religion"), ("actress", "singer"),
    ("character", "actor"), ("winner", "host"),
)  # fmt: skip
PROPERTIES = (
    ("older", "younger"), ("oldest", "largest"), ("largest", "smallest"), ("highest", "lowest"),
    ("longest", "shortest"), ("earlier", "later"), ("maternal", "paternal"), ("born", "married"),
)  # fmt: skip
"""Words of the same kind: a speaker says one and means the other."""
POINTING = frozenset({"the", "which", "what", "whose", "this", "that", "his", "her", "its", "their"})
FIXED = re.compile(r" (?:time|place|lady|half|aid|person|hand|with)\b")
"""What follows where the other word would make no sense: `the first time`, `born with`."""
KINDS = re.compile(
    r"\b(?:is|was|are|were)\b[^.]*?\b(film|actor|actress|singer|rapper|band|album|song|single|novel|book|play|magazine|"
    r"newspaper|city|town|village|county|river|lake|mountain|island|university|college|school|company|airport|"
    r"footballer|politician|writer|author|poet|composer|painter|director|producer|journalist|king|queen|prince|"
    r"princess|emperor|bishop|architect|physicist|mathematician|chemist|philosopher|businessman)"
    r"(?=[,.;]| (?:by|directed|written|starring|and(?! television| TV| stage| theat)|produced|from|of|in|based|"
    r"released|who|that|on|with|for|at)\b)"
)
"""What an article says its subject is, in its first sentence."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Insertion:
    place: int
    """The character of the question before which it is said."""
    text: str
    """With its marks and the space behind it."""
    kind: str


def fillers(text: str, rng: random.Random) -> Iterator[Insertion]:
    """At the beginning, before a name, and around `the`, where speakers think of what comes next."""
    if may_open(text):
        yield Insertion(place=0, text=f"{rng.choice(FIRST_FILLERS)}, ", kind="filler")
    kept = kept_places(text)
    has_names = text.lower() != text  # In small letters nobody knows where a name begins.
    for before, word in _neighbours(text):
        if any(start < word.start() < end for start, end in kept):
            continue
        opens_name = has_names and any(start == word.start() for start, _ in kept) and text[word.start()].isupper()
        after_the = has_names and before[0] == "the" and word[0].islower() and not _is_kept(before.start(), kept)
        joins = before[0].lower() in (JOINING if has_names else BEING)
        before_the = word[0] == "the" and joins and not _is_kept(before.start(), kept)
        if (opens_name and before[0].islower() and before[0] not in ("the", "a", "an")) or after_the or before_the:
            yield Insertion(place=word.start(), text=f", {rng.choice(FILLERS)}, ", kind="filler")


def small_opening(text: str) -> str:
    """The question as it goes on inside a sentence: with a small letter, unless it begins with a name."""
    first, space, rest = text.partition(" ")
    is_of_name = first.lower() in ARTICLES and rest[:1].isupper()
    return f"{first.lower()}{space}{rest}" if _stem(first) in SMALL and not is_of_name else text


def may_open(text: str) -> bool:
    """Whether something can be said before the first word: its letter is sure."""
    first = text.split(" ", 1)[0]
    return _stem(first) in SMALL or first[:1].islower() or bool(re.match(r"\S+ (?:\w+ )?[A-Z0-9]", text))


def _stem(word: str) -> str:
    return re.split("['’]", word.lower())[0]


def repetitions(text: str, rng: random.Random) -> Iterator[Insertion]:
    """`What is, what is the`: the first words, as long as they say nothing yet."""
    first = _first_words(text)
    for n in range(1, len(first) + 1):
        if first[n - 1].lower() not in ("a", "an", "many", "much"):
            filler = rng.choice(("", "", f"{rng.choice(('um', 'uh', 'er'))}, "))
            yield Insertion(place=0, text=f"{' '.join(first[:n]).lower()}, {filler}", kind="repetition")


def false_starts(text: str, rng: random.Random) -> Iterator[Insertion]:
    """`Where was, no wait, when was`."""
    first = [word.lower() for word in _first_words(text)]
    for other in FALSE_STARTS.get(first[0], ()) if first else ():
        said = f"{other} {first[1]}" if first[1:] and first[1] in HELPERS else other
        yield Insertion(place=0, text=f"{said}, {rng.choice(EDITS)}, ", kind="false_start")


def corrections(
    question: Question, text: str, rng: random.Random, pipeline: str | None = language.PIPELINE
) -> Iterator[Insertion]:
    """`the mother, sorry, the father`; or another title of the question's documents before the one that it names.

    Without a pipeline a word before another content word is left alone: it may belong to a longer noun.
    """
    yield from _other_titles(question, text, rng)
    tags = {word.idx: word.tag_ for word in language.parsed(text, pipeline)} if pipeline else {}
    for word in plain_words(text):
        before = re.search(r"(\w+|['’]s) $", text[: word.start()])
        last = before[1].lower() if before else ""
        after = re.match(r" (?=\w)", text[word.end() :])
        follows_noun = after is not None and _is_noun(tags, text, word.end() + 1)
        is_thing = last in {*POINTING, "'s", "’s"} or f"{last} {word[0]}" in ("of film", "of birth", "of death")
        others = _peers(word[0], THINGS) if is_thing and not follows_noun else ()
        if last not in ("a", "an") and not FIXED.match(text[word.end() :]):
            others = (*others, *_peers(word[0], PROPERTIES))
        again = f"{last} " if last in POINTING else ""
        for other in others:
            yield Insertion(place=word.start(), text=f"{other}, {rng.choice(EDITS)}, {again}", kind="correction")


def _is_noun(tags: Mapping[int, str], text: str, place: int) -> bool:
    if tags:
        return tags.get(place, "NN") in ("NN", "NNS")
    return re.split(r"\W", text[place:].lower(), maxsplit=1)[0] not in language.stop_words()


def _other_titles(question: Question, text: str, rng: random.Random) -> Iterator[Insertion]:
    """Never one with a word of the question or of an answer: it must be another thing, and tell nothing."""
    kinds = {_name(document): kind for document in question.documents if (kind := _kind(document))}
    near = _words(text) | _words(" ".join(question.answers))
    for name, kind in kinds.items():
        place = re.search(rf"(?<![\w'’-]){re.escape(name)}(?=['’]s\b|[?,.]|$| [a-z])", text) if name else None
        if place is None or re.search(r"\b(?:the|an?) $|[\"“'‘(]$|\b[A-Z]\w* $", text[: place.start()]):
            continue
        genitive = "'s" if re.match(r"['’]s\b", text[place.end() :]) else ""
        for other, other_kind in kinds.items():
            if other_kind == kind and not near.intersection(_words(other)) and 0 < len(other.split()) <= 4:
                edit = rng.choice(EDITS)
                yield Insertion(place=place.start(), text=f"{other}{genitive}, {edit}, ", kind="other_title")


def _name(document: Passage) -> str:
    return re.sub(r" \([^)]*\)$", "", document.title).strip()


def _kind(document: Passage) -> str | None:
    first = document.text[:300]
    found = KINDS.search(first)
    return found[1] if found else None


def _peers(word: str, pairs: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(other for pair in pairs if word in pair for other in pair if other != word)


def _first_words(text: str) -> list[str]:
    """Those that say nothing yet: `In which`, `What is the`."""
    words: list[str] = []
    for word, following in itertools.pairwise(re.findall(r"\S+", text)[:4]):
        is_of_name = word.lower() in ("the", "a", "an") and following[:1].isupper()
        if word.lower() not in REPEATED or is_of_name:
            break
        words.append(word)
    return words


def _neighbours(text: str) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
    """Words with nothing but a space between them."""
    words = list(re.finditer(r"[^\W_]+(?:['’.-][^\W_]+)*", text))
    for before, word in itertools.pairwise(words):
        if text[before.end() : word.start()] == " ":
            yield before, word


def _is_kept(place: int, kept: Sequence[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in kept)


def _words(text: str) -> set[str]:
    return set(terms(text)) - language.stop_words()
