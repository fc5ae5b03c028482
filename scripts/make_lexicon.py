"""A WordNet 3.0 folder → the table of words that ships: `python scripts/make_lexicon.py FOLDER`.

The folder holds WordNet's index, data and exception files and `index.sense`. A word is kept when its first
sense has another plain word or an opposite, or when it occurs in the sense-tagged texts (then it is common).
The same folder gives the same bytes.
"""

from __future__ import annotations

import gzip
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

from shaketable.text import lexicon
from shaketable.text.lexicon import PARTS_OF_SPEECH, Entry, Lexicon, PartOfSpeech

TARGET = Path(__file__).parents[1] / "src" / "shaketable" / "resources" / "lexicon" / lexicon.TABLE
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


def main(folder: Path) -> None:
    table = compact(lexicon.load(str(folder)), tagged_counts(folder))
    # No name and no time in the header, so that the bytes depend on the words alone.
    packed = gzip.compress(lexicon.format_table(table).encode("ascii"), 9, mtime=0)
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_bytes(packed)
    for part in PARTS_OF_SPEECH:
        entries = table.entries[part].values()
        print(
            f"{part}: {len(entries)} words, {sum(bool(e.synonyms) for e in entries)} with synonyms, "
            f"{sum(bool(e.antonyms) for e in entries)} with antonyms, {sum(e.is_common for e in entries)} common"
        )
    print(f"{TARGET.name}: {len(packed)} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
