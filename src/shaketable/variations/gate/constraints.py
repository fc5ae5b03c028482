"""A wording keeps what narrows a question: negation, `only`, and the order of things."""

from __future__ import annotations

import re

from shaketable.variations.gate.refusal import Refusal

SAID_IN_PASSING = re.compile(
    r"\b(?:no (?:idea|clue|worries|rush|deal|big deal|pressure)|not (?:sure|gonna lie)|"
    r"(?:don['’]?t|do not|didn['’]?t|can['’]?t|cannot|couldn['’]?t) (?:\w+ )?"
    r"(?:know|mind|remember|recall|figure|tell|seem|think)|"
    r"won['’]?t you|why (?:not|don['’]?t)|isn['’]?t it|or not|if not)\b",
    re.IGNORECASE,
)
"""A negation of the frame, not of the question."""
NEGATION = re.compile(
    r"\b(?:not|never|no|none|nor|neither|nobody|nothing|nowhere|without|cannot)\b|n['’]t\b", re.IGNORECASE
)
NEGATIVE = re.compile(
    r"\b(?:lack\w*|forb\w+|prohib\w*|prevent\w*|den(?:y|ied)|ban(?:s|ned)?|absen\w*|fail\w*|exclu\w*|except\w*|"
    r"other than|besides|apart from|aside from|devoid|refus\w*|rather than|instead of|barring|ain['’]?t|"
    r"(?:non|un|in|im|dis)\w+)\b",
    re.IGNORECASE,
)
"""Other ways to say no; words with such a beginning are many, so this excuses and never accuses."""
KEPT = {
    "only": "only sole single alone unique one exclusive just lone",
    "first": "first 1st initial inaugura maiden earl premier debut origin incep primary begin pioneer foremost prior "
    "preced commenc start opening",
    "last": "last final recent latest ultimate conclu previous past surname family",
    "second": "second 2nd runner subsequent",
    "third": "third 3rd tertiary",
    "except": "except exclu but other besides apart aside save without not",
    "older": "old eld senior earlier age before first preced",
    "younger": "young junior later recent age after",
    "before": "before prior preced ahead earlier previous antecedent until pre anterior till first",
    "after": "after follow subsequent later since post once succe name honor honour then eponym upon past when",
}
"""A word that narrows a question, and how the words begin of which a wording must have one."""
OPPOSITES = (
    ("longer", "shorter"), ("higher", "lower"), ("larger", "smaller"), ("bigger", "smaller"), ("taller", "shorter"),
    ("older", "younger"), ("earlier", "later"), ("more", "fewer"), ("more", "less"), ("most", "least"),
    ("first", "last"), ("before", "after"), ("longest", "shortest"), ("highest", "lowest"), ("largest", "smallest"),
    ("oldest", "youngest"), ("deeper", "shallower"), ("north", "south"), ("east", "west"),
)  # fmt: skip


def constraints_trouble(original: str, wording: str, *, may_negate: bool = False) -> Refusal | None:
    """`may_negate`: a speaker who corrects herself says no."""
    before, after = (NEGATION.findall(SAID_IN_PASSING.sub(" ", text)) for text in (original, wording))
    if before and not after and not NEGATIVE.search(wording):
        return Refusal(kind="negation_lost", text=f"a negation is lost: '{before[0]}'")
    if after and not before and not may_negate and not NEGATIVE.search(original):
        return Refusal(kind="negation_added", text=f"a negation is added: '{after[0]}'")
    had, has = (re.findall(r"\w+", text.lower()) for text in (original, wording))
    for word, beginnings in KEPT.items():
        if word in had and not any(other.startswith(tuple(beginnings.split())) for other in has):
            return Refusal(kind="constraint_lost", text=f"the original says '{word}', and the wording nothing like it")
    for one, other in (*OPPOSITES, *(pair[::-1] for pair in OPPOSITES)):
        if one in had and other not in had and other in has and one not in has:
            return Refusal(kind="constraint_turned", text=f"the original says '{one}', and the wording '{other}'")
    return None
