"""Make the two tables of words that ship from a WordNet 3.0 folder: `python scripts/make_lexicon.py FOLDER`.

The folder holds WordNet's index, data and exception files and `index.sense`. A word is kept in the first table when its
first sense has another plain word or an opposite, or when it occurs in the sense-tagged texts (then it is common).

The second table is what perturbations draw from. A word is drawn as noise when it occurs 5 times or more in the tagged
texts, has 4 to 10 letters, and is fit for any document. A synonym is kept when the first sense of both words is the
same and is the sense of two thirds of their occurrences, when neither is a unit, a time or a number, has fewer than 4
letters or occurs mostly as another part of speech. All of these were read: `vetoed_synonyms.txt` lists words whose
synonyms were found wanting, and `checked_synonyms.txt` pairs of WordNet's that are right though the rule leaves them
out. The same folder gives the same bytes.
"""

from __future__ import annotations

import gzip
import sys
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from shaketable.text import lexicon
from shaketable.text.lexicon import PARTS_OF_SPEECH, Entry, Lexicon, PartOfSpeech

TARGET = Path(__file__).parents[1] / "src" / "shaketable" / "resources" / "lexicon"
VETOED = Path(__file__).with_name("vetoed_synonyms.txt")
"""Lines of a part of speech and words that keep their place."""
CHECKED = VETOED.with_name("checked_synonyms.txt")
"""Lines of a part of speech, a word and what it becomes."""
LEAST_COUNT, MIN_LETTERS, MAX_LETTERS, DOMINANT = 5, 4, 10, 0.67
QUANTITIES = (23, 28)
KINDS: dict[str, PartOfSpeech] = {"1": "noun", "2": "verb", "3": "adj", "4": "adv", "5": "adj"}
"""The first digit of a sense key; 5 are satellite adjectives."""


def tagged_counts(folder: Path) -> Counter[tuple[PartOfSpeech, str]]:
    """How often each word occurs in the tagged texts, all senses together."""
    counts: Counter[tuple[PartOfSpeech, str]] = Counter()
    for line in (folder / "index.sense").read_text("utf-8").splitlines():
        key, _, _, count = line.split()
        word, _, rest = key.partition("%")
        counts[KINDS[rest[0]], word] += int(count)
    return counts


def compact(whole: Lexicon, counts: Counter[tuple[PartOfSpeech, str]]) -> Lexicon:
    entries: dict[PartOfSpeech, dict[str, Entry]] = {
        part: {
            word: replace(entry, is_common=counts[part, word] > 0)
            for word, entry in whole.entries[part].items()
            if entry.synonyms or entry.antonyms or counts[part, word]
        }
        for part in PARTS_OF_SPEECH
    }
    return Lexicon(entries=entries, irregular=whole.irregular)


class Sense(NamedTuple):
    number: int
    count: int
    synset: int
    kind: int
    """Of the lexicographer's file: 23 quantities, 28 times."""


class Senses:
    """How often words have which sense in the tagged texts."""

    def __init__(self, folder: Path) -> None:
        self.of: defaultdict[tuple[PartOfSpeech, str], list[Sense]] = defaultdict(list)
        for line in (folder / "index.sense").read_text("utf-8").splitlines():
            key, synset, number, count = line.split()
            word, _, rest = key.partition("%")
            self.of[KINDS[rest[0]], word].append(Sense(int(number), int(count), int(synset), int(rest.split(":")[1])))
        for senses in self.of.values():
            senses.sort()

    def count(self, word: str, part: PartOfSpeech | None = None) -> int:
        parts = PARTS_OF_SPEECH if part is None else (part,)
        return sum(sense.count for own in parts for sense in self.of.get((own, word), ()))

    def is_plain(self, word: str, part: PartOfSpeech, least: int) -> bool:
        """Whether its first sense is nearly its only one, and its part of speech the usual one."""
        own, total = self.count(word, part), self.count(word)
        if len(word) < MIN_LETTERS or own < least or own < total / 2:
            return False
        senses = self.of[part, word]
        return senses[0].kind not in QUANTITIES and (len(senses) == 1 or senses[0].count >= DOMINANT * own)

    def synonyms(self, word: str, part: PartOfSpeech, entry: Entry) -> tuple[str, ...]:
        if not self.is_plain(word, part, 1):
            return ()
        synset = self.of[part, word][0].synset
        kept = [
            other
            for other in entry.synonyms
            if lexicon.is_fit(other)
            and self.is_plain(other, part, 2)
            and self.of[part, other][0].synset == synset
            and not _is_form_of(word, other)
            and word.endswith("s") == other.endswith("s")
            and not (part == "noun" and other.endswith("ing") and not word.endswith("ing"))
        ]
        return tuple(sorted(kept, key=lambda other: (-self.count(other), other))[:1])


def _is_form_of(word: str, other: str) -> bool:
    """`photo` and `photograph`, `full` and `fully`: an exchange breaks the grammar or says nothing."""
    shorter = min(len(word), len(other))
    same = next((i for i in range(shorter) if word[i] != other[i]), shorter)
    return same >= min(4, shorter) and same >= shorter - 2


def drawn(whole: Lexicon, folder: Path) -> Lexicon:
    """The words that perturbations draw."""
    senses = Senses(folder)
    vetoed = {
        (part, word)
        for line in VETOED.read_text("utf-8").splitlines()
        for part, *words in [line.split()]
        for word in words
    }
    lines = (line.split() for line in CHECKED.read_text("utf-8").splitlines())
    checked = {(part, word): (other,) for part, word, other in lines}
    entries: dict[PartOfSpeech, dict[str, Entry]] = {part: {} for part in PARTS_OF_SPEECH}
    for part in PARTS_OF_SPEECH:
        for word, entry in whole.entries[part].items():
            made = Entry(
                synonyms=checked.get((part, word))
                or (() if (part, word) in vetoed else senses.synonyms(word, part, entry)),
                antonyms=tuple(filter(lexicon.is_fit, entry.antonyms)),
                is_common=senses.count(word, part) >= LEAST_COUNT
                and MIN_LETTERS <= len(word) <= MAX_LETTERS
                and lexicon.is_fit(word),
            )
            if made.synonyms or made.antonyms or made.is_common:
                entries[part][word] = made
    return Lexicon(entries=entries, irregular=whole.irregular)


def main(folder: Path) -> None:
    whole = lexicon.load(str(folder))
    _write(lexicon.TABLE, compact(whole, tagged_counts(folder)))
    _write(lexicon.VOCABULARY, drawn(whole, folder))


def _write(name: str, table: Lexicon) -> None:
    # No name and no time in the header, so that the bytes depend on the words alone.
    packed = gzip.compress(lexicon.format_table(table).encode("ascii"), 9, mtime=0)
    (TARGET / name).write_bytes(packed)
    for part in PARTS_OF_SPEECH:
        entries = table.entries[part].values()
        print(
            f"{part}: {len(entries)} words, {sum(bool(e.synonyms) for e in entries)} with synonyms, "
            f"{sum(bool(e.antonyms) for e in entries)} with antonyms, {sum(e.is_common for e in entries)} common"
        )
    print(f"{name}: {len(packed)} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
