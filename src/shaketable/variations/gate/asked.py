"""Does a wording still ask, and for the same kind of answer?"""

from __future__ import annotations

import re

from shaketable.text import language
from shaketable.variations.gate.refusal import Refusal

ASKING = re.compile(
    r"\?|(?-i:\b(?:who(?:m|se)?|what|which|when|where|why|how)(?:['’]?s|['’]?d|['’]?re)?\b)"
    r"|(?-i:(?:^|[^\w\s]\s*)(?:Who(?:m|se)?|What|Which|When|Where|Why|How)\b)"
    r"|\b(?:whether|know|tell|wonder|curious|find out|learn|like you to)"
    r"|\b(?:seeks?|sought|asks?|inquires?|ascertain|determine|elucidate)\b"
    r"|\b(?:necessitates?|requires?|warrants?|demands?) (?:an? )?(?:\w+ )?"
    r"(?:identification|elucidation|clarification)\b"
    r"|^\W*(?:(?:please|kindly|so|now|just|yo|hey|ok)\W+)*(?:name|find|explain|give|identify|state|list|say|describe|"
    r"determine|clarify|specify|provide|answer|complete|let|indicate|disclose)\b",
    re.IGNORECASE,
)
"""A question mark, a question word, the wish to know, or a command: `state` and `name` are often nouns elsewhere, and
a question word with a capital inside a sentence belongs to a name."""
WANTED = re.compile(r"\b(?:when|where|who(?:m|se)?|why|how (?:many|much))\b", re.IGNORECASE)
"""Words that say what kind of answer is wanted. `what` and `which` leave that to a noun, so they may stand for any."""
ALIKE = {"whom": "who", "whose": "who", "how much": "how many"}
PLACES = "city country county state continent province town village street river ocean island stadium venue"
TIMES = "year decade century month day date season"
UNIT = re.compile(
    rf"\b(?:what|which) (?:\w+ )?({'|'.join((PLACES + ' ' + TIMES).replace('y ', '(?:y|ies) ').split())})s?\b",
    re.IGNORECASE,
)
"""A kind of place or time, which a plain `where` leaves open and another kind replaces."""
ANSWERING = re.compile(
    r"\W*(?:yes|no|true|false)\b(?=[,.!:;]|$)|\W*(?:the|my|our|a) (?:\w+ )?answer\b.{0,80}?\b(?:is|was|are|would be)\b",
    re.IGNORECASE,
)
REFUSING = re.compile(
    r"\W*(?:i(?:['’]m| am) (?:sorry|unable|not able)|sorry\b|"
    r"i (?:can(?:['’]|no)t|can not|won['’]t|will not|must decline)|as an ai\b|unfortunately)",
    re.IGNORECASE,
)
QUESTION_WORD = re.compile(r"\b(?:who(?:m|se)?|what|which|when|where|why|how)\b", re.IGNORECASE)
INQUIRING = re.compile(
    r"\W*(?:inquiring|inquired|inquisit(?!\w* discourse)\w+)\b"
    r"(?!.*(?:, |: )(?:\w+ )?(?:one|it|who|what|which|where)\b)",
    re.IGNORECASE | re.DOTALL,
)
"""How models begin what never comes to its main clause; parsers find a verb somewhere in it."""
HELPERS = r"(?:is|are|was|were|can|could|may|might|must|would|will|should|does|do|did|has|have|had)"
FEASIBLE = re.compile(
    rf"\b{HELPERS} (?:it|there) (?:\w+ly )?(?:be )?(?:\w+ )?"
    r"(?:feasible|possible|practicable|conceivable|plausible|viable|permissible|a way|any way|a practicable)\b",
    re.IGNORECASE,
)
WANTS_YES = re.compile(rf"(?:^|[,:;.!?]\s+)\W{{0,20}}{HELPERS}\b", re.IGNORECASE)
"""A question to which `yes` is an answer anyway; the helper may stand behind a phrase."""
INVITES_YES = re.compile(
    rf"(?:^|[,:;.!?]\s+)(?:(?:and|so|then|thus|well|hey|now) )?{HELPERS}(?:n['’]t)? "
    r"(?!(?:you|ya|u|y['’]all|i|we|any ?(?:one|body)|some ?(?:one|body)|any of you|"
    r"there (?:any|some|a) ?(?:one|body|chance))\b)[^\W_]+",
    re.IGNORECASE,
)
"""`could one elucidate`, `was Otis Barton`, `did Jane write`; not `do you know` and `does anybody know`, which are
meant as requests."""
CHOICE = re.compile(r"\bor\b", re.IGNORECASE)
WISHING = (
    r"(?:tell(?: me| us)?|let me know|know|wonder(?:ing)?|ask(?:ing)?|find out|say|state|explain|reveal|determine|"
    r"identify|clarify|specify|discover|learn|establish|remember|recall|figure out|give|provide)"
)
LEADING = (
    r"(?:in|on|at|by|for|from|to|of|during|under|with|after|before|into|and|so|well|um|uh|hey|ok|okay|yo|then|now)"
)
DIRECT = re.compile(
    rf"(?:^|[,:;.!?]\s{{1,3}})\W{{0,5}}(?:{LEADING}\W{{1,3}}){{0,3}}"
    rf"(?:(?P<plain>who(?:m|se)?|what|which)|(?P<turned>when|where|why|how)(?=['’](?:s|d|re|ll)\b|\s{{1,3}}(?:{HELPERS}|must|"
    r"had|many|much|old|long|far|tall|high|big|deep|large|wide|often)\b))",
    re.IGNORECASE,
)
"""A question word that opens a question. `When the war ended, who …`: without a verb behind it `when` opens none."""
INDIRECT = re.compile(
    rf"\b{WISHING}\s{{1,3}}(?:{LEADING}\s{{1,3}})?(?P<word>who(?:m|se)?|what|which|when|where|why|how)\b", re.IGNORECASE
)
PERSONS = """
actor actress author artist architect athlete king queen president man woman person people player singer musician band
group team company club writer director painter composer poet politician scientist
"""
THINGS = """
highway road bridge tower film movie song album book novel poem opera play series episode game sport animal species fish
bird plant tree metal element mineral planet moon star language religion color colour instrument nationality currency
award prize medal disease drug substance material gas liquid food drink dish wine car ship boat aircraft airplane train
engine machine device tool weapon theory law treaty battle war event mountain lake desert forest number amount
percentage reason cause method word letter name title topic subject
"""
MOMENTS = "time era period age point moment hour weekday"
SPOTS = "place location region area district site building spot part continent"
KINDS = {
    "time": frozenset(f"{TIMES} {MOMENTS}".split()),
    "place": frozenset(f"{PLACES} {SPOTS}".split()),
    "person": frozenset(PERSONS.split()),
    "thing": frozenset(THINGS.split()),
}
PLAIN_KINDS = {
    "who": "person", "whom": "person", "whose": "person", "when": "time", "where": "place", "why": "reason",
}  # fmt: skip
NEAR_NOUN = 4
"""Words behind `which` among which its noun is looked for."""
EXCHANGED = frozenset({
    ("thing", "person"), ("thing", "time"), ("place", "person"), ("place", "time"), ("time", "person"),
    ("time", "place"), ("person", "time"), ("person", "place"), ("person", "thing"), ("manner", "time"),
    ("manner", "place"), ("manner", "person"), ("amount", "person"), ("amount", "place"), ("amount", "reason"),
    ("reason", "time"), ("reason", "place"), ("reason", "person"),
})  # fmt: skip
"""What the original asks for, and what a wording asks for that no longer means it. A thing may be somewhere, and an
amount may be a time: `which river` and `where`, `how long ago` and `when`."""
AMOUNTS = frozenset({"many", "much", "old", "long", "far", "tall", "high", "big", "deep", "large", "wide", "often"})
ENDS_NOUN = re.compile(rf"{HELPERS}|s|the|an?|of|in|on|at|by|for|from|to|with|that|who|whose|which|he|she|it|they")
SAYS_KIND = frozenset({"name", "title", "number", "amount"})
"""Nouns that may stand for a person or a time: `what is the name of the man`."""


def asking_trouble(original: str, wording: str, *, may_correct: bool = False) -> Refusal | None:
    """Return why a wording is no question any more, or another one; None: it asks, as far as its words tell.

    `may_correct`: a speaker may begin with another question word, and take it back.
    """
    if REFUSING.match(wording) and not REFUSING.match(original):
        return Refusal(kind="declines_instead_of_asking", text=f"it declines instead of asking: '{_cut(wording)}'")
    if ANSWERING.match(wording) and not ANSWERING.match(original):
        return Refusal(kind="answers_instead_of_asking", text=f"it answers instead of asking: '{_cut(wording)}'")
    if ASKING.search(original) and not ASKING.search(wording):
        return Refusal(kind="does_not_ask", text=f"it does not ask: '{_cut(wording)}'")
    return (
        _wanted_trouble(original, wording)
        or (None if may_correct else _exchange_trouble(original, wording))
        or _yes_no_trouble(original, wording)
    )


def _wanted_trouble(original: str, wording: str) -> Refusal | None:
    """A wording that wants another kind of answer alone; one without such a word may ask in other ways."""
    before, after = _wanted(original), _wanted(wording)
    if before and after and not before & after:
        return Refusal(
            kind="asks_for_another_kind_of_answer",
            text=f"it asks '{min(after)}' where the original asks '{min(before)}'",
        )
    if unit := UNIT.search(original):
        # A paraphrase may say `at what point in time`, yet not `in which decade` for `in which year`.
        is_time = unit[1].lower()[:4] in TIMES
        others = {other.lower()[:4] for other in UNIT.findall(wording)} | (after - {"when"} if is_time else after)
        if others and unit[1].lower()[:4] not in wording.lower():
            return Refusal(
                kind="asks_for_another_kind_of_answer",
                text=f"the original asks for a {unit[1].lower()}, the wording not",
            )
    return None


def _exchange_trouble(original: str, wording: str) -> Refusal | None:
    """`who` for `which highway`: the question words themselves, not those of clauses inside."""
    before, after = _asked_kind(original), _asked_kind(wording)
    if before is None or after is None or (before[0], after[0]) not in EXCHANGED or SAYS_KIND & {before[1], after[1]}:
        return None
    return Refusal(
        kind="asks_for_another_kind_of_answer", text=f"it asks '{after[1]}' where the original asks '{before[1]}'"
    )


def _asked_kind(text: str) -> tuple[str, str] | None:
    """What kind of answer is asked for, and the word that says so; None: the first question word leaves it open."""
    direct, indirect = DIRECT.search(text), INDIRECT.search(text)
    found = min((match for match in (direct, indirect) if match), key=re.Match.end, default=None)
    if found is None:
        # In the middle: `X was born in which town?`
        found = re.search(r"\b(?P<word>which|what)\b", text, re.IGNORECASE)
    if found is None:
        return None
    word = next(group for group in found.groupdict().values() if group).lower()
    rest = re.findall(r"[a-z]+", text[found.end() :].lower())[:NEAR_NOUN]
    if word in PLAIN_KINDS:
        return PLAIN_KINDS[word], word
    if word == "how":
        kind = "amount" if rest[:1] and rest[0] in AMOUNTS else "manner"
        return kind, "how" if kind == "manner" else f"how {rest[0]}"
    for noun in rest:
        if ENDS_NOUN.fullmatch(noun):
            break
        for kind, nouns in KINDS.items():
            if noun in nouns or noun.removesuffix("s") in nouns:
                return kind, noun
    return None


def _yes_no_trouble(original: str, wording: str) -> Refusal | None:
    """A frame to which `yes` is an answer, around a question that wants something else."""
    frame = FEASIBLE.search(wording)
    if frame and FEASIBLE.search(original):
        frame = None
    if not frame and not WANTS_YES.search(original):
        frame = INVITES_YES.search(wording)
        # In `Which city was it, and is it large?` and `In what city can one …` the question word leads.
        if frame and QUESTION_WORD.search(wording[: frame.start()]):
            frame = None
        # `Is the one tower taller or the other?` wants one of two, as the original does.
        if frame and CHOICE.search(original) and CHOICE.search(wording[frame.end() :]):
            frame = None
    if not frame:
        return None
    asked = _cut(frame[0].strip(" ,:;.!?"))
    return Refusal(kind="invites_yes_or_no", text=f"'yes' would be an answer to it: '{asked} …'")


def _wanted(text: str) -> set[str]:
    return {ALIKE.get(word.lower(), word.lower()) for word in WANTED.findall(text)}


def fragment_trouble(original: str, wording: str, pipeline: str = language.PIPELINE) -> Refusal | None:
    """A statement without a main verb, `Inquiring into the identity of the author.`, where the original is none."""
    if not INQUIRING.match(wording) and (
        "?" in wording or not _is_fragment(wording, pipeline) or _is_fragment(original, pipeline)
    ):
        return None
    return Refusal(kind="no_main_clause", text=f"it has no main clause: '{_cut(wording)}'")


def _is_fragment(text: str, pipeline: str) -> bool:
    roots = [sentence.root for sentence in language.parsed(text, pipeline).sents]
    return bool(roots) and all(
        root.tag_ == "VBG" and not any(child.dep_ in ("aux", "nsubj") for child in root.children) for root in roots
    )


def _cut(text: str, width: int = 60) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1]}…"
