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
HELPERS = r"(?:is|are|was|were|can|could|may|might|would|will|should|does|do|did|has|have)"
FEASIBLE = re.compile(
    rf"\b{HELPERS} (?:it|there) (?:\w+ly )?(?:be )?(?:\w+ )?"
    r"(?:feasible|possible|practicable|conceivable|plausible|viable|permissible|a way|any way|a practicable)\b",
    re.IGNORECASE,
)
WANTS_YES = re.compile(rf"(?:^|[,:;.!?]\s+)\W{{0,20}}{HELPERS}\b", re.IGNORECASE)
"""A question to which `yes` is an answer anyway; the helper may stand behind a phrase."""
INVITES_YES = re.compile(
    rf"(?:^|[,:;.!?]\s+)(?:and |so |then |thus )?{HELPERS} "
    r"(?!there (?:any|some|a) ?(?:one|body|chance)\b)(?:one|it|there|an?|the|this|that|any|some|such)\b",
    re.IGNORECASE,
)
"""`could one elucidate`, `could an indication be furnished`; not `do you know` and `does anybody know`, which are meant
as requests."""


def asking_trouble(original: str, wording: str) -> Refusal | None:
    """Why a wording is no question any more, or another one; None: it asks, as far as its words tell."""
    if REFUSING.match(wording) and not REFUSING.match(original):
        return Refusal(kind="declines_instead_of_asking", text=f"it declines instead of asking: '{_cut(wording)}'")
    if ANSWERING.match(wording) and not ANSWERING.match(original):
        return Refusal(kind="answers_instead_of_asking", text=f"it answers instead of asking: '{_cut(wording)}'")
    if ASKING.search(original) and not ASKING.search(wording):
        return Refusal(kind="does_not_ask", text=f"it does not ask: '{_cut(wording)}'")
    return _wanted_trouble(original, wording) or _yes_no_trouble(original, wording)


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
