"""A wording keeps the numbers of its original and adds none."""

from __future__ import annotations

import re
from collections import Counter

from shaketable.variations.gate.refusal import Refusal

DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
IN_A_WORD = re.compile(rf"(?<!\d)(?<!\d[.,]){DIGITS.pattern}(?=[^\W\d])(?!s\b)|(?<=[^\W\d]){DIGITS.pattern}")
OR = re.compile(r"\bor\b", re.IGNORECASE)
NUMBER_WORDS = {
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
    "ten": "10", "eleven": "11", "twelve": "12",
}  # fmt: skip
"""`one` is often a pronoun, and larger numbers are mostly written in digits."""


def numbers(text: str) -> Counter[str]:
    """The numbers of a text, in digits; those from two to twelve also when they are written as words."""
    # Tokenizers may put a space behind the mark in 8.95 and 30,000.
    joined = re.sub(r"(?<=\d)(\. (?=\d)|, (?=\d{3}(?!\d)))", lambda mark: mark[0][0], text)
    found = Counter(number.replace(",", "") for number in DIGITS.findall(joined))
    found.update(NUMBER_WORDS[word] for word in re.findall(r"[a-z]+", text.lower()) if word in NUMBER_WORDS)
    return found


def numbers_trouble(original: str, wording: str, *, may_add: bool = False) -> Refusal | None:
    before, after = numbers(original), numbers(wording)
    lost = before - after
    # A digit inside a word, such as `0f`, is an error of spelling.
    added = numbers(IN_A_WORD.sub("", wording)) - before
    for number, other in [(a, b) for a in lost for b in added]:
        # 1999 and '99, the 80s and the 1980s.
        if {len(number), len(other)} == {2, 4} and number[-2:] == other[-2:]:
            del lost[number], added[other]
    if OR.search(original):
        # `Which of the two` is one of those that the original names.
        del added["2"]
    if lost:
        return Refusal(kind="numbers_lost", text=f"numbers lost: {', '.join(sorted(lost))}")
    if added and not may_add:
        return Refusal(kind="numbers_added", text=f"numbers added: {', '.join(sorted(added))}")
    return None
