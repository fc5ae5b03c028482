"""The one normalization by which answers are compared, and whole words and whole numbers in what it leaves.

Rules of published studies (SQuAD, AdaRAGUE) stand in `normalization.py` and keep their own ways.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Mapping
from decimal import Decimal

from shaketable.text.normalization import ARTICLES, casefold_strip, raw, squad

LATIN = r"A-Za-zÀ-ÖØ-öø-ʯḀ-ỿ"
"""Letters of the Latin alphabet, for a character class."""
UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
    r"\U00020000-\U0003ffff"
)
"""Scripts that put no spaces between words, or none around particles: Thai, Lao, Burmese, Khmer, Japanese, Chinese,
Korean."""
SIGNS = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′ʼʹ´＇", "'"),
        **dict.fromkeys("“”„‟«»″＂", '"'),
        **dict.fromkeys("‐‑‒–—―−﹘－", "-"),
        **dict.fromkeys("™®©℠", None),
    }
)
LETTERS = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "ı": "i", "þ": "th", "æ": "ae", "œ": "oe", "⁄": "/"}
)
"""Latin letters that Unicode does not take apart, and its fraction bar."""
MULTIPLES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
SMALL_NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
SMALL_NUMBERS |= {"eleven": 11, "twelve": 12}
"""Numbers that are written as words as often as in digits; `one` is a pronoun too."""
MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
MULTIPLE = rf"(?:[ -]?(?:{'|'.join(MULTIPLES)})\b)+"

Rewrite = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]
MARKS: tuple[Rewrite, ...] = (
    (re.compile(r"!?\[([^\[\]\n]+)\]\([^()\s]*\)"), r"\1"),  # Links and pictures.
    (re.compile(r"`+|~~+"), ""),
    (re.compile(r"(?<![0-9])\*++|\*++(?![0-9])"), ""),  # `2*3` is a product.
    (re.compile(r"(?<![^\W_])_+|_+(?![^\W_])"), ""),  # `snake_case` keeps its stroke.
)
"""Markdown's marks of emphasis, code and links."""
NUMBERS: tuple[Rewrite, ...] = (
    (
        re.compile(rf"(?<![\w-])(?:{'|'.join(SMALL_NUMBERS)})(?!\w)"),
        lambda match: str(SMALL_NUMBERS[match[0]]),
    ),
    # 1,200 and 1 200 and 1'200, each with one separator throughout.
    (
        re.compile(r"(?<![0-9.,])[0-9]{1,3}([, '])[0-9]{3}(?:\1[0-9]{3})*(?![0-9]|,[0-9])"),
        lambda match: re.sub(r"\D", "", match[0]),
    ),
    (re.compile(r"(?<![\w.])\.(?=[0-9])"), "0."),
    (
        re.compile(rf"(?<![0-9.,/])([0-9]{{1,15}}(?:\.[0-9]{{1,15}})?)({MULTIPLE})"),
        lambda match: _multiplied(match),
    ),
    # December 14, 1972 → 14 december 1972.
    (re.compile(rf"\b({MONTHS}) ([0-9]{{1,2}})(?:st|nd|rd|th)?,? (?=[0-9]{{4}}\b)"), r"\2 \1 "),
    (re.compile(rf"(?<=\b[0-9])(?:st|nd|rd|th)(?= (?:{MONTHS})\b)"), ""),
    (re.compile(rf"(?<=\b[0-9]{{2}})(?:st|nd|rd|th)(?= (?:{MONTHS})\b)"), ""),
    (re.compile(r"(?<=[0-9]) ?%|\bper cent\b"), " percent"),
)
SPELLINGS: tuple[Rewrite, ...] = (
    (re.compile(r"(?<!\s)\s*&\s*"), " and "),
    # U.S. → us, J. K. → jk: initials are written with and without full stops and spaces.
    (re.compile(r"(?<!\w)([^\W\d_])\.(?=[^\W\d_](?:\.|(?!\w)))|(?<!\w)([^\W\d_])\. (?=[^\W\d_]\.)"), r"\1\2"),
    # Scripts do not share a word: `yes科幻` is two, and so is `1990年`.
    (re.compile(rf"(?<=[{LATIN}0-9])(?=[{UNSPACED}])|(?<=[{UNSPACED}])(?=[{LATIN}0-9])"), " "),
    (re.compile(rf"(?<=[{LATIN}])(?=[^\W\d_{LATIN}])|(?<=[^\W\d_{LATIN}])(?=[{LATIN}])"), " "),
)
REWRITES = (*MARKS, *SPELLINGS, *NUMBERS)
N_PASSES = 8
"""Enough for all but texts that are written to defy it, which must not cost more."""


def plain(text: str) -> str:
    """Return a text without the differences that never make an answer another one.

    Compatibility forms (NFKC), letter case, accents on Latin and Greek letters, curly quotes, kinds of dashes, white
    space of every kind, Markdown's marks, thousands separators, `million` and the like, numbers up to twelve in words,
    the order of day and month, full stops of initials, `&`.
    Plain text stays as it is.
    """
    return fold(" ".join(text.split()))


@functools.lru_cache(4096)
def fold(text: str) -> str:
    """Return `plain(text)` with its line breaks, which end sentences."""
    # What a mark stood between may itself be marked, as in `*_Paris_*`: a second pass, and rarely a third.
    for _ in range(N_PASSES):
        before, text = text, _once(text)
        if text == before:
            break
    return text


def _once(text: str) -> str:
    text = _characters(text)
    for pattern, by in REWRITES:
        text = pattern.sub(by, text)
    return "\n".join(filter(None, (" ".join(line.split()) for line in text.splitlines())))


def bare(text: str) -> str:
    """Return the plain text without the punctuation around it."""
    return plain(text).strip(" .,;:!?\"'()[]{}")


NORMALIZATIONS: Mapping[str, Callable[[str], str]] = {
    "raw": raw,
    "casefold_strip": casefold_strip,
    "squad": squad,
    "plain": bare,
}


def _characters(text: str) -> str:
    """Plain characters: compatibility forms, case, accents, quotes, dashes, spaces."""
    if not text.isascii():
        text = re.sub(r"(?<=\d)(?=[¼-¾⅐-⅞])", " ", text)  # 3½ is not 31/2,
        text = re.sub(r"(?<=[0-9])(?=[²³¹⁰⁴-⁹])", "^", text)  # and 10² is not 102.
        text = unicodedata.normalize("NFKC", text.translate(SIGNS)).translate(SIGNS)
    text = text.casefold()
    if not text.isascii():
        text = unicodedata.normalize("NFD", text).translate(LETTERS)
        text = re.sub(rf"(?<![^\W\d_])[\u0300-\u036f]+|(?<=[{LATIN}\u0370-\u03ff])[\u0300-\u036f]+", "", text)
        text = unicodedata.normalize("NFKC", text).replace("ς", "σ")
        text = "".join(
            str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text if unicodedata.category(c) != "Cf"
        )
    return re.sub(r"[^\S\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+", " ", text)


def _multiplied(match: re.Match[str]) -> str:
    number = Decimal(match[1])
    for word in re.findall(r"[a-z]+", match[2]):
        number *= MULTIPLES[word]
    return f"{number.normalize():f}"


# --- whole words and numbers ------------------------------------------------------------------------

PIECE = re.compile(rf"[{UNSPACED}]|[0-9]+(?:[.,][0-9]+)*|(?:(?![{UNSPACED}])[^\W\d_])+(?:'[{LATIN}]+)*[+#]*|[^\W_]")


def pieces(text: str) -> list[str]:
    """Return a text's words and numbers in order, and each sign of a script without spaces; articles are left out."""
    return [piece.replace("'", "") for piece in PIECE.findall(plain(text)) if piece not in ARTICLES]


def title_key(title: str) -> str:
    """Return what two spellings of a document's title share: case, quotes, dashes and spaces aside. Accents count."""
    return " ".join(unicodedata.normalize("NFKC", title.translate(SIGNS)).casefold().split()).removesuffix(".")


@functools.lru_cache(65536)
def phrase(sought: str) -> re.Pattern[str] | None:
    """Return the pattern by which a text's whole words and whole numbers are found in folded text; None: it is empty.

    Punctuation and spaces between words do not count, nor does an article in front. What stands beside it must be no
    part of its first or last word or number: `12` is not in `112`, `12.5`, `-12` or `12/20`, `brien` not in `o'brien`.
    """
    text = plain(sought)
    parts = PIECE.findall(text)
    is_initial = sought.lstrip()[:2] == "A " and len(parts) == 2  # `A Smith`
    has_article = len(parts) > 1 and parts[0] in ARTICLES and re.match(rf"\W*{parts[0]}\s", text)
    if has_article and not is_initial:
        parts = parts[1:]
    if not parts:
        return re.compile(re.escape(text)) if text else None
    inner = [re.escape(part).replace("'", "'?") for part in parts]
    joined = inner[0] + "".join(map("".join, zip(map(_gap, parts, parts[1:]), inner[1:], strict=False)))
    return re.compile(_left(parts[0], is_negative=text[0] == "-") + joined + _right(parts[-1]))


def occurs_whole(sought: str, text: str) -> bool:
    """Whether a text's words and numbers stand in another in a row, as whole words and whole numbers."""
    pattern = phrase(sought)
    return pattern is not None and pattern.search(fold(text)) is not None


def _gap(before: str, after: str) -> str:
    is_joint = _is_unspaced(before) or _is_unspaced(after) or before[-1].isdigit() != after[0].isdigit()
    if is_joint or before[-1] in "+#":
        return r"[\W_]*"
    # `John Kennedy` also as `John F. Kennedy`.
    return r"[\W_]+(?:[a-z]\. )?" if before.isalpha() and after.isalpha() else r"[\W_]+"


def _is_unspaced(piece: str) -> bool:
    return re.match(f"[{UNSPACED}]", piece) is not None


def _left(piece: str, *, is_negative: bool) -> str:
    """Nothing of a longer word or number before it; `l'` and `d'` are words of their own."""
    if _is_unspaced(piece):
        return ""
    if not piece[0].isdigit():
        return r"(?<!\w)(?<![a-ce-km-z0-9]')"
    sign = "(?<=-)" if is_negative else r"(?<![\s(]-)(?<!\A-)"
    return r"(?<!\w)(?<![0-9][.,])" + (r"(?<![0-9][/:^])" if len(piece) <= SMALL else "") + sign


def _right(piece: str) -> str:
    if _is_unspaced(piece):
        return ""
    if not piece[-1].isdigit():
        return r"(?!\w)(?!'(?!s\b)\w)"
    return r"(?!\w)(?![.,^][0-9])" + (r"(?![/:][0-9])" if len(piece) <= SMALL else "")


SMALL = 2
"""Digits of a number that may be part of a fraction, a ratio or a time; a year may stand in `12/05/1990`."""
