"""Words of a question → other words in the same form, names and quotations left alone."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from shaketable.text import language
from shaketable.variations.english.inflection import form

if TYPE_CHECKING:
    from spacy.tokens import Token

Table = Mapping[tuple[str, str], Sequence[str]]
"""(basic form, kind or empty for any) → words to choose from. A kind is the tag's first letter, `T` for
verbs with an object or in the passive, or `P` for prepositions before their noun."""
QUOTES = frozenset('"“”‘')
"""A single one that closes looks like an apostrophe, so what follows it stays as it is."""
QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|‘[^’]*’|(?<!\w)'(?=\w).*?(?<=[\w.!?,])'(?!\w)")
FREE_ADJECTIVES = frozenset({"famous", "former", "new", "original", "other", "popular", "same"})
"""They make no set phrase with their noun, as `high school`, `last name` and `civil war` are."""

WITH_AFTER = frozenset({"name", "call", "come", "look", "take", "model", "run", "go", "title"})
"""Verbs that make one meaning with `after`."""
BEFORE_TITLES = frozenset({"film", "movie", "song", "singer", "owner"})
NAMED_BY_OF = frozenset(
    {
        "award",
        "band",
        "city",
        "college",
        "company",
        "country",
        "magazine",
        "murder",
        "novel",
        "person",
        "prison",
        "road",
    }
    | {"ship", "song", "street", "town", "university"}
)
"""Before `of` they may be part of a name or a set phrase: `song of Solomon`, `city of London`, `country of origin`."""
AUXILIARIES = frozenset({"is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "can", "will", "would"})
COUNTED = frozenset({"CD", "RB", "WP$", "WP"})
YEAR = re.compile(r"[12]\d{3}")


def parse_table(text: str) -> Table:
    """Lines such as `N film: movie, flick`; the letter is the kind, `*` any."""
    table = {}
    for line in text.strip().splitlines():
        words, _, others = line.partition(":")
        letter, _, word = words.strip().partition(" ")
        table[word, "" if letter == "*" else letter] = [other.strip() for other in others.split(",")]
    return table


def substituted(
    text: str, table: Table, rng: random.Random, pipeline: str = language.PIPELINE, *, wary: bool = False
) -> tuple[str, list[str]]:
    """The text with every word of the table exchanged, and the exchanges.

    Wary of titles in small letters, only nouns that stand before one are, and those behind `what` and `which`.
    """
    pieces: list[str] = []
    done: list[str] = []
    quoted, depth = False, 0
    words = list(language.parsed(text, pipeline))
    spans = [quotation.span() for quotation in QUOTED.finditer(text)]
    for place, word in enumerate(words):
        quoted ^= word.text in QUOTES
        depth += (word.text == "(") - (word.text == ")")
        is_quoted = quoted or any(start <= word.idx < end for start, end in spans)
        is_kept = is_quoted or depth or _is_fixed(words, place) or (wary and not _is_plain(words, place))
        after = None if is_kept else _other(word, table, rng)
        if after:
            after = after[0].upper() + after[1:] if word.text[0].isupper() else after
            done.append(f"{word.text} → {after}")
            if pieces and words[place - 1].lower_ in ("a", "an"):
                pieces[-1] = _article(words[place - 1].text, after) + words[place - 1].whitespace_
        pieces.append((after or word.text) + word.whitespace_)
    return "".join(pieces), done


def _is_fixed(words: Sequence[Token], place: int) -> bool:
    """A name, a word with a capital inside a sentence, or a part of a set phrase: `radio show`, `high school`."""
    word = words[place]
    if word.tag_ in ("NNP", "NNPS") or (place and word.text[:1].isupper()):
        return True
    before, after = words[place - 1] if place else None, words[place + 1] if place + 1 < len(words) else None
    if before is not None and (before.text in ("-", "'") or before.tag_[:2] == word.tag_[:2] == "NN"):
        return True
    if before is not None and before.tag_ in ("IN", "TO") and word.tag_ == "NN":  # on film, to death, at university
        return True
    if before is not None and before.tag_ in ("VBG", "VBN") and word.tag_[:2] == "NN":  # learning company
        return True
    if before is not None and before.tag_ == "JJ" and before.text.islower() and before.text not in FREE_ADJECTIVES:
        return True
    if after is not None and after.tag_ == "POS" and word.tag_ == "NNS":  # children's
        return True
    if after is None:
        return False
    if after.lower_ == "of" and word.lemma_.lower() in NAMED_BY_OF:
        return True
    is_first = word.tag_[:2] == "NN" and (after.tag_ in ("NN", "NNS") or after.lower_ in ("musical", "winning"))
    return after.text == "-" or is_first


def _is_plain(words: Sequence[Token], place: int) -> bool:
    """A noun that is no part of a title."""
    before = words[place - 1].lower_ if place else ""
    # Who does the song stop saying goodbye to: nobody can tell where its title ends.
    if place > 1 and words[place - 2].lower_ in AUXILIARIES:
        return False
    if words[place].lower_ in ("film", "movie") and words[place + 1 : place + 2] and words[place + 1].lower_ == "of":
        return False
    return before in ("what", "which") or (before == "the" and words[place].lower_ in BEFORE_TITLES)


def _other(word: Token, table: Table, rng: random.Random) -> str | None:
    lemma = word.lemma_.lower()
    for key in (*((lemma, kind) for kind in _kinds(word)), (word.lower_, "")):
        if key in table:
            return _in_form(rng.choice(list(table[key])), word.tag_)
    return None


def _kinds(word: Token) -> list[str]:
    kinds = [] if word.tag_ == "JJ" and word.dep_ != "amod" else [word.tag_[:1]]
    below = {child.dep_ for child in word.children}
    if kinds == ["V"] and "prt" not in below:
        is_passive = any(child.dep_ == "auxpass" and child.lemma_ == "be" for child in word.children)
        has_object = "dobj" in below or is_passive or (word.tag_ == "VBN" and word.dep_ == "acl")
        if has_object and below.isdisjoint({"xcomp", "ccomp", "dative", "acomp", "oprd", "attr"}):
            kinds.append("T")
    is_rank = word.lower_ in ("after", "before") and word.head.pos_ not in ("VERB", "AUX")  # the second after Rome
    if word.dep_ == "prep" and not is_rank and word.head.lemma_.lower() not in WITH_AFTER:
        is_before_noun = any(child.dep_ in ("pobj", "pcomp") and child.i > word.i for child in word.children)
        # After ten years, during whose reign: these read badly in longer words. After which star is it named?
        if word.i and is_before_noun and (YEAR.fullmatch(word.nbor().text) or word.nbor().tag_ not in COUNTED):
            kinds.append("P")
    return kinds


def _in_form(words: str, tag: str) -> str:
    """A verb is inflected in its first word, a noun in its last before `of`."""
    if tag in ("VBD", "VBZ", "VBN", "VBG"):
        first, _, rest = words.partition(" ")
        return " ".join(filter(None, (form(first, tag), rest)))
    if tag == "NNS":
        noun, of, rest = words.partition(" of ")
        start, _, last = noun.rpartition(" ")
        return " ".join(filter(None, (start, form(last, tag)))) + of + rest
    return words


def _article(article: str, following: str) -> str:
    """`a` or `an`, as the word behind it sounds."""
    wanted = "an" if re.match(r"(?!uni|use|usu|eu|one)[aeiou]", following, re.IGNORECASE) else "a"
    return wanted.capitalize() if article[0].isupper() else wanted
