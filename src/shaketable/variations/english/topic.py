"""A question about one thing → that thing, and the question that only points at it: `Who directed Jaws?` → `it`."""

from __future__ import annotations

import re
from dataclasses import dataclass

QUOTED = r"\"[^\"?]+\"|“[^”?]+”"
CAPITALIZED = r"[A-Z][\w'’.&-]*"
NAME = rf"(?:{QUOTED}|{CAPITALIZED}(?: (?:(?:of|the|de|la|von|van|al|and) )*(?:{CAPITALIZED}|\d+))*)"
NAMES = re.compile(NAME)
PLACES = "city|town|village|county|province|island|municipality"
KINDS = (
    "film|movie|song|album|book|novel|play|poem|painting|opera|musical|series|sitcom|band|river|lake|language|"
    "magazine|newspaper|video game|character"
)
"""Nouns that stand before a name, as `the film Jaws`, and tell what it is; places have `of` between."""
RELATIVES = (
    "father|mother|parents?|spouse|wife|husband|child|children|son|daughter|brother|sister|siblings?|grandfather|"
    "grandmother|uncle|aunt|stepfather|stepmother"
)
OF_PEOPLE = (
    rf"{RELATIVES}|place of birth|birthplace|date of birth|birthday|place of death|date of death|cause of death|"
    "nationality|occupation|profession|religion|alma mater|country of citizenship"
)
OF_WORKS = (
    "director|author|writer|composer|producer|screenwriter|performer|singer|lyricist|publisher|editor|cinematographer|"
    "genre|creator|distributor|plot|cast"
)
OF_PLACES = "capital|population|mayor|governor|area|climate|currency|official language|largest city"
MADE = (
    "directed|wrote|composed|produced|sang|painted|published|designed|founded|invented|discovered|built|edited|created|"
    "distributed|narrated"
)
BEGUN = (
    "founded|established|released|built|published|formed|created|opened|completed|discovered|filmed|recorded|made|"
    "written|painted|invented|launched|located|produced|designed"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Pointing:
    """A question that names its topic no longer."""

    topic: str
    text: str


BEFORE = (
    "(?:^|"
    + "|".join(rf"(?<=\b{word} )" for word in ("of", "in", "from", "to", "by", "does", "did", "is", "was"))
    + ")"
)
AFTER = r"(?=\W*$| (?:born|die|graduate|study|appear|located|released|filmed|set|published|founded|flow|take place)\b)"
SHAPES = (
    # The film Jaws, the city of Rome: the noun stays.
    (rf"{BEFORE}(?:[Tt]he )?(?P<kind>(?:{PLACES})(?= of)|{KINDS})(?: of)? (?P<topic>{NAME}){AFTER}", r"this \g<kind>"),
    (rf"(?P<topic>{NAME})['’]s? (?P<rest>{RELATIVES})\b", r"this person's \g<rest>"),
    (rf"\bthe (?P<what>{OF_PEOPLE}) of (?P<topic>{NAME})(?=\W*$)", r"this person's \g<what>"),
    (rf"\b(?P<verb>was|is|did) (?P<topic>{NAME}) (?P<rest>born|die|marry|married|buried|study|graduate|educated)\b",
     r"\g<verb> this person \g<rest>"),
    (rf"^(?P<who>Who) (?P<verb>{MADE}) (?:the )?(?P<topic>{NAME})(?=\W*$)", r"\g<who> \g<verb> it"),
    (rf"\bthe (?P<what>{OF_WORKS}|{OF_PLACES}) of (?:the )?(?P<topic>{NAME})(?=\W*$)", r"its \g<what>"),
    (rf"^(?P<when>When|Where|In (?:what|which) (?:year|city|country|state)) (?P<verb>was|is) (?:the )?"
     rf"(?P<topic>{NAME}) (?P<rest>(?:first )?(?:{BEGUN}))\b", r"\g<when> \g<verb> it \g<rest>"),
)  # fmt: skip
"""Sure shapes, the surest first: how the topic is named, and how it is pointed at."""
COMPARING = re.compile(r"\b(?:or|both|same|older|younger|more|earlier|later|than|between|common)\b", re.IGNORECASE)
QUESTION_WORDS = re.compile(
    r"who(?:m|se)?|what|which|when|where|why|how|in|on|at|is|are|was|were|do|does|did|has|have|had|can|the|an?", re.I
)


def point_at_topic(text: str) -> Pointing | None:
    """The question with `it`, `this person` or `this film` for its one name; None: it has none, or several, or which
    word would point at it is not sure."""
    if COMPARING.search(text) or "," in text or len(_names(text)) != 1:
        return None
    for shape, pointed in SHAPES:
        if (found := re.search(shape, text)) and found["topic"] in _names(text):
            kind = found.groupdict().get("kind")
            made = text[: found.start()] + found.expand(pointed) + text[found.end() :]
            topic = found["topic"].strip('"“”')
            return Pointing(topic=f"the {kind} {topic}" if kind else topic, text=made[:1].upper() + made[1:])
    return None


def find_topic(text: str) -> str | None:
    """The first thing that the question names; None: it names nothing with a capital."""
    pointing = point_at_topic(text)
    return pointing.topic if pointing else next((name.strip('"“”') for name in _names(text)), None)


def _names(text: str) -> list[str]:
    """Runs of words with capitals; the first word of a sentence is none of them unless it is a name by itself."""
    return [
        found.group().removesuffix("'s").removesuffix("’s").rstrip("'’")
        for found in NAMES.finditer(text)
        if found.start() or not QUESTION_WORDS.fullmatch(found.group())
    ]
