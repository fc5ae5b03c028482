"""The clause of a question that `any idea …?` can hold, where the turn is sure."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from shaketable.text import language
from shaketable.variations.english.casual_turns import AUXILIARIES, BE, FINITE, TIMES, question_words
from shaketable.variations.english.indirect import Indirect, indirect

if TYPE_CHECKING:
    from spacy.tokens import Token

ADVERBS = frozenset({"first", "last", "also", "both", "originally", "still", "ever", "never", "usually", "often"})
SAME_IN_THE_PAST = frozenset({"put", "set", "hit", "cut", "let", "cost", "shut", "spread", "beat", "quit", "split"})
PREDICATE = re.compile(r"(?:both |all )?(?:from|in|of|on|located|based|the same)\b")
ASKS_FIRST = re.compile(
    r"(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|has|have|had|can|could|will|would)\b",
    re.IGNORECASE,
)
OWN_FORM = re.compile(r"(?:who|what|where|when) is\b|(?:in|on|at|for|from|to|with|by|about|of) ")
"""`Who is …` is shorter with a contraction, and a preposition in front is too stiff for a frame."""


def held_clause(text: str, pipeline: str = language.PIPELINE) -> Indirect | None:
    """The clause, or the noun phrase that `what was the …` asks for; None: one word might be in the wrong place."""
    if OWN_FORM.match(text) or text.endswith((".", "!")):  # A frame would swallow the mark of E.T. and Oliver!
        return None
    clause = indirect(text, pipeline)
    if clause.lead or clause.shape not in ("clause", "noun"):
        return None
    words = question_words(text, pipeline)
    if clause.shape == "noun":
        is_noun = re.match(r"what (?:was|were) the ", text) and words[-1].tag_[:2] in ("NN", "CD")
        return clause if is_noun else None
    if not ASKS_FIRST.match(text):
        return clause if _rotated(words, clause.text) else None
    keeps_order = clause.text.casefold() == text.casefold()
    if keeps_order:
        return clause if _asks_for_subject(words) and not _is_inverted_later(words) else None
    return clause if "," not in text and _moved_rightly(text, clause.text, words) else None


def is_past_twice(text: str, pipeline: str = language.PIPELINE) -> bool:
    """`When did the war ended`: an error of the question, which a contraction would make worse."""
    tags = [word.tag_ for word in question_words(text, pipeline)]
    is_did = re.match(r"(?:\w+ ){1,3}did\b", text, re.IGNORECASE) is not None
    return is_did and "VB" not in tags and sum(tag in ("VBD", "VBZ") for tag in tags) > 1


def _asks_for_subject(words: list[Token]) -> bool:
    """Whether the order of words is that of a statement: `who wrote it`, not `what were they accused of`."""
    place = next((place for place, word in enumerate(words) if word.tag_ in FINITE), None)
    if place is None or place + 1 == len(words) or words[0].lower_ not in ("who", "what", "which", "how", "whose"):
        return False
    verb, following = words[place], next((word for word in words[place + 1 :] if word.tag_[:2] != "RB"), None)
    if verb.lower_ not in AUXILIARIES:
        return True
    if following is None or following.tag_ in ("VBN", "VBG", "VB", "EX"):
        return following is not None and not (place == 1 and words[0].lower_ == "what" and verb.lemma_ == "be")
    if verb.lemma_ != "be":  # Their own main verbs: who does the voice, who has the record.
        return words[0].lower_ != "how" and not any(word.tag_[:2] == "VB" for word in words[place + 1 :])
    if place == 1:
        return words[0].lower_ == "who" and verb.lower_ == "was" and words[-1].tag_ not in ("IN", "TO", "RP")
    is_which = words[0].lower_ in ("what", "which", "whose") and following.tag_ == "DT"
    is_which &= words[place - 1].lower_ not in TIMES
    return is_which or (following.text.islower() and following.tag_ in ("IN", "JJ", "JJR", "JJS", "TO"))


def _is_inverted_later(words: list[Token]) -> bool:
    """`What singer who won it is Red the album by`: behind a long question phrase the order is still a question's."""
    for place, (word, following) in enumerate(itertools.pairwise(words)):
        is_long = any(one.tag_ in ("WDT", "WP", "WP$", "VBN", "VBG", "VBD") for one in words[1:place])
        if word.lower_ not in AUXILIARIES or not is_long or following.tag_[:2] not in ("NN", "DT", "PR", "CD"):
            continue
        later = words[place + 2 :]
        is_open = words[-1].tag_ in ("IN", "TO", "RP", "VBN", "VBG", "VB")
        if is_open or (following.text[:1].isupper() and word.lower_ in BE) or _has_verb(word, later):
            return True
    return False


def _has_verb(auxiliary: Token, later: list[Token]) -> bool:
    wanted = ("VBN", "VBD") if auxiliary.lemma_ == "have" else ("VB", "VBP")
    return auxiliary.lemma_ != "be" and any(word.tag_ in wanted for word in later)


def _moved_rightly(text: str, clause: str, words: list[Token]) -> bool:
    """Whether the auxiliary went before the first verb behind it, or into that verb, and nothing else moved."""
    auxiliary = next((word for word in words if word.tag_ in FINITE), None)
    if auxiliary is None or auxiliary.lower_ not in AUXILIARIES:
        return False
    if words[auxiliary.i - words[0].i + 1 :] and auxiliary.nbor().tag_[:2] in ("RB", "VB"):
        return False  # No subject stands between.
    verbs = [word for word in words if word.i > auxiliary.i and word.tag_[:2] == "VB" and word.nbor(-1).tag_ != "TO"]
    if (
        not text.islower()
        and len(verbs) > 1
        and any(word.i < verbs[0].i for word in words if word.tag_ in ("WDT", "WP", "WRB") and word.i > auxiliary.i)
    ):
        return False
    if not any(letter.isupper() for letter in text) and (len(verbs) != 1 or any(word.tag_ == "PRP" for word in words)):
        return False  # A title in small letters may hold other verbs.
    if auxiliary.lemma_ == "be" and sum(word.tag_ in ("VBN", "VBG") for word in verbs) > 1:
        return False
    before, after = text.split(), clause.removeprefix("whether ").split()
    del before[(place := _place(text, auxiliary))]
    main = _place(text, verbs[0]) - 1 if verbs else None
    if auxiliary.lower_ in ("do", "does", "did"):
        if main is None or len(before) != len(after):
            return False
        changed = [here for here, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
        is_same = auxiliary.lower_ == "do" or (auxiliary.lower_ == "did" and verbs[0].lower_ in SAME_IN_THE_PAST)
        return changed == ([] if is_same else [main])
    moved = next((here for here, new in enumerate(after) if here >= place and before[here : here + 1] != [new]), 0)
    if [*before[:moved], auxiliary.text.lower(), *before[moved:]] != after:
        return False
    if before[moved - 1].endswith((":", ",", "-")):
        return False
    if main is None:
        is_definite = before[place : place + 1] == ["the"] or before[place][:1].isupper()
        is_short = moved == len(before) <= place + 6 and place <= 3 and not text.startswith(("why", "when"))
        return is_short and is_definite if place else bool(PREDICATE.match(" ".join(before[moved:])))
    return moved == main or (moved == main - 1 and before[moved].lower() in ADVERBS)


def _rotated(words: list[Token], clause: str) -> bool:
    """`Rome is in which country` → `which country Rome is in`: the end of the question went to its front."""
    asked = next((place for place, word in enumerate(words) if word.lower_ in ("which", "what", "how")), 0)
    before, phrase = words[:asked], words[asked:]
    verb = next((place for place, word in enumerate(before) if word.tag_ in FINITE), None)
    if verb is None or len(words) > 16 or len(phrase) > 5 or before[-1].tag_ not in ("IN", "TO"):
        return False
    n_prepositions = sum(word.tag_ in ("IN", "TO") for word in before[verb:])
    is_one = n_prepositions == 1 and (before[verb].lemma_ == "be" or len(before) == verb + 2)
    moved = "".join(word.text for word in (*phrase, *before)).casefold()
    return is_one and "".join(clause.split()).casefold() == moved


def _place(text: str, word: Token) -> int:
    """Of a word among those between spaces."""
    return text[: word.idx].count(" ")
