"""Words → words of the same or the opposite meaning, from WordNet: a table that ships, or all of it by path."""

from __future__ import annotations

import codecs
import functools
import gzip
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal, get_args

from shaketable.errors import DataError, at_home
from shaketable.identity import digest_text

PartOfSpeech = Literal["noun", "verb", "adj", "adv"]
PARTS_OF_SPEECH: tuple[PartOfSpeech, ...] = get_args(PartOfSpeech)
TABLE = "wordnet-3.0.tsv.gz"
VOCABULARY = "vocabulary.tsv.gz"
"""What is drawn from it: words of medium and high frequency that fit any document, and synonyms that keep the sense."""
UNFIT = "unfit.rot13.txt"
SUFFIXES = ("s", "es", "ed", "d", "ing", "er", "ers", "ly", "y")
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
    """Whether the word is drawn as noise; in WordNet's table, whether it occurs in the sense-tagged texts."""


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
    """Return the words of WordNet: the table that ships, or a folder (`index.noun`, `data.noun` and so on)."""
    return _load_table(TABLE) if path is None else _load_folder(at_home(path))


@functools.cache
def vocabulary(path: str | None = None) -> Lexicon:
    """Return the words that perturbations draw: those that ship, a file of words, or the fit ones of a WordNet folder.

    A file has one word a line, all of which are drawn, or the columns of `format_table`, with synonyms and antonyms.
    """
    if path is None:
        return _load_table(VOCABULARY)
    place = at_home(path)
    return _read_words(place) if place.is_file() else _only_fit(load(path))


def contents(path: str | None) -> dict[str, str]:
    """Return the digest of a file of words, which counts in keys instead of its path."""
    place = None if path is None else at_home(path)
    return {"lexicon": digest_text(place.read_text("utf-8"))} if place is not None and place.is_file() else {}


def is_fit(word: str) -> bool:
    """Return whether a word may be put into anybody's document."""
    words, stems = _unfit()
    if word in words or word.startswith(stems):
        return False
    bases = (word.removesuffix(suffix) for suffix in SUFFIXES if word.endswith(suffix))
    return not any(base in words or f"{base}e" in words for base in bases)


@functools.cache
def _unfit() -> tuple[frozenset[str], tuple[str, ...]]:
    """The unfit words, and the beginnings of others."""
    text = codecs.decode((files("shaketable") / "resources" / "lexicon" / UNFIT).read_text("ascii"), "rot13")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    stems = tuple(line.removesuffix("*") for line in lines if line.endswith("*"))
    return frozenset(line for line in lines if not line.endswith("*")), stems


def _only_fit(whole: Lexicon) -> Lexicon:
    return Lexicon(
        entries={
            part: {
                word: Entry(
                    synonyms=tuple(filter(is_fit, entry.synonyms)),
                    antonyms=tuple(filter(is_fit, entry.antonyms)),
                    is_common=entry.is_common and is_fit(word),
                )
                for word, entry in entries.items()
            }
            for part, entries in whole.entries.items()
        },
        irregular=whole.irregular,
    )


def _read_words(file: Path) -> Lexicon:
    try:
        text = file.read_text("utf-8")
        if "\t" in text:
            return parse_table(text)
    except ValueError as error:
        raise DataError(
            f"{file} is no list of words: {error}. Write one word a line, or the columns part of speech, word, 1 if it "
            "is drawn, synonyms, antonyms, with tabs between and commas inside."
        ) from error
    lines = (line.strip() for line in text.splitlines())
    words = {line: Entry() for line in lines if line and not line.startswith("#")}
    if not words:
        raise DataError(f"{file} has no word. Write one word a line.")
    nothing: dict[str, Entry] = {}
    return Lexicon(
        entries={part: words if part == "noun" else nothing for part in PARTS_OF_SPEECH},
        irregular=load().irregular,
    )


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


def _load_table(name: str) -> Lexicon:
    return parse_table(
        gzip.decompress((files("shaketable") / "resources" / "lexicon" / name).read_bytes()).decode("ascii")
    )


# --- a WordNet folder -----------------------------------------------------------------------------


def _load_folder(folder: Path) -> Lexicon:
    missing = [name for name in NEEDED if not (folder / name).is_file()]
    if len(missing) == len(NEEDED):
        raise DataError(
            f"{folder} is no WordNet folder: it has no index.noun. Give the folder with WordNet's index and data "
            "files (often called dict), or leave the setting 'lexicon' out to use the words that ship."
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
