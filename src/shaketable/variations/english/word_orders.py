"""The order of a question → other orders, as learners put it: each is an error that keeps the meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shaketable.variations.english.edits import Error, put_after, put_before, removed, replaced
from shaketable.variations.english.indirect import DO
from shaketable.variations.english.inflection import form
from shaketable.variations.english.question_order import ADVERBS, Order

if TYPE_CHECKING:
    from spacy.tokens import Token

TENSES = {"did": "VBD", "does": "VBZ", "do": "VBP"}


def without_inversion(order: Order) -> Error | None:
    """`Where is Rome` → `Where Rome is`, `When did it start` → `When it started`."""
    auxiliary = order.auxiliary
    if auxiliary.lower_ in DO:
        if order.verb is None:
            return None
        inflected = form(order.verb.lower_, TENSES[auxiliary.lower_])
        return Error(rule="no_inversion", edits=(removed(auxiliary), replaced(order.verb, inflected)))
    return Error(rule="no_inversion", edits=(removed(auxiliary), put_after(order.subject[-1], auxiliary.lower_)))


def verb_first(order: Order) -> Error | None:
    """`When did the war start` → `When started the war`, `When was the town founded` → `When was founded the town`."""
    verb = order.verb
    if verb is None or not order.is_adverbial or order.has_object or order.adverbs or verb.i < order.subject[-1].i:
        return None
    if order.auxiliary.lower_ in DO:
        inflected = form(verb.lower_, TENSES[order.auxiliary.lower_])
        return Error(rule="verb_first", edits=(replaced(order.auxiliary, inflected), removed(verb)))
    if order.auxiliary.lemma_ != "be" or verb.tag_ != "VBN":
        return None
    return Error(rule="verb_first", edits=(put_before(order.subject[0], verb.lower_), removed(verb)))


def adverb_behind(words: list[Token]) -> Error | None:
    """`Who originally sang it` → `Who sang originally it`."""
    for place, word in enumerate(words[1:-1], 1):
        verb = words[place + 1]
        if word.text in ADVERBS and word.head.i == verb.i and verb.tag_ in ("VBD", "VBN", "VBZ") and word.tag_ == "RB":
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
    verb = order.verb
    if verb is None or verb.lower_ not in ("called", "named") or [word.lower_ for word in order.asked] != ["what"]:
        return None
    return Error(
        rule="how_called",
        edits=(replaced(order.asked[0], "how"), put_before(order.subject[0], verb.lower_), removed(verb)),
    )


def which_is(words: list[Token]) -> Error | None:
    """`What is the capital` → `Which is the capital`."""
    return _other_opening(words, "which_is", "which", 3)


def how_is_the_name(words: list[Token]) -> Error | None:
    """`What is the name of the river` → `How is the name of the river`."""
    return _other_opening(words, "how_is_the_name", "how", 5)


def _other_opening(words: list[Token], rule: str, asked: str, n_alike: int) -> Error | None:
    opening = [word.lemma_.lower() for word in words[:n_alike]]
    last = next((word for word in reversed(words) if word.text not in "?.!"), words[0])
    # What is it known as: the question word belongs to the end.
    if (
        len(words) < 6
        or last.tag_ in ("IN", "RP", "TO", "VBN", "VBD")
        or opening != ["what", "be", "the", "name", "of"][:n_alike]
        or words[1].dep_ != "ROOT"
    ):
        return None
    return Error(rule=rule, edits=(replaced(words[0], asked),))


def without_copula(order: Order) -> Error | None:
    """`Who is the president` → `Who the president`."""
    present = order.auxiliary.lower_ in ("is", "are") and order.verb is None
    if not present or not order.asked or order.subject[0].lower_ != "the":
        return None
    return Error(rule="no_copula", edits=(removed(order.auxiliary),))


def perfect_for_past(order: Order) -> Error | None:
    """`when did he die` → `when has he died`."""
    head = order.subject[-1]
    several = any(word.lower_ in ("and", "they") or word.tag_ in ("NNS", "NNPS") for word in order.subject)
    if (
        order.verb is None
        or order.auxiliary.lower_ != "did"
        or not order.asks_when
        or head.lower_ in ("i", "you", "we")
    ):
        return None
    participle = form(order.verb.lower_, "VBN")
    helper = "have" if several else "has"
    return Error(rule="perfect_for_past", edits=(replaced(order.auxiliary, helper), replaced(order.verb, participle)))
