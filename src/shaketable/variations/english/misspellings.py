"""Words → the ways in which people misspell them, from the list inside nlpaug's wheel."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from shaketable.weights import locate

NAME = "nlpaug-misspellings"


@functools.cache
def load(name: str = NAME) -> Mapping[str, tuple[str, ...]]:
    """57,690 words, each with its misspellings; a misspelling has the words it stands for, so errors turn right too.

    `name` is the embedded list, or the path of a file of the same layout: a word, then its misspellings, on each line.
    """
    place = locate(name)
    file = next(place.glob("*.txt")) if place.is_dir() else place
    found: dict[str, dict[str, None]] = {}
    for line in file.read_text("utf-8").splitlines():
        word, *misspelled = line.split(" ")
        for other in misspelled:
            found.setdefault(word, {})[other] = None
            found.setdefault(other, {})[word] = None
    return {word: tuple(others) for word, others in found.items()}
