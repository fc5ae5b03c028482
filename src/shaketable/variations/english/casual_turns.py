"""A question → the question as people ask it: `What is the place of birth of Ann?` → `where was Ann born`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shaketable.text import language

if TYPE_CHECKING:
    from spacy.tokens import Token

MANY_WORDS = 14
"""A subject longer than this does not go into the middle of a question."""
PLAIN = re.compile(r"(?:[A-Z][\w.’'-]*|\d+)(?: (?:[A-Z][\w.’'-]*|\d+|of|the|de|von|van|der|la|bin|al))*")
OFFICES = re.compile(
    r"\b(?:museum|institut|agency|cent(?:er|re)|bureau|department|school|company|association|council|librar|observator"
    r"|laborator|program|office|hospital|academy|foundation|gallery|university|college|service|board|society|club"
    r"|fund|bank|project|orchestra|choir)|(?-i:\b[A-Z]{2,}\b)",
    re.IGNORECASE,
)
"""What has a director without being a film."""
WORKS = r"(?:film|movie|album|song|single|video game|game|book|novel|season|show|series|episode)"
PERSONS = (
    "father|mother|dad|mom|husband|wife|son|daughter|brother|sister|grandfather|grandmother|director|composer|performer"
    "|author|singer|writer|actor|actress|producer|founder|king|queen|president|person|man|woman"
)
PERSON = re.compile(rf"\b(?:{PERSONS})$|^the (?:\w+ )?(?:{PERSONS})\b")
NO_SUBJECT = re.compile(r"(?:who|what|which|when|where|how)\b", re.IGNORECASE)
"""A clause for a person, `the birthplace of who wrote it`, goes nowhere else."""
BARE_ROLE = re.compile(r"(?=(?:director|performer|composer|author|founder) of\b)")
FINITE = frozenset({"VBD", "VBZ", "VBP", "MD"})
Check = Callable[[str], bool]


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One pattern over the whole question without its mark."""

    pattern: re.Pattern[str]
    after: str
    """`{x}` is what was asked about, other groups have their own names."""
    fits: Check
    """Whether it holds for what was asked about."""


def _turn(pattern: str, after: str, fits: Check) -> Turn:
    return Turn(pattern=re.compile(pattern.replace("X", "(?P<x>.+?)") + "$", re.IGNORECASE), after=after, fits=fits)


def is_short(x: str) -> bool:
    return len(x.split()) <= MANY_WORDS and "," not in x and not re.search(r"\b(?:and|or|is|are|was|were)$", x)


def is_plain(x: str) -> bool:
    """A name that can be given an `'s`: one with `of` gets heavy."""
    return (
        len(x.split()) <= 6
        and " of " not in x.casefold()
        and PLAIN.fullmatch(x) is not None
        and not x.endswith(("'s", "’s", "s'"))
    )


def is_person(x: str) -> bool:
    return is_short(x) and (PERSON.search(x) is not None or "PERSON" in _labels(x))


def is_role(x: str) -> bool:
    """A person by what they do or are to somebody, not by name."""
    return re.match(rf"the (?:\w+ )?(?:{PERSONS})(?= (?:of|who|that|in|from|to|at|with|for|on|by)\b|$)", x) is not None


def is_called(x: str) -> bool:
    return (
        len(x.split()) <= 8
        and re.match(r"(?:the|a|an)\b|[A-Z][\w']*'s\b", x) is not None
        and not re.search(r",|\b(?:who|that|which|where|when|person|people|man|woman|girl|boy|character)\b", x)
    )


def is_founded(x: str) -> bool:
    """An organization: nobody says that a town or a country got started."""
    return is_plain(x) and not {"GPE", "LOC", "NORP", "FAC"} & _labels(x)


def is_work(x: str) -> bool:
    return is_short(x) and re.search(rf"\b{WORKS}\b", x, re.IGNORECASE) is not None


def is_film(x: str) -> bool:
    return re.match(r"(?:the )?(?:\d+ )?(?:film|movie)\b", x) is not None or (
        re.match(r"[\"“A-Z\d]", x) is not None and not OFFICES.search(x)
    )


def is_staged(x: str) -> bool:
    return re.match(r"(?:the )?(?:\d+ )?(?:film|movie|musical|play|show)\b", x) is not None


def has_name(x: str) -> bool:
    return re.search(r"[A-Z\d]", x) is not None


def is_place(x: str) -> bool:
    return is_short(x) and (is_plain(x) or re.match(r"the (?:city|town|state|country|county|village)\b", x) is not None)


def _labels(x: str) -> set[str]:
    return {label for start, end, label in language.entities(x) if end - start > len(x) - 4}


WHO, WHAT, POSSESSIVE = r"who (?P<be>is|was)", r"what (?:is|was)", "(?P<s>'s|’s)"
KIN = "(?P<kin>father|mother|child|grandfather|grandmother)"
RELATIVE = (
    "(?P<r>husband|wife|son|daughter|brother|sister|uncle|aunt|(?:father|mother)-in-law"
    "|(?:paternal|maternal) grand(?:father|mother))"
)
BORN = "(?:place of birth|birthplace)"
BIRTHDAY = "(?:date of birth|birth date|birthdate)"
JOB = "(?:occupation|profession)"
TURNS = (
    _turn(rf"{WHO} the (?:author|writer) of X", "who wrote {x}", has_name),
    _turn(rf"{WHO} the director of X", "who directed {x}", is_film),
    _turn(r"who was the producer of X", "who produced {x}", has_name),
    _turn(rf"{WHO} the screenwriter (?:for|of) X", "who wrote the script for {x}", has_name),
    _turn(rf"{WHO} the composer of X", "who wrote the music for {x}", is_staged),
    _turn(rf"{WHO} the composer of X", "who composed {x}", has_name),
    _turn(rf"{WHO} the performer of X", "who performed {x}", has_name),
    _turn(rf"{WHO} the founder of X", "who started {x}", is_founded),
    _turn(r"who founded X", "who started {x}", is_founded),
    _turn(r"who is the owner of X", "who owns {x}", has_name),
    _turn(r"who was X created by", "who made {x}", is_short),
    _turn(rf"{WHO} the spouse of X", "who {be} {x} married to", is_short),
    _turn(rf"{WHO} X{POSSESSIVE} spouse", "who {be} {x} married to", is_plain),
    _turn(rf"{WHO} the {KIN} of X", "who {be} {x}'s {kin}", is_plain),
    _turn(rf"{WHO} X{POSSESSIVE} {KIN}", "who {be} {x}{s} {kin}", has_name),
    _turn(rf"{WHO} the {RELATIVE} of X", "who {be} {x}'s {r}", is_plain),
    _turn(rf"(?:what|where) (?:is|was) the {BORN} of X", "where was {x} born", is_short),
    _turn(rf"(?:what|where) (?:is|was) X{POSSESSIVE} {BORN}", "where was {x} born", is_plain),
    _turn(rf"(?:what|when) (?:is|was) the {BIRTHDAY} of X", "when was {x} born", is_short),
    _turn(rf"(?:what|when) (?:is|was) X{POSSESSIVE} {BIRTHDAY}", "when was {x} born", is_plain),
    _turn(r"(?:what|where) (?:is|was) the place of death of X", "where did {x} die", is_short),
    _turn(r"(?:what|when) (?:is|was) the (?:date of death|death date) of X", "when did {x} die", is_short),
    _turn(r"(?:what|where) (?:is|was) the place of burial of X", "where is {x} buried", is_short),
    _turn(rf"{WHAT} the cause of death of X", "how did {x} die", is_short),
    _turn(r"(?P<w>where|when) did X die", "{w} did {x} pass away", is_person),
    _turn(r"where was X educated", "where did {x} go to school", is_short),
    _turn(r"what kind of work does X do", "what does {x} do for a living", is_short),
    _turn(rf"what is X{POSSESSIVE} {JOB}", "what does {x} do for a living", is_plain),
    _turn(rf"what is the {JOB} of X", "what does {x} do for a living", is_short),
    _turn(rf"what was the {JOB} of X", "what did {x} do for a living", is_short),
    _turn(r"where is X located", "where is {x} at", is_short),
    _turn(r"where (?P<be>are|was|were) X located", "where {be} {x}", is_short),
    _turn(r"where (?:is|are) the headquarters? of X(?: located)?", "where is {x}'s HQ", is_plain),
    _turn(r"where (?:is|are) the headquarters? of X(?: located)?", "where is the HQ of {x}", is_short),
    _turn(r"where is X headquartered", "where is {x} based", is_short),
    _turn(r"(?P<w>where|when) was X founded", "{w} did {x} get started", is_founded),
    _turn(r"(?:what|which) (?:music|record) label is X represented by", "what label is {x} on", is_short),
    _turn(r"(?:what|which) company is X produced by", "what company makes {x}", is_short),
    _turn(r"what (?P<be>is|was) the name of X", "who {be} {x}", is_role),
    _turn(r"what (?P<be>is|was) the name of X", "what {be} {x} called", is_called),
    _turn(r"what is the (?:term|word) (?:used )?for X", "what do you call {x}", is_short),
    _turn(r"what is the religion of X", "what religion is {x}", is_plain),
    _turn(r"what is the nationality of X", "what nationality is {x}", is_short),
    _turn(r"what is the population of X", "how many people live in {x}", is_place),
    _turn(r"when (?:was|were) X released", "when did {x} come out", is_work),
    _turn(
        r"which (?:film|movie) (?:has the|whose) director (?:who was |that was |was )?born X",
        "which movie's director was born {x}",
        has_name,
    ),
    _turn(
        r"which (?:film|movie) (?:has the|whose) director (?:who |that )?died X",
        "which movie's director died {x}",
        has_name,
    ),
    _turn(
        r"which (?:film|movie) (?:has the director who|whose director) is (?P<a>older|younger)(?: than the other)?, X",
        "which movie's director is {a}, {x}",
        has_name,
    ),
    _turn(r"(?:what|which) (?P<n>[a-z ]+) (?P<be>is|are|was|were) X located in", "what {n} {be} {x} in", is_short),
)
EVERYDAY = {
    "father": "dad", "mother": "mom", "child": "kid", "grandfather": "grandpa", "grandmother": "grandma",
}  # fmt: skip


def turned(text: str) -> str | None:
    """The whole question in an everyday pattern; None: it has none of the shapes."""
    for turn in TURNS:
        match = turn.pattern.match(text)
        if match and turn.fits(match["x"]) and not NO_SUBJECT.match(match["x"]):
            groups = {name: part.lower() if name != "x" else part for name, part in match.groupdict().items()}
            groups["x"] = BARE_ROLE.sub("the ", groups["x"], count=1) if BARE_ROLE.match(groups["x"]) else groups["x"]
            return turn.after.format_map({name: EVERYDAY.get(part, part) for name, part in groups.items()})
    return None


# --- order of words -------------------------------------------------------------------------------

FRONTED = re.compile(r"(?P<p>in|on|at|for|from|to|with|by|about|of) (?=(?:which|what|whose|whom)\b)", re.IGNORECASE)
TIMES = frozenset({"year", "years", "month", "decade", "century", "season", "date", "day", "time"})
MANNERS = TIMES | {
    "way", "ways", "extent", "degree", "means", "reason", "reasons", "case", "cases", "point", "age", "grounds",
    "basis", "purpose", "circumstances", "rate", "order", "manner", "respect", "sense", "direction", "condition",
    "conditions", "form", "context", "capacity", "period", "era", "stage", "minute", "episode",
}  # fmt: skip
"""Nothing is stranded behind these."""
CLAUSES = frozenset({"IN", "TO", "WRB", "WDT", "WP", "MD", "VBD", "VBZ", "VBP", "VBG", "CC", ",", ":", "."})
"""What stands between a verb and a preposition at the end only where the sentence is too long for one."""
BE = frozenset({"is", "are", "was", "were"})
AUXILIARIES = BE | {"do", "does", "did", "has", "have", "had", "can", "could", "will", "would", "should"}


def question_words(text: str, pipeline: str = language.PIPELINE) -> list[Token]:
    """The words of a question in small letters and without its mark, read with both: parsers miss them."""
    *words, _ = language.parsed(f"{text[:1].upper()}{text[1:]}?", pipeline)
    return [word for word in words if not word.is_space]


def stranded(text: str, pipeline: str = language.PIPELINE) -> str | None:
    """`In which city was Ann born` → `which city was Ann born in`; None: not fronted, or too long to move."""
    match = FRONTED.match(text)
    if not match:
        return None
    preposition, rest = match["p"].lower(), text[match.end() :]
    words = question_words(text, pipeline)[1:]
    verb = next((place for place, word in enumerate(words) if word.tag_ in FINITE), None)
    if verb is None or not 1 <= verb <= 4 or words[verb - 1].lower_ in MANNERS or words[verb - 1].tag_ in ("IN", "CC"):
        return None
    after = words[verb + 1 :]
    verbs = [place for place, word in enumerate(after) if word.tag_[:2] == "VB"]
    if len(verbs) > 1 or (not verbs and words[verb].lower_ not in BE) or words[verb].lower_ not in AUXILIARIES:
        return None
    subject, tail = (after[: verbs[0]], after[verbs[0] + 1 :]) if verbs else (after, [])
    if (
        len(tail) > 4
        or (tail and tail[-1].tag_[:2] == "RB")
        or any(word.tag_ in CLAUSES and word.lower_ != "of" for word in tail)
    ):
        return None
    if not subject or len(subject) > 8 or any(word.tag_ in CLAUSES - {"IN", "CC"} for word in subject):
        return None
    rest = re.sub(r"^whom\b", "who", rest, flags=re.IGNORECASE)
    return f"{re.sub(' located$', '', rest)} {preposition}"


def alternatives_first(text: str) -> str | None:
    """`Who is older, Ann or Bob` → `Ann or Bob, who is older`; a bare `which` would be taken for a relative."""
    match = re.fullmatch(
        r"(?P<asked>(?:who|which)\b[^,\"“]+), (?P<names>(?-i:[\"“A-Z\d]).* or (?-i:[\"“A-Z\d]).*)", text, re.IGNORECASE
    )
    if not match or re.search(r"[.?!;]\s|, [a-z]", match["names"]):
        return None
    first, second, *rest = question_words(match["asked"])
    if not any(word.tag_ in FINITE for word in (second, *rest)) or second.lower_ in ("are", "were", "have"):
        return None
    asked = re.sub("^which ", "which one ", match["asked"]) if is_bare_which(first, second) else match["asked"]
    return f"{match['names']}, {asked[:1].lower()}{asked[1:]}"


def is_bare_which(first: Token, second: Token) -> bool:
    """Whether no noun stands behind `which`."""
    return first.lower_ == "which" and (second.tag_[:2] in ("VB", "MD", "RB") or second.lower_ in AUXILIARIES)
