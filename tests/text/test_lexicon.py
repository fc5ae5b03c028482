"""The table that ships, the reader of WordNet folders, and the script that makes one from the other."""

import gzip
import hashlib
import importlib.util
from importlib.resources import files
from pathlib import Path

import pytest
from unfit_words import unfit

from shaketable.errors import DataError
from shaketable.text import lexicon
from shaketable.text.lexicon import PARTS_OF_SPEECH, format_table, load, parse_table, vocabulary

DATA = files("shaketable") / "resources" / "lexicon"
WHOLE = Path("/usr/share/wordnet")
SCRIPT = Path(__file__).parents[2] / "scripts" / "make_lexicon.py"


# --- the table ------------------------------------------------------------------------------------


def test_the_table_is_the_one_that_was_made():
    packed = (DATA / lexicon.TABLE).read_bytes()
    assert hashlib.sha256(packed).hexdigest() == "0a2dcdbe89712bf7649c27aff92f0e59bb58cac676cd6aecb9412f5d4854653a"
    assert len(packed) < 1_200_000


def test_the_vocabulary_is_the_one_that_was_made():
    packed = (DATA / lexicon.VOCABULARY).read_bytes()
    assert hashlib.sha256(packed).hexdigest() == "cbaf9f8181cc583b381ba901f6ca90e32329e6bcaaa2bcc11767bdf3a97dbb8c"
    assert format_table(vocabulary()) == gzip.decompress(packed).decode("ascii")


# --- words that fit any document -----------------------------------------------------------------


def test_no_unfit_word_is_in_the_vocabulary():
    entries = [entry for part in PARTS_OF_SPEECH for entry in vocabulary().entries[part].values()]
    others = {other for entry in entries for other in (*entry.synonyms, *entry.antonyms)}
    assert len(vocabulary().words) > 3000
    assert unfit([*vocabulary().words, *others]) == set()


def test_words_of_a_folder_are_fit_too(tiny):
    for name in ("index.adj", "data.adj"):
        file = tiny / name
        file.write_bytes(file.read_bytes().replace(b"bighearted", b"murderous_").replace(b"murderous_", b"murdererss"))
    assert "murdererss" in load(str(tiny)).lemmas("adj")
    assert vocabulary(str(tiny)).lemmas("adj") == ("big", "large", "little", "small", "tiny")
    assert "murdererss" not in vocabulary(str(tiny)).synonyms("big", "adj")


# --- synonyms ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "part"), [("mile", "noun"), ("step", "noun"), ("year", "noun"), ("inch", "noun"), ("dozen", "noun")]
)
def test_units_times_and_words_of_several_senses_have_no_synonym(word, part):
    assert vocabulary().synonyms(word, part) == ()


def test_short_words_have_no_synonym():
    for part in PARTS_OF_SPEECH:
        pairs = [(word, entry.synonyms) for word, entry in vocabulary().entries[part].items() if entry.synonyms]
        assert len(pairs) > 100
        assert all(len(word) >= 4 and len(others) == 1 for word, others in pairs)


def test_the_license_of_wordnet_stays_with_its_words():
    text = (DATA / "WORDNET-LICENSE.txt").read_text("utf-8")
    assert "WordNet 3.0 Copyright 2006 by Princeton University.  All rights reserved." in text
    assert "Permission to use, copy, modify and distribute this software and\ndatabase" in text
    assert 'THIS SOFTWARE AND DATABASE IS PROVIDED "AS IS"' in text
    assert "WORDNET-LICENSE.txt" in (Path(__file__).parents[2] / "NOTICE").read_text("utf-8")


# Read by eye in WordNet's index and data files. Phrases (set up, get down) and chop-chop are not plain words.
@pytest.mark.parametrize(
    ("word", "part", "synonyms", "antonyms"),
    [
        ("large", "adj", ("big",), ("small",)),
        ("found", "verb", ("establish", "launch"), ()),
        ("begin", "verb", ("get", "start", "commence"), ("end",)),
        ("car", "noun", ("auto", "automobile", "machine", "motorcar"), ()),
        ("quickly", "adv", ("rapidly", "speedily", "apace"), ("slowly",)),
        ("china", "noun", (), ()),
        ("xyzzy", "noun", (), ()),
    ],
)
def test_words_have_the_meaning_of_their_first_sense(word, part, synonyms, antonyms):
    assert set(load().synonyms(word, part)) == set(synonyms)
    assert load().antonyms(word, part) == antonyms


def test_common_words_are_plain_and_sorted():
    for part in PARTS_OF_SPEECH:
        words = load().lemmas(part)
        assert list(words) == sorted(set(words))
        assert all(lexicon.PLAIN.fullmatch(word) for word in words)
        assert len(words) > 1000
    assert set(load().words) == {word for part in PARTS_OF_SPEECH for word in load().lemmas(part)}


def test_irregular_words_are_known():
    assert load().is_irregular("begin", "verb")
    assert load().is_irregular("stop", "verb")
    assert load().is_irregular("child", "noun")
    assert not load().is_irregular("found", "verb")
    assert not load().is_irregular("good", "adj")


def test_a_table_reads_back():
    text = format_table(load())
    assert text == gzip.decompress((DATA / lexicon.TABLE).read_bytes()).decode("ascii")
    assert format_table(parse_table(text)) == text


# --- a folder -------------------------------------------------------------------------------------

LICENSE = "  1 This line stands for the license that opens WordNet's files.  \n"


def synset(words, pointers=(), kind="a"):
    """A synset without its offset: each word with its lexical id, each pointer as (symbol, key, words)."""
    return words, pointers, kind


def write_wordnet(folder, synsets, exceptions):
    """Data and index files from synsets by part of speech; offsets are as wide as numbers, so two passes suffice."""
    folder.mkdir(exist_ok=True)
    offsets = {}
    for final in (False, True):
        for part in PARTS_OF_SPEECH:
            text, index = LICENSE, {}
            for key, (words, pointers, kind) in synsets.get(part, {}).items():
                offsets[key] = len(text.encode())
                links = [f"{s} {offsets.get(to, 0):08d} {k} {which}" for s, to, k, which in pointers]
                fields = [f"{offsets[key]:08d} 00 {kind} {len(words):02x}", *(f"{word} 0" for word in words)]
                text += " ".join([*fields, f"{len(pointers):03d}", *links, "| a gloss"]) + "  \n"
                for word in words:
                    index.setdefault(word.partition("(")[0].lower(), []).append(offsets[key])
            if final:
                (folder / f"data.{part}").write_text(text)
                lines = [
                    f"{word} {kind[0]} {len(at)} 1 ! {len(at)} 0 {' '.join(f'{offset:08d}' for offset in at)}  \n"
                    for word, at in sorted(index.items())
                    for kind in [part]
                ]
                (folder / f"index.{part}").write_text(LICENSE + "".join(lines))
    for part in ("noun", "verb"):
        (folder / f"{part}.exc").write_text(exceptions.get(part, ""))


@pytest.fixture
def tiny(tmp_path):
    """Four adjectives' senses, a name, an insult, a phrase, and two exceptions."""
    synsets = {
        "adj": {
            "big": synset(["large(a)", "big"], [("!", "small", "a", "0101"), ("!", "tiny", "a", "0201")]),
            "small": synset(["small", "little"], [("!", "big", "a", "0101")]),
            "tiny": synset(["tiny"], []),
            "generous": synset(["big", "bighearted", "open_handed"], []),
        },
        "noun": {
            "turkey": synset(["Turkey"], [], "n"),
            "bird": synset(["turkey", "gobbler"], [], "n"),
            "slur": synset(["ethnic_slur"], [], "n"),
            "fool": synset(["fool", "badword"], [(";u", "slur", "n", "0200")], "n"),
        },
    }
    write_wordnet(tmp_path / "dict", synsets, {"noun": "geese goose\n", "verb": "began begin\nate-up eat_up\n"})
    return tmp_path / "dict"


def test_a_folder_is_read_by_its_first_senses(tiny):
    whole = load(str(tiny))
    assert whole.synonyms("large", "adj") == ("big",)
    assert whole.antonyms("large", "adj") == ("small",)
    # The pointer of the second word is its own.
    assert whole.antonyms("big", "adj") == ("tiny",)
    assert whole.synonyms("big", "adj") == ("large",)
    assert whole.antonyms("little", "adj") == ()
    assert whole.lemmas("adj") == ("big", "bighearted", "large", "little", "small", "tiny")
    assert whole.is_irregular("goose", "noun")
    assert whole.irregular["verb"] == {"begin"}


def test_names_phrases_and_insults_are_not_read(tiny):
    whole = load(str(tiny))
    # The first sense of turkey is the country.
    assert whole.lemmas("noun") == ("fool", "gobbler")
    assert whole.synonyms("fool", "noun") == ()
    assert whole.synonyms("gobbler", "noun") == ("turkey",)


def test_a_folder_that_is_none_says_so(tmp_path):
    with pytest.raises(DataError, match=r"is no WordNet folder: it has no index.noun"):
        load(str(tmp_path / "nowhere"))


def test_a_folder_that_lacks_files_names_them(tiny):
    (tiny / "data.verb").unlink()
    (tiny / "noun.exc").unlink()
    with pytest.raises(DataError, match=r"lacks data.verb, noun.exc. Get the whole WordNet"):
        load(str(tiny))


def test_files_that_do_not_fit_together_are_refused(tiny):
    data = (tiny / "data.adj").read_bytes()
    (tiny / "data.adj").write_bytes(data[7:])
    with pytest.raises(DataError, match=r"index.adj line 2 and data.adj do not fit together"):
        load(str(tiny))


# --- the script -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def make_lexicon():
    spec = importlib.util.spec_from_file_location("make_lexicon", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_script_keeps_words_that_are_linked_or_common(tiny, make_lexicon):
    (tiny / "index.sense").write_text("tiny%3:00:00:: 00000000 1 0\nlittle%5:00:00:small:00 00000000 1 4\n")
    compact = make_lexicon.compact(load(str(tiny)), make_lexicon.tagged_counts(tiny))
    assert "tiny" not in compact.entries["adj"]
    assert compact.lemmas("adj") == ("little",)
    assert compact.synonyms("small", "adj") == ("little",)


@pytest.mark.slow
@pytest.mark.skipif(not (WHOLE / "index.sense").is_file(), reason="WordNet is not installed")
def test_the_table_is_derived_from_wordnet(make_lexicon):
    whole = load(str(WHOLE))
    assert format_table(make_lexicon.compact(whole, make_lexicon.tagged_counts(WHOLE))) == format_table(load())
    for part in PARTS_OF_SPEECH:
        for word in load().lemmas(part)[::97]:
            assert load().synonyms(word, part) == whole.synonyms(word, part)
            assert load().antonyms(word, part) == whole.antonyms(word, part)
