"""A wording keeps the names of its original and adds none."""

from __future__ import annotations

import re
import unicodedata

from shaketable.text import language
from shaketable.variations.english.plain_words import kept_places
from shaketable.variations.gate.refusal import Refusal

NAME_TAGS = ("NNP", "NNPS")
INNER_CAPITAL = re.compile(r"(?<=[\w,’'\"“] )[A-Z]\w{2,}")
SENTENCE_MARKS = frozenset(".?!:\"“'‘(")
WORD = re.compile(r"\w+")
GENERIC = frozenset({
    "film", "movie", "song", "album", "single", "book", "novel", "poem", "series", "show", "season", "episode", "play",
    "game", "band", "group", "team", "club", "company", "corporation", "corp", "inc", "ltd", "limited", "co", "fc",
    "city", "town", "village", "county", "district", "province", "region", "state", "republic", "kingdom", "river",
    "lake", "island", "street", "road", "building", "stadium", "museum", "church", "college", "university", "school",
    "mr", "mrs", "ms", "miss", "dr", "sir", "lady", "lord", "saint", "st", "president", "king", "queen", "prince",
    "princess", "emperor", "pope", "professor", "prof", "captain", "general", "the", "of", "and", "in", "de", "la",
    "jr", "sr", "tv", "who", "what", "which", "when", "where", "why", "how",
})  # fmt: skip
"""Words that say of what kind a name is. A paraphrase may drop them or say them otherwise: `the municipality of
Joondalup` for `City of Joondalup`. A name of nothing else, such as `The Queen`, keeps them."""
ALIASES = (
    (r"\b(?:U\.?S\.?A\.?|US|U\.S\.|[Uu]nited [Ss]tates(?: of America)?|America|American)(?!\w)", "Unitedstates"),
    (r"\b(?:U\.?K\.?|[Uu]nited [Kk]ingdom|Great Britain|Britain|British)(?!\w)", "Unitedkingdom"),
    (r"\b(?:NYC|nyc|New York City)\b", "New York"),
    (r"\b(?:WWI|WW1|World War (?:I|1|One)|First World War)\b", "Firstworldwar"),
    (r"\b(?:WWII|WW2|World War (?:II|2|Two)|Second World War)\b", "Secondworldwar"),
)
"""Other names of the same, which people use for one another."""
MAY_BE_ADDED = frozenset({"hq", "tv", "ok", "asap", "btw", "fyi", "aka", "dvd", "cd", "ceo"})


def names_trouble(original: str, wording: str, pipeline: str | None, *, may_add: bool = False) -> Refusal | None:
    if lost := lost_names(original, wording, pipeline):
        return Refusal(kind="names_lost", text=f"names lost: {', '.join(lost)}")
    if not may_add and (added := added_names(original, wording)):
        return Refusal(kind="names_added", text=f"names added: {', '.join(added)}")
    return None


def lost_names(original: str, wording: str, pipeline: str | None = language.PIPELINE) -> list[str]:
    """Return the words of names that a wording no longer has, in order. Without a pipeline capitals tell names."""
    kept, kept_aliases = _words(wording), _words(_with_aliases(wording))
    renamed = _words(original) - _words(_with_aliases(original))
    aliases = _words(_with_aliases(original)) - _words(original)
    # `NYC` for `New York City`, as long as the wording has one of the names.
    excused = renamed if aliases <= kept_aliases else frozenset()
    names = [name for name in _names(original, pipeline) if _words(name) - GENERIC]
    return [name for name in names if not all(_is_kept(word, kept) for word in _words(name) - GENERIC - excused)]


def added_names(original: str, wording: str) -> list[str]:
    """Words with a capital inside a sentence that the original does not have: a fact, or the answer itself."""
    had = _words(original) | _words(_with_aliases(original)) | MAY_BE_ADDED | GENERIC
    names = dict.fromkeys(INNER_CAPITAL.findall(_with_aliases(wording)))
    return [name for name in names if not all(_is_kept(word, had) for word in _words(name))]


def _names(text: str, pipeline: str | None) -> list[str]:
    if pipeline is None:
        places = kept_places(text)
        inside = [word[0] for word in WORD.finditer(text) if any(a <= word.start() < b for a, b in places)]
        return [word for word in dict.fromkeys(inside) if word[:1].isupper()]
    words = [word for word in language.parsed(text, pipeline) if not word.is_space]
    found = [
        word.text
        for before, word in zip([None, *words], words, strict=False)
        # A capital inside a sentence makes a name too: taggers take Jaws for a plural.
        if word.text[:1].isupper()
        and len(word.text.strip(".")) > 1
        and (word.tag_ in NAME_TAGS or (before is not None and before.text not in SENTENCE_MARKS))
    ]
    return list(dict.fromkeys(found))


def _words(text: str) -> set[str]:
    """In small letters, without accents, initials, and the s of a plural or a genitive."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    return {word if len(word) < 4 else word.removesuffix("s") for word in WORD.findall(plain) if len(word) > 1}


def _with_aliases(text: str) -> str:
    for alias, name in ALIASES:
        text = re.sub(alias, name, text)
    return text


def _is_kept(word: str, words: set[str]) -> bool:
    """As it is, or with another ending: the people of Warsaw are Warsawans."""
    return word in words or (len(word) > 4 and any(other.startswith(word[: max(5, len(word) - 2)]) for other in words))
