"""The order of a question → other orders, as learners put it: each is an error that keeps the meaning."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shaketable.variations.english.edits import Edit, Error, has_capitals, put_after, put_before, removed, replaced
from shaketable.variations.english.indirect import AUXILIARIES, DO
from shaketable.variations.english.inflection import form
from shaketable.variations.english.question_order import Order

if TYPE_CHECKING:
    from spacy.tokens import Token

MOVABLE = frozenset({"also", "currently", "officially", "originally"})
"""Adverbs that mean the same behind the verb."""
ONCE = frozenset({
    "build", "compose", "create", "design", "direct", "discover", "found", "invent", "kill", "paint", "produce",
    "publish", "write",
})  # fmt: skip
"""What is done once, so that `has done` asks for the same as `did`."""
NOT_THIRD = frozenset({"a", "an", "i", "you", "we"})
"""What begins a subject that `has` does not suit, or that makes `when has` a question of its own."""
TENSES = {"did": "VBD", "does": "VBZ", "do": "VBP"}


def without_inversion(order: Order) -> Error | None:
    """`Where is Rome` → `Where Rome is`, `When did it start` → `When it started`."""
    auxiliary, verb, first = order.auxiliary, order.verb, order.subject[0]
    asks_what = [word.lower_ for word in order.asked] in (["what"], ["which"])
    if asks_what and _is_bare(first):
        return None  # What traders exchanged: which traders?
    # Without its article the subject would run on from `which war` or `what`.
    kept = first.text if asks_what or len(order.asked) > 1 else ""
    gone = Edit(start=auxiliary.idx, end=first.idx + len(kept), text=kept)
    if auxiliary.lower_ not in DO:
        return Error(rule="no_inversion", edits=(gone, put_after(order.subject[-1], auxiliary.lower_)))
    if verb is None:
        return None
    return Error(rule="no_inversion", edits=(gone, replaced(verb, form(verb.lower_, TENSES[auxiliary.lower_]))))


def _is_bare(first: Token) -> bool:
    """Whether a noun phrase begins without an article or a name."""
    return first.tag_ in ("NN", "NNS", "JJ", "JJR", "JJS", "VBG", "VBN", "CD")


def verb_before_subject(order: Order) -> Error | None:
    """`When did the war start` → `When started the war`."""
    verb = order.verb
    if verb is None or order.auxiliary.lower_ not in DO or not _may_follow(order):
        return None
    inflected = form(verb.lower_, TENSES[order.auxiliary.lower_])
    return Error(rule="verb_before_subject", edits=(replaced(order.auxiliary, inflected), removed(verb)))


def participle_before_subject(order: Order) -> Error | None:
    """`When was the town founded` → `When was founded the town`."""
    verb = order.verb
    if verb is None or order.auxiliary.lemma_ != "be" or verb.tag_ == "VBG" or not _may_follow(order):
        return None
    edits = (put_before(order.subject[0], verb.lower_), removed(verb))
    return Error(rule="participle_before_subject", edits=edits)


def _may_follow(order: Order) -> bool:
    """Whether the subject may stand behind the verb, and nobody takes it for an object."""
    pronoun = order.subject[0].tag_ == "PRP"
    indefinite = order.subject[0].lower_ in ("a", "an")
    particle = bool(order.rest) and order.rest[0].tag_ == "RP"
    hindered = order.has_object or bool(order.adverbs) or pronoun or indefinite or particle
    return order.is_adverbial and not hindered


def adverb_behind(words: list[Token]) -> Error | None:
    """`Who originally sang it` → `Who sang originally it`."""
    for place, word in enumerate(words[1:-1], 1):
        verb = words[place + 1]
        particle = any(child.dep_ == "prt" for child in verb.children)
        if word.text in MOVABLE and word.head.i == verb.i and verb.tag_ in ("VBD", "VBN", "VBZ") and not particle:
            return Error(rule="adverb_behind", edits=(removed(word), put_after(verb, word.lower_)))
    return None


def what_means(order: Order) -> Error | None:
    """`What does the word mean` → `What means the word`."""
    verb = order.verb
    if verb is None or verb.lemma_ != "mean" or order.auxiliary.lower_ != "does" or order.rest:
        return None
    return Error(rule="what_means", edits=(replaced(order.auxiliary, "means"), removed(verb)))


def how_called(order: Order) -> Error | None:
    """`What is the river called` → `How is called the river`."""
    if order.verb is None or not (how := how_is_it_called(order)):
        return None
    edits = (*how.edits, put_before(order.subject[0], order.verb.lower_), removed(order.verb))
    return Error(rule="how_called", edits=edits)


def how_is_it_called(order: Order) -> Error | None:
    """`What is the river called` → `How is the river called`."""
    called = order.verb is not None and order.verb.lower_ in ("called", "named")
    if not called or [word.lower_ for word in order.asked] != ["what"] or order.rest:
        return None
    return Error(rule="how_is_it_called", edits=(replaced(order.asked[0], "how"),))


def which_is(words: list[Token]) -> Error | None:
    """`What is the capital of Peru` → `Which is the capital of Peru`."""
    noun = next((word for word in words[1].rights if word.dep_ in ("nsubj", "attr")), None) if len(words) > 1 else None
    # What is the Silver Streak, what is the cerebellum: none of several.
    if (
        noun is None
        or not noun.text.islower()
        or not any(word.dep_ in ("prep", "acl", "relcl") for word in noun.rights)
    ):
        return None
    return _other_opening(words, "which_is", "which", 3)


def how_is_the_name(words: list[Token]) -> Error | None:
    """`What is the name of the river` → `How is the name of the river`."""
    return _other_opening(words, "how_is_the_name", "how", 5)


def _other_opening(words: list[Token], rule: str, asked: str, n_alike: int) -> Error | None:
    opening = [word.lemma_.lower() for word in words[:n_alike]]
    last = next((word for word in reversed(words) if word.text not in "?.!"), words[0])
    if len(words) < 6 or opening != ["what", "be", "the", "name", "of"][:n_alike] or words[1].dep_ != "ROOT":
        return None
    # What is it known as, what is it called in French: the question word belongs to the end.
    if (
        any(word.lower_ in ("called", "named", "known") for word in words)
        or last.tag_ in ("IN", "RP", "TO", "VBN", "VBD")
        or not words[1].text.isalpha()
    ):
        return None
    return Error(rule=rule, edits=(replaced(words[0], asked),))


def perfect_for_past(order: Order) -> Error | None:
    """`when did he die` → `when has he died`."""
    first, verb = order.subject[0], order.verb
    if verb is None or order.auxiliary.lower_ != "did" or not order.asks_when or first.lower_ in NOT_THIRD:
        return None
    joined = any(word.text == "and" for word in order.subject)
    if joined and not has_capitals(order.subject):
        return None  # A title in small letters may hold it.
    heads = [word for word in order.subject if word.head not in order.subject]
    several = joined or first.lower_ == "they" or heads[-1].tag_ in ("NNS", "NNPS")
    edits = (replaced(order.auxiliary, "have" if several else "has"), replaced(verb, form(verb.lower_, "VBN")))
    return Error(rule="perfect_for_past", edits=edits)


def perfect_of_the_subject(words: list[Token]) -> Error | None:
    """`Who wrote Hamlet` → `Who has written Hamlet`."""
    place = next((place for place, word in enumerate(words[:6]) if word.tag_[:2] in ("VB", "MD")), 0)
    verb, asked = words[place], words[:place]
    dated = any(re.fullmatch(r"1\d{3}|20\d\d", word.text) for word in words)
    if not asked or asked[0].lower_ not in ("who", "which", "what") or verb.tag_ != "VBD" or verb.dep_ != "ROOT":
        return None
    subject = next((child for child in verb.lefts if child.dep_ == "nsubj"), None)
    if subject is None or subject.i != asked[-1].i or verb.lower_ in AUXILIARIES or not verb.text.islower():
        return None
    if (not dated and verb.lemma_ not in ONCE) or any(child.dep_ == "conj" for child in verb.children):
        return None
    helper = "have" if subject.tag_ in ("NNS", "NNPS") else "has"
    return Error(rule="perfect_for_past", edits=(replaced(verb, f"{helper} {form(verb.lemma_, 'VBN')}"),))
