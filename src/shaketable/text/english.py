"""Is a text English? A light answer from its script and its small words, for rules that know no other language."""

from __future__ import annotations

import re
import unicodedata

from shaketable.text import lexicon
from shaketable.text.language import stop_words

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
FOREIGN = frozenset({
    "der", "das", "und", "ist", "wer", "wie", "wo", "wann", "warum", "welche", "welcher", "welches", "welchen",
    "wurde", "wird", "ein", "eine", "einen", "dem", "im", "auf", "für", "mit", "von", "nicht", "hat", "sind", "war",
    "den", "zu", "het", "een", "wat", "hoe", "waar", "welke", "wanneer", "waarom", "werd", "niet", "zijn", "le", "la",
    "les", "des", "du", "est", "qui", "que", "quel", "quelle", "quels", "quelles", "où", "quand", "pourquoi",
    "comment", "dans", "une", "sur", "avec", "été", "était", "aux", "el", "los", "las", "una", "qué", "quién", "cuál",
    "cuándo", "dónde", "cómo", "fue", "del", "por", "para", "con", "en", "es", "un", "il", "lo", "gli", "che", "chi",
    "quale", "dove", "perché", "nel", "della", "di", "è", "os", "em", "qual", "onde", "foi", "não", "da", "uma",
    "quem", "och", "är", "vem", "vad", "när", "var", "det", "som", "hvem", "hvad", "hvor", "når", "er", "og", "jest",
    "kto", "co", "gdzie", "kiedy", "jak", "który", "w", "z", "na",
})  # fmt: skip
"""Small words of German, Dutch, French, Spanish, Portuguese, Italian, Scandinavian languages and Polish that English
questions do not use."""
SHARED = frozenset({
    "an", "die", "was", "in", "is", "of", "on", "for", "a", "to", "me", "no", "so", "at", "has", "hat", "her", "do",
    "as",
})  # fmt: skip
"""English words that other languages have too; they tell nothing."""
ASKING = frozenset({"who", "whom", "whose", "what", "which", "when", "where", "why", "how"})
"""No other language asks with these, so one of them outweighs a foreign title."""
MIN_LATIN = 0.8
MIN_KNOWN = 0.5
MAX_WORDS = 150


def not_english(text: str) -> str | None:
    """Why rules for English questions should leave a text alone; None: it seems English."""
    letters = [letter for letter in text if letter.isalpha()]
    if not letters:
        return "it has no words"
    if sum(map(_is_latin, letters)) < MIN_LATIN * len(letters):
        return "it is not written in Latin letters, and the rules know English alone"
    words = [word.lower() for word in WORD.findall(text)]
    if len(words) > MAX_WORDS:
        return f"it has {len(words)} words, and the rules know questions of up to {MAX_WORDS}"
    small = (stop_words() - SHARED) - FOREIGN
    n_english, n_foreign = sum(word in small for word in words), sum(word in FOREIGN for word in words)
    if n_english > n_foreign or (n_english == n_foreign and ASKING & set(words)):
        return None
    if n_foreign or sum(map(_is_known, words)) < MIN_KNOWN * len(words):
        return "it does not seem to be English, and the rules know English alone"
    return None


def _is_latin(letter: str) -> bool:
    return letter.isascii() or unicodedata.name(letter, "").startswith("LATIN")


def _is_known(word: str) -> bool:
    known = lexicon.load()
    bases = (word, word.removesuffix("s"), word.removesuffix("es"), word.removesuffix("ed"), word.removesuffix("ing"))
    return word in stop_words() or any(base in entries for entries in known.entries.values() for base in bases)
