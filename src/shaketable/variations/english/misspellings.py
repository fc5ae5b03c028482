"""Words → the ways in which people misspell them, from the list inside nlpaug's wheel."""

from __future__ import annotations

import functools
import re
import string
from collections.abc import Iterator, Mapping

from shaketable.errors import need_packages
from shaketable.text import language, lexicon
from shaketable.variations.english.inflection import PACKAGES
from shaketable.weights import locate

NAME = "nlpaug-misspellings"
PLAIN = re.compile(r"[a-z]{3,}")
RUDE = re.compile(
    r"anus|arse|cock|coon|crap|cum|cunt|dick|fag|fuck|nig|piss|porn|rape|sex|shit|slut|tit|twat|wank|whor"
)
KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
ALIKE = ("aeiouy", "cksqzx", "mn", "bvp", "dt", "fv", "gj")
"""Letters that sound alike."""
SHORTEST_WITH_TWO = 9
"""Letters of a word that may have two errors; with two in eight it is guesswork."""
SHORTEST_TYPED = 4


@functools.cache
def load(name: str = NAME) -> Mapping[str, tuple[str, ...]]:
    """57,690 words, each with its misspellings; a misspelling has the words it stands for, so errors turn right too.

    `name` is the embedded list, or the path of a file of the same layout: a word, then its misspellings, on each line.
    """
    found: dict[str, dict[str, None]] = {}
    for word, misspelled in _lines(name):
        for other in misspelled:
            found.setdefault(word, {})[other] = None
            found.setdefault(other, {})[word] = None
    return {word: tuple(others) for word, others in found.items()}


@functools.cache
def natural(word: str) -> tuple[str, ...]:
    """The listed misspellings of a word in small letters that a reader still takes for it.

    The list has damaged entries (`[[th`), other words (`ght`, `form`) and errors beyond recognition. What stays is
    near the word, begins like it, is no other word and is not as near to another.
    """
    return tuple(other for other in _listed().get(word, ()) if is_recognizable(word, other))


@functools.cache
def typed(word: str) -> tuple[str, ...]:
    """The word after a slip on the keyboard: two letters swapped, one left out, one twice, or the key beside it."""
    slips = dict.fromkeys(_slips(word)) if len(word) >= SHORTEST_TYPED and is_word(word) else {}
    return tuple(slip for slip in slips if is_recognizable(word, slip))


def is_recognizable(word: str, wrong: str) -> bool:
    """Whether a misspelling is read as the word that was meant."""
    if not (PLAIN.fullmatch(word) and PLAIN.fullmatch(wrong)) or wrong == word or _is_another(word, wrong):
        return False
    if RUDE.search(wrong) and not RUDE.search(word):
        return False
    if wrong in _swapped(word):  # Easy to read, but for the shortest words: `teh` is known, `nad` is not.
        return len(word) > 3 or word == "the"
    if wrong[0] != word[0] or len(word) < 4:
        return False
    is_near = _is_slip(word, wrong) or (
        len(word) >= SHORTEST_WITH_TWO and wrong not in (near := _one_edit(word)) and bool(near & _one_edit(wrong))
    )
    return is_near and not _rivals(word, wrong)


@functools.cache
def is_word(word: str) -> bool:
    """Whether English has a word of this spelling, in small letters; names are none."""
    need_packages("English inflection", *PACKAGES)
    language.import_spacy()  # Which the table's package imports as well.
    import lemminflect

    return (
        word in language.stop_words()
        or any(word in entries for entries in lexicon.load().entries.values())
        or bool(lemminflect.getAllLemmas(word))
    )


def _is_another(word: str, wrong: str) -> bool:
    """Whether it is another word, or one with an ending that says something else."""
    has_ending = f"{wrong}s" == word or (wrong[:-1] == word and wrong[-1] in "aeios")
    return has_ending or is_word(wrong) or wrong in _common()


def _is_slip(word: str, wrong: str) -> bool:
    """Whether one letter is missing, or one more or another stands there that is near by sound or on the keyboard."""
    start = next((i for i, (right, made) in enumerate(zip(word, wrong, strict=False)) if right != made), len(word))
    if len(wrong) == len(word) - 1:
        return word[start + 1 :] == wrong[start:]
    if len(wrong) == len(word) + 1:
        around = wrong[max(0, start - 1) : start] + wrong[start + 1 : start + 2]
        return wrong[start + 1 :] == word[start:] and any(_are_near(wrong[start], letter) for letter in around)
    return len(wrong) == len(word) and wrong[start + 1 :] == word[start + 1 :] and _are_near(word[start], wrong[start])


def _are_near(letter: str, other: str) -> bool:
    return (
        letter == other or other in _keys_beside(letter) or any(letter in group and other in group for group in ALIKE)
    )


def _rivals(word: str, wrong: str) -> set[str]:
    """Other words that are one edit away from a misspelling, unless they are forms of the word itself."""
    stem = word[: max(4, len(word) - 3)]
    return {rival for rival in _one_edit(wrong) & _common() - {word} if not rival.startswith(stem)}


@functools.cache
def _listed() -> Mapping[str, tuple[str, ...]]:
    """The list as it is written: right → wrong."""
    return dict(_lines(NAME))


@functools.cache
def _common() -> frozenset[str]:
    """Words that people misspell, and those of WordNet's tagged texts; some that the list takes for right are not."""
    wrong = {other for misspelled in _listed().values() for other in misspelled}
    right = {word for word, misspelled in _listed().items() if word not in wrong or len(misspelled) > 3}
    return frozenset(word.lower() for word in right) | frozenset(lexicon.load().words)


def _lines(name: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    place = locate(name)
    file = next(place.glob("*.txt")) if place.is_dir() else place
    for line in file.read_text("utf-8").splitlines():
        word, *misspelled = line.split(" ")
        yield word, tuple(misspelled)


def _one_edit(word: str) -> set[str]:
    """What is one Damerau-Levenshtein edit away."""
    cuts = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    letters = string.ascii_lowercase
    return (
        {left + right[1:] for left, right in cuts if right}
        | {left + letter + right[1:] for left, right in cuts if right for letter in letters}
        | {left + letter + right for left, right in cuts for letter in letters}
        | _swapped(word)
    )


def _swapped(word: str) -> set[str]:
    return {word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(len(word) - 1)} - {word}


def _slips(word: str) -> Iterator[str]:
    """The first letter stays: people seldom miss it, and readers need it."""
    for i in range(1, len(word) - 1):
        yield word[:i] + word[i + 1] + word[i] + word[i + 2 :]
        yield word[:i] + word[i + 1 :]
        yield word[: i + 1] + word[i:]
        yield from (word[:i] + key + word[i + 1 :] for key in _keys_beside(word[i]))


def _keys_beside(letter: str) -> str:
    row = next((row for row in KEYBOARD if letter in row), "")
    place = row.find(letter)
    return row[max(0, place - 1) : place] + row[place + 1 : place + 2] if row else ""
