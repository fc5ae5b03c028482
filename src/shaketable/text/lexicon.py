"""Words → words of the same or the opposite meaning, from WordNet: a table that ships, or all of it by path."""

from __future__ import annotations

import functools
import gzip
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal, get_args

from shaketable.errors import DataError, at_home

PartOfSpeech = Literal["noun", "verb", "adj", "adv"]
PARTS_OF_SPEECH: tuple[PartOfSpeech, ...] = get_args(PartOfSpeech)
TABLE = "wordnet-3.0.tsv.gz"
NEEDED = (
    *(f"{kind}.{part}" for part in PARTS_OF_SPEECH for kind in ("index", "data")),
    "noun.exc",
    "verb.exc",
)
"""The files of a WordNet folder that are read."""
INSULTS = {"ethnic_slur", "derogation", "dirty_word"}
"""Usages in WordNet. Words that have one in any sense are not read: a model that refuses would tell us about them."""
PLAIN = re.compile(r"[a-z]+")
"""Words that can stand in for one another in a sentence: no phrases, names, numbers or abbreviations."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """What a word means first."""

    synonyms: tuple[str, ...] = ()
    """The other plain words of its first sense, in WordNet's order."""
    antonyms: tuple[str, ...] = ()
    """The opposites that WordNet links to this word in its first sense."""
    is_common: bool = True
    """Whether the word is drawn as noise; in the table that ships, it occurs in WordNet's sense-tagged texts."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Lexicon:
    entries: Mapping[PartOfSpeech, Mapping[str, Entry]]
    irregular: Mapping[PartOfSpeech, frozenset[str]]
    """Words whose plural, past or participle follows no rule, such as `begin`, or doubles a letter, such as `stop`."""

    def synonyms(self, word: str, part: PartOfSpeech) -> tuple[str, ...]:
        """Words for the first sense of a word in its basic form; empty for unknown words."""
        entry = self.entries[part].get(word)
        return entry.synonyms if entry else ()

    def antonyms(self, word: str, part: PartOfSpeech) -> tuple[str, ...]:
        entry = self.entries[part].get(word)
        return entry.antonyms if entry else ()

    def lemmas(self, part: PartOfSpeech) -> tuple[str, ...]:
        """The common words, in alphabetical order."""
        return self._common[part]

    def is_irregular(self, word: str, part: PartOfSpeech) -> bool:
        return word in self.irregular.get(part, frozenset())

    @functools.cached_property
    def words(self) -> tuple[str, ...]:
        """The common words of all parts of speech, each once, in alphabetical order."""
        return tuple(sorted({word for part in PARTS_OF_SPEECH for word in self.lemmas(part)}))

    @functools.cached_property
    def _common(self) -> dict[PartOfSpeech, tuple[str, ...]]:
        return {
            part: tuple(sorted(word for word, entry in self.entries[part].items() if entry.is_common))
            for part in PARTS_OF_SPEECH
        }


@functools.cache
def load(path: str | None = None) -> Lexicon:
    """The table that ships, or a WordNet folder (`index.noun`, `data.noun` and so on)."""
    return _load_table() if path is None else _load_folder(at_home(path))


# --- the table that ships -------------------------------------------------------------------------


def format_table(lexicon: Lexicon) -> str:
    """A line for each word: part of speech, word, 1 if common, synonyms, antonyms. The irregular words come last."""
    lines = [
        "\t".join((part, word, str(int(entry.is_common)), ",".join(entry.synonyms), ",".join(entry.antonyms)))
        for part in PARTS_OF_SPEECH
        for word, entry in sorted(lexicon.entries[part].items())
    ]
    lines += [f"irregular\t{part}\t{word}" for part in ("noun", "verb") for word in sorted(lexicon.irregular[part])]
    return "".join(f"{line}\n" for line in lines)


def parse_table(text: str) -> Lexicon:
    entries: dict[str, dict[str, Entry]] = {part: {} for part in PARTS_OF_SPEECH}
    irregular: dict[str, set[str]] = {"noun": set(), "verb": set()}
    for line in text.splitlines():
        kind, *cells = line.split("\t")
        if kind == "irregular":
            part, word = cells
            irregular[part].add(word)
        else:
            word, common, synonyms, antonyms = cells
            entries[kind][word] = Entry(
                synonyms=tuple(synonyms.split(",")) if synonyms else (),
                antonyms=tuple(antonyms.split(",")) if antonyms else (),
                is_common=common == "1",
            )
    return Lexicon(
        entries={part: entries[part] for part in PARTS_OF_SPEECH},
        irregular={part: frozenset(irregular.get(part, ())) for part in PARTS_OF_SPEECH},
    )


def _load_table() -> Lexicon:
    return parse_table(
        gzip.decompress((files("shaketable") / "resources" / "lexicon" / TABLE).read_bytes()).decode("ascii")
    )


# --- a WordNet folder -----------------------------------------------------------------------------


def _load_folder(folder: Path) -> Lexicon:
    missing = [name for name in NEEDED if not (folder / name).is_file()]
    if len(missing) == len(NEEDED):
        raise DataError(
            f"{folder} is no WordNet folder: it has no index.noun. Give the folder with WordNet's index and data "
            "files (often called dict), or leave the setting 'lexicon' out to use the table that ships."
        )
    if missing:
        raise DataError(f"The WordNet folder {folder} lacks {', '.join(missing)}. Get the whole WordNet 3.0 database.")
    insults = _read_insults(folder)
    return Lexicon(
        entries={part: dict(_read_entries(folder, part, insults)) for part in PARTS_OF_SPEECH},
        irregular={
            part: _read_irregular(folder / f"{part}.exc") if part in ("noun", "verb") else frozenset()
            for part in PARTS_OF_SPEECH
        },
    )


def _read_entries(folder: Path, part: PartOfSpeech, insults: set[str]) -> Iterator[tuple[str, Entry]]:
    """Each plain word with its first sense. The files are described in WordNet's manual page wndb(5)."""
    data = (folder / f"data.{part}").read_bytes()
    for number, line in enumerate((folder / f"index.{part}").read_text("utf-8").splitlines(), 1):
        if line.startswith(" "):  # the license
            continue
        try:
            word, _, _, n_symbols, *rest = line.split()
            if not PLAIN.fullmatch(word) or word in insults:
                continue
            first_sense = int(rest[int(n_symbols) + 2])
            spellings, pointers = _read_synset(data, first_sense, first_sense)
            # A word that is spelled with a capital in its first sense is a name: Turkey, China.
            if word in spellings:
                own = spellings.index(word) + 1
                opposites = [
                    _read_synset(data, offset, offset)[0][target - 1]
                    for symbol, offset, source, target in pointers
                    if symbol == "!" and source == own
                ]
                yield (
                    word,
                    Entry(synonyms=_plain(spellings, {word, *insults}), antonyms=_plain(opposites, {word, *insults})),
                )
        except (ValueError, IndexError) as error:
            raise DataError(
                f"{folder / f'index.{part}'} line {number} and data.{part} do not fit together: {error}. "
                "Get the whole WordNet 3.0 database; its files name places in one another."
            ) from error


def _read_synset(data: bytes, start: int, offset: int) -> tuple[list[str], list[tuple[str, int, int, int]]]:
    """The words that share a sense, and its pointers as (symbol, offset, from word, to word), words counted from 1."""
    fields = data[start : data.index(b"\n", start)].decode("utf-8").partition(" | ")[0].split()
    if int(fields[0]) != offset:
        raise ValueError(f"no synset starts at byte {offset}")
    n_words = int(fields[3], 16)
    # Adjectives may carry a mark of the place where they stand: "afraid(p)".
    spellings = [re.sub(r"\(\w+\)$", "", word) for word in fields[4 : 4 + 2 * n_words : 2]]
    first = 5 + 2 * n_words
    pointers = []
    for i in range(int(fields[first - 1])):
        symbol, target, _, words = fields[first + 4 * i : first + 4 * i + 4]
        pointers.append((symbol, int(target), int(words[:2], 16), int(words[2:], 16)))
    return spellings, pointers


def _read_insults(folder: Path) -> set[str]:
    """The words that point to the usage of an insult in any of their senses."""
    nouns = (folder / "data.noun").read_bytes()
    usages = {
        int(line.split(b" ", 1)[0])
        for line in nouns.splitlines()
        if line[:1].isdigit() and INSULTS & set(line.partition(b" | ")[0].decode().split())
    }
    insults = set()
    for part in PARTS_OF_SPEECH:
        data = nouns if part == "noun" else (folder / f"data.{part}").read_bytes()
        for line in data.splitlines():
            if b" ;u " in line and line[:1].isdigit():
                spellings, pointers = _read_synset(line + b"\n", 0, int(line.split(b" ", 1)[0]))
                for symbol, target, source, _ in pointers:
                    if symbol == ";u" and target in usages:
                        insults |= set(spellings if source == 0 else [spellings[source - 1]])
    return insults


def _plain(words: list[str], without: set[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in words if word not in without and PLAIN.fullmatch(word)))


def _read_irregular(file: Path) -> frozenset[str]:
    """The basic forms in a list of exceptions: `began begin`. It lists `carried carry` too, which follows a rule."""
    pairs = [line.split() for line in file.read_text("utf-8").splitlines()]
    return frozenset(
        base
        for form, *bases in filter(None, pairs)
        for base in bases
        if PLAIN.fullmatch(base) and form not in (re.sub("y$", "ied", base), re.sub("y$", "ies", base))
    )
