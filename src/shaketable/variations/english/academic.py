"""Plain English → academic English: words, phrases, openings and shapes of questions, read from tables."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Iterator
from importlib.resources import files

from shaketable.variations.english.substitution import QUOTED, Table, parse_table

FOLDER = files("shaketable") / "resources" / "readability"
Rule = tuple[re.Pattern[str], str]
SLOTS = {
    "AUX": "(?P<aux>is|are|was|were|did|does|do|will|has|have|had|would|can|could|should)",
    "BE": "(?P<be>is|was)",
    "X": "(?P<x>.+)",
    "Y": "(?P<y>.+)",
    "Z": "(?P<z>.+)",
}
SLOT = re.compile(r"(?<!-)\b(?:AUX|BE|[XYZ])\b")
NAMED = re.compile(r"\b([A-Z]+)\b")
NO_BEGINNING = re.compile(
    r"(?:about|and|as|at|by|down|for|from|in|into|it|of|on|or|out|over|that|to|under|up|with|who|what|which|when|where|"
    r"why|how|whose|himself|herself|themselves)\b"
)
NO_END = re.compile(
    r"\b(?:a|about|actually|again|all|already|also|an|and|are|as|at|be|been|being|both|by|co|ever|finally|first|for|formally|"
    r"from|fully|he|in|is|it|last|likely|never|newly|next|not|of|officially|on|once|only|or|originally|pre|publicly|re|"
    r"recently|she|still|the|they|to|was|were|when|where|with)-?$"
)
TWO_QUESTIONS = re.compile(
    r"(?:\band|,) (?:at |by |for |in |on )?(?:who|what|which|when|where|why|how)\b|\bwhy$"
    r"|(?<= )(?:what|when|why|how) (?:is|are|was|were|do|does|did)\b",
    re.IGNORECASE,
)
OPEN_END = re.compile(r"\b(?:about|after|between|by|for|from|to|with)(?: (?:in|on|at|when|during)\b.*)?$")

BEGINNING = re.compile(
    r"(?:(?:at|by|for|from|in|of|on|to|upon|with|within the boundaries of) )?"
    r"(?:who|whom|what|which|when|where|why|how)\b"
    r"|(?:is|are|was|were|did|does|do|has|have|had|can|could|will|would|should) ",
    re.IGNORECASE,
)
BROKEN = re.compile(
    r"(?:which|what) (?:award|city|country|film|song) (?:whose|the) |which country (?!is |was ).* is from$"
    r"|.* has the director (?:died|lived) ",
    re.IGNORECASE,
)
"""`Which film whose director is younger, A or B?`: a wording that keeps the order keeps the error."""
MANY_WORDS = 8
"""A longer noun phrase stands at the end or not at all."""
LEADS = (
    "On the basis of the information presently available, ",
    "According to the information presently available, ",
)
"""They ask for nothing else."""


@functools.cache
def words() -> Table:
    return parse_table("\n".join(_lines("words")))


def rephrased(text: str) -> str:
    """With the academic phrases, quotations left alone."""
    for plain, academic in _phrases():
        spans = [quotation.span() for quotation in QUOTED.finditer(text)]
        for found in reversed([*plain.finditer(text)]):
            if not any(start <= found.start() < end for start, end in spans):
                text = text[: found.start()] + found.expand(academic) + text[found.end() :]
    return text


def led(asked: str, rng: random.Random) -> str | None:
    """Behind a phrase that makes it longer; None: it does not begin with its question word or verb."""
    if not BEGINNING.match(asked) or "according to" in asked.lower():
        return None
    lead = rng.choice(LEADS)
    return (lead if asked[0].isupper() else lead[0].lower() + lead[1:]) + asked[0].lower() + asked[1:]


def parted(text: str) -> tuple[str, str]:
    """A question and the mark behind it; one that begins with its question word gets one."""
    if text.endswith("?"):
        return text.rstrip(" ?"), "?"  # Whose exclamation mark belongs to a title.
    asked = text.rstrip(" .!?")
    behind = text[len(asked) :].strip()
    if asked.endswith(('?"', "?”")):
        return asked, ""
    return asked, "?" if "?" in behind or BEGINNING.match(asked) else behind


def opened(asked: str) -> Iterator[str]:
    """Wordings with another beginning, and the one as it is; nothing else is changed."""
    yield from _fitting(asked, _openings())
    if not BROKEN.match(asked):
        yield asked


def turned(asked: str) -> Iterator[str]:
    """Wordings with other clauses: `who wrote Emma` → `which individual was responsible for the authorship of Emma`."""
    return _fitting(asked, _shapes())


def _fitting(asked: str, rules: tuple[Rule, ...]) -> Iterator[str]:
    if TWO_QUESTIONS.search(asked):
        return
    for shape, wording in rules:
        found = shape.fullmatch(asked)
        if not found:
            continue
        slots = found.groupdict()
        if _fits(slots, wording, asked):
            made = "".join(
                slots.get(piece.lower(), piece) if piece.isupper() else piece for piece in NAMED.split(wording)
            )
            yield made[0].upper() + made[1:] if asked[0].isupper() else made


def _fits(slots: dict[str, str], wording: str, asked: str) -> bool:
    if not all(is_thing(slots[name]) for name in ("x", "y") if name in slots):
        return False
    if "x" in slots and not wording.endswith(("X", "Y")) and len(slots["x"].split()) > MANY_WORDS:
        return False
    return not ("z" in slots and asked[:3].lower() == "who" and OPEN_END.search(slots["z"]))


def is_thing(text: str) -> bool:
    """Whether it may be a noun phrase, as far as its two ends show, with whole quotations."""
    return not (NO_BEGINNING.match(text) or NO_END.search(text) or text.count('"') % 2)


@functools.cache
def _phrases() -> tuple[Rule, ...]:
    return tuple((re.compile(plain), academic) for plain, academic in _pairs("phrases"))


@functools.cache
def _openings() -> tuple[Rule, ...]:
    return tuple(_rule(plain, academic) for plain, academic in _pairs("openings"))


@functools.cache
def _shapes() -> tuple[Rule, ...]:
    return tuple(_rule(*pair) for pair in (*_acts(), *_events(), *_pairs("shapes")))


def _acts() -> Iterator[tuple[str, str]]:
    for line in _lines("acts"):
        forms, _, nouns = line.partition(": ")
        past, participle, doer = forms.split()
        noun, agent = nouns.split(", ")
        yield f"who {past} X", f"which {agent} was responsible for the {noun} of X"
        yield f"who {past} X", f"by which {agent} was X {participle}"
        yield f"who BE X {participle} by", f"which {agent} was responsible for the {noun} of X"
        yield f"who BE the {doer} of X", f"which {agent} BE responsible for the {noun} of X"


def _events() -> Iterator[tuple[str, str]]:
    for line in _lines("events"):
        participle, _, noun = line.partition(": ")
        for asking, longer in (("when", "at what point in time"), ("where", "in what location")):
            yield f"{asking} was X {participle}", f"{longer} did the {noun} of X occur"
            yield f"{asking} was X first {participle}", f"{longer} did the initial {noun} of X occur"


def _rule(plain: str, academic: str) -> Rule:
    return re.compile(SLOT.sub(lambda slot: SLOTS[slot[0]], plain), re.IGNORECASE), academic


def _pairs(name: str) -> Iterator[tuple[str, str]]:
    for line in _lines(name):
        plain, _, academic = line.partition(" => ")
        yield plain, academic


def _lines(name: str) -> list[str]:
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]
