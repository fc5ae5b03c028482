"""A text → its Flesch reading ease: about 100 is easy, below 50 is hard."""

from __future__ import annotations

import re

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
SENTENCE = re.compile(r"(?<![.!?])[.!?]++(?=[\s\"”')]|$)")
VOWELS = re.compile(r"[aeiouyàáâãäåèéêëìíîïòóôõöùúûü]+")
SILENT = re.compile(r"(?<=[^aeiouyl])es?$|(?<=[aeiouy]l)es?$|(?<=[^aeioutdy])ed$")
"""`name`, `times`, `asked`, but not `wanted` or `title`."""


def reading_ease(text: str) -> float:
    """206.835 − 1.015 · words per sentence − 84.6 · syllables per word (Flesch 1948); 206.835 for no words."""
    words = WORD.findall(text)
    if not words:
        return 206.835
    n_sentences = max(1, len(SENTENCE.findall(text.strip())))
    return 206.835 - 1.015 * len(words) / n_sentences - 84.6 * sum(map(syllables, words)) / len(words)


def syllables(word: str) -> int:
    """Groups of vowels, less a silent ending, at least one. A number counts one for each digit."""
    if word.isdigit():
        return len(word)
    plain = word.lower().replace("'", "").replace("’", "")
    shortened = SILENT.sub("", plain)
    # Sizes, causes, changes: the e is heard after a hiss.
    if plain.endswith("es") and re.search(r"(?:s|x|z|ch|sh|[cg])$", plain[:-2]):
        shortened = plain
    n_groups = len(VOWELS.findall(shortened))
    # Two vowels that belong to two syllables.
    n_groups += len(
        re.findall(r"i[ao](?!us)|(?<![qg])ua|eo|ia|ue[lt]|io(?!n)", re.sub(r"[tscg]i(?=[aou])", "t", shortened))
    )
    return max(1, n_groups)
