"""Text → the words that may be tampered with: English ones, and no name, number, negation or quotation."""

from __future__ import annotations

import re

from shaketable.text.language import stop_words
from shaketable.variations.english.known_words import is_word
from shaketable.variations.english.question_words import ARTICLES

Place = tuple[int, int]
"""First character, and the one after the last."""
WORD = re.compile(r"(?<![\w\-/.@&'’])[A-Z]?[a-z]+(?![\w\-/@&'’]|\.\w)")
"""Letters that stand alone: nothing with a hyphen, a digit or an apostrophe."""
CAPITAL = re.compile(r"(?<!\w)[^\W\d_a-z][\w'’.-]*(?<![.'’])")
KEPT_WHOLE = re.compile(
    r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|(?<!\w)['‘`](?!s\b)[^'’`]+['’`](?!\w)|\([^()]*\)"
    r"|\b(?:words?|terms?|phrase|prefix|suffix|letters?|verb|noun|acronym|abbreviation|called|named|titled|entitled)"
    r"\s+\w+|\bdo(?:es)? \w+ (?:mean|stand for)\b",
    re.IGNORECASE,
)
"""Quotations, brackets, and words that a question is about."""
OPENING = frozenset({
    "what", "which", "who", "whom", "whose", "when", "where", "why", "how", "during", "after", "before", "from", "with",
    "along", "between", "within", "under", "according", "besides", "did", "does", "do", "is", "was", "were", "are",
    "has", "have", "had", "can", "could", "would", "should", "will", "in", "on", "at", "by", "of", "to", "for", "as",
    "if", "both", "this", "these", "however", "since", "while", "although", "aside", "among", "near", "typically",
    "over", "through", "until", "about",
})  # fmt: skip
"""Words that are no names where they open a sentence."""
KEPT = frozenset({
    "not", "nor", "never", "none", "neither", "nobody", "nothing", "nowhere", "without", "except", "unlike", "cannot",
    "least", "fewer", "less", "hardly", "false", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
    "ten", "eleven", "twelve", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred",
    "thousand", "million", "billion", "trillion", "dozen", "half", "quarter", "zero", "single", "double", "triple",
})  # fmt: skip
"""Negations and numbers."""
WITHIN_NAME = re.compile(r"[ ,]*(?:\b[a-z]{1,4}\b[ ,]*){0,3}|[ ,:&]*\d*[ ,:&]*")
"""What joins two words with capitals: the `of the` in `Lord of the Rings`."""
TITLE = re.compile(r"(?P<asks>Who|What|Which|When|Where|Why|How) (?P<next>[A-Z][a-z]+)\b")
LEAST_KNOWN = 0.6
LEAST_COMMON = 0.2


def plain_words(text: str) -> list[re.Match[str]]:
    """In order, each with its place."""
    if not is_english(text):
        return []
    kept = kept_places(text)
    return [
        word
        for word in WORD.finditer(text)
        if word[0].lower() not in KEPT
        and is_word(word[0].lower())
        and not any(start <= word.start() < end for start, end in kept)
    ]


def kept_places(text: str) -> list[Place]:
    """Where names, quotations and words that are asked about stand."""
    names: list[Place] = []
    for word in CAPITAL.finditer(text):
        if _opens_sentence(word, text):
            continue
        if names and WITHIN_NAME.fullmatch(text[names[-1][1] : word.start()]):
            names[-1] = (names[-1][0], word.end())
        else:
            names.append(word.span())
    return [span.span() for span in KEPT_WHOLE.finditer(text)] + names


def opens_with_title(text: str) -> bool:
    """`What Women Want was …`: a question word with a capital before a common word with one; `What British king` is
    none."""
    match = TITLE.match(text)
    return match is not None and (match["asks"].lower() not in ("what", "which") or is_word(match["next"].lower()))


def is_english(text: str) -> bool:
    """Whether most words that are no names are English ones, and some of those that English cannot do without."""
    words = re.findall(r"(?<![\w'’-])[^\W\d_]{2,}(?![\w'’-])", text)
    small = [word.lower() for word in words if word.islower() or word.lower() in OPENING]
    return (
        bool(small)
        and sum(map(is_word, small)) >= LEAST_KNOWN * len(small)
        and sum(word in stop_words() for word in small) >= LEAST_COMMON * len(small)
    )


def _opens_sentence(word: re.Match[str], text: str) -> bool:
    before, after = text[: word.start()].rstrip(), text[word.end() :]
    is_small = word[0].lower() in OPENING or (word[0].lower() in ARTICLES and bool(re.match(" [a-z]", after)))
    return (not before or before[-1] in ".?!:") and is_small
