"""A parsed question → the errors that a learner of English might make in it, each by a rule that keeps its meaning.

A rule touches words in small letters alone, never names, numbers, negations or quotations, and only where the rest of
the question still says what was meant: a noun loses its plural after `how many`, not elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from shaketable.variations.english.asked import holds_a_title
from shaketable.variations.english.edits import (
    Error,
    has_capitals,
    outside_quotations,
    put_before,
    removed,
    replaced,
    start_of_cited,
)
from shaketable.variations.english.indirect import AUXILIARIES, FINITE, WH_WORDS
from shaketable.variations.english.inflection import form, is_verb
from shaketable.variations.english.prepositions import prepositions
from shaketable.variations.english.question_order import Order, has_two_bare_verbs, order_of
from shaketable.variations.english.word_orders import ONCE, adverb_behind, perfect_for_past, without_inversion

if TYPE_CHECKING:
    from spacy.tokens import Token

Kind = Literal["article", "number", "tense", "preposition", "agreement", "verb_form", "word_order"]
VERBAL: frozenset[Kind] = frozenset({"tense", "agreement", "verb_form", "word_order"})
"""Two of these in one question get in each other's way."""
OTHER_NUMBER = {
    "is": "are", "are": "is", "was": "were", "were": "was", "has": "have", "have": "has", "does": "do", "do": "does",
}  # fmt: skip
SINGULAR = frozenset({"is", "was", "has", "does"})
COLLECTIVE = frozenset({
    "audience", "band", "board", "cast", "club", "committee", "company", "couple", "crew", "crowd", "duo", "family",
    "government", "group", "half", "kind", "lot", "majority", "number", "orchestra", "pair", "part", "party",
    "percent", "percentage", "police", "rest", "series", "side", "species", "squad", "staff", "team", "trio", "type",
    "variety",
})  # fmt: skip
"""Nouns that take either number."""
NOT_COUNTED = frozenset({
    "arms", "clothes", "corps", "data", "games", "goods", "means", "media", "olympics", "people", "series", "species",
    "states", "times", "works",
})  # fmt: skip
QUANTITIES = frozenset({"one", "few", "little", "bit", "lot", "couple", "number", "following", "total", "while"})
"""`a few` and `few` are not the same."""
OFFICES = frozenset({
    "captain", "chairman", "director", "editor", "governor", "head", "king", "leader", "mayor", "president",
    "prime", "queen", "vice",
})  # fmt: skip
"""`Who is president` is no error."""
PLAIN_NOUNS = frozenset({
    "actor", "actress", "age", "answer", "area", "author", "average", "body", "book", "brother", "capital", "cast",
    "cause", "center", "character", "city", "color", "company", "composer", "country", "county", "creator", "date",
    "daughter", "difference", "director", "effect", "episode", "father", "film", "founder", "function", "highest",
    "history", "husband", "island", "job", "language", "largest", "length", "location", "longest", "main", "man",
    "manager", "meaning", "mother", "mountain", "movie", "name", "nationality", "number", "origin", "owner", "person",
    "place", "population", "president", "process", "producer", "purpose", "quarterback", "rank", "reason", "river",
    "role", "series", "show", "singer", "sister", "size", "smallest", "son", "song", "source", "state", "structure",
    "tallest", "team", "temperature", "theme", "title", "town", "type", "unit", "value", "wife", "winner", "woman",
    "world", "writer", "year",
})  # fmt: skip
"""What an article may be missing before where titles have no capitals either."""
BEFORE_GERUNDS = frozenset({"after", "before", "by", "for", "of", "without"})
TWO_PASTS = frozenset({
    "begun", "broken", "chosen", "driven", "drunk", "eaten", "fallen", "flown", "gone", "rung", "spoken", "stolen",
    "sung", "sunk", "taken", "thrown", "woken", "worn", "written",
})  # fmt: skip
"""Participles that are taken for the past, and the past for them; nobody writes `is knew`."""


def errors_in(text: str, words: Sequence[Token]) -> dict[Kind, list[Error]]:
    """The errors that could be made, by kind; kinds without any are not there."""
    if holds_a_title(words):
        return {}
    order = order_of(list(words))
    rules: dict[Kind, Callable[[], Iterator[Error]]] = {
        "article": lambda: articles(words),
        "number": lambda: numbers(words),
        "tense": lambda: _tenses(words, order),
        "preposition": lambda: prepositions(words),
        "agreement": lambda: _agreements(words),
        "verb_form": lambda: _verb_forms(words),
        "word_order": lambda: _orders(words, order),
    }
    if has_two_bare_verbs(words):
        rules = {kind: rule for kind, rule in rules.items() if kind not in VERBAL}
    cited = start_of_cited(words)
    found = {
        kind: [error for error in outside_quotations(text, rule()) if all(edit.end <= cited for edit in error.edits)]
        for kind, rule in rules.items()
    }
    return {kind: errors for kind, errors in found.items() if errors}


def articles(words: Sequence[Token]) -> Iterator[Error]:
    """`the capital` → `capital`, `an actor` → `a actor`."""
    named = has_capitals(words)
    for before, word, following in zip(words, words[1:], words[2:], strict=False):
        noun = word.head
        if word.text not in ("the", "a", "an") or noun.i <= word.i or noun.tag_ != "NN":
            continue
        if before.lower_ in ("last", "next", "past") or noun.dep_ == "npadvmod":  # `last a week` is not `last week`.
            continue
        phrase = [one for one in words if word.i < one.i <= noun.i]
        if not all(one.text.isalpha() and one.text.islower() for one in phrase) or following.lower_ in QUANTITIES:
            continue
        if _runs_on(words, word, noun):
            continue
        if not named and not {following.lower_, noun.lower_} <= PLAIN_NOUNS:
            continue
        if not (following.lower_ in OFFICES and before.lemma_ in ("be", "as")):
            yield Error(rule="article_missing", edits=(removed(word),))
        if word.text == "an" and following.text[0] in "aeio":
            yield Error(rule="a_for_an", edits=(replaced(word, "a"),))


def _runs_on(words: Sequence[Token], article: Token, noun: Token) -> bool:
    """Whether words that do not belong together would meet: `which award the singer got`, `the town Ann lives in`."""
    ahead = [word for word in words if word.i < article.i]
    asked = len(ahead) in (2, 3) and ahead[0].lower_ in ("which", "what") and ahead[-1].lower_ not in AUXILIARIES
    unlinked = any(
        child.dep_ == "relcl" and child.left_edge.i == noun.i + 1 and child.left_edge.lower_ not in WH_WORDS | {"that"}
        for child in noun.rights
    )
    names = any(word.text[:1].isupper() for word in words if word.i in (article.i + 2, noun.i + 1))
    return names or unlinked or (asked and ahead[-1].tag_ in ("NN", "NNS", "VB", "VBP"))


def numbers(words: Sequence[Token]) -> Iterator[Error]:
    """`how many tracks` → `how many track`, `one of the largest cities` → `one of the largest city`."""
    for place, word in enumerate(words):
        lemma = word.lemma_.lower()
        if word.tag_ != "NNS" or not word.text.islower() or word.lower_ in NOT_COUNTED or lemma == word.lower_:
            continue
        if any(child.dep_ == "conj" for child in word.children):
            continue
        before = [one.lower_ for one in words[:place] if one.i >= word.left_edge.i]
        one_of = [one.lower_ for one in words[max(0, word.left_edge.i - words[0].i - 2) : place]][:3]
        counted = (
            before[:2] == ["how", "many"]
            or before[:1] in (["several"], ["these"], ["those"])
            or (len(before) > 1 and before[0] in ("which", "what") and before[1] in ("two", "three", "four", "five"))
        )
        if counted or (len(one_of) == 3 and one_of[:2] == ["one", "of"]):
            yield Error(rule="singular_for_plural", edits=(replaced(word, lemma),))


def _tenses(words: Sequence[Token], order: Order | None) -> Iterator[Error]:
    """`did he go` → `did he went`, `when did he die` → `when has he died`, `who wrote` → `who did wrote`."""
    for word in words:
        is_past = word.tag_ == "VBD" and word.text.islower() and word.text not in AUXILIARIES
        if word.lower_ == "did" and word.dep_ == "aux" and _is_helped(word):
            yield Error(rule="past_after_did", edits=(replaced(word.head, form(word.head.lower_, "VBD")),))
        elif is_past and form(word.lemma_, "VBD") == word.text != word.lemma_:
            if _is_relative(word) and has_capitals(words):
                yield Error(rule="base_for_past", edits=(replaced(word, word.lemma_),))
            elif _is_asked_for(words, word):
                yield Error(rule="did_before_past", edits=(put_before(word, "did"),))
                if word.lemma_ in ONCE:
                    yield Error(rule="base_for_past", edits=(replaced(word, word.lemma_),))
    if order and (perfect := perfect_for_past(order)):
        yield perfect


def _is_helped(did: Token) -> bool:
    """Whether its verb stands behind the subject in its basic form, without `not`."""
    verb = did.head
    between = any(child.dep_ == "nsubj" and did.i < child.i < verb.i for child in verb.children)
    plain = verb.tag_ == "VB" and verb.text.islower() and form(verb.text, "VBD") != verb.text
    return between and plain and not any(child.dep_ == "neg" for child in verb.children)


def _is_relative(verb: Token) -> bool:
    """`the king who died`: after one thing the basic form is an error, and no plural."""
    before = verb.doc[verb.i - 1]
    return verb.dep_ == "relcl" and before.lower_ in ("who", "that", "which") and verb.head.tag_ in ("NN", "NNP")


def _is_asked_for(words: Sequence[Token], verb: Token) -> bool:
    """`Who wrote`; a second question word, or a comma, may belong to a title or to what is compared."""
    alone = sum(word.lower_ in WH_WORDS for word in words) == 1 and not any(word.text == "," for word in words)
    opens = words[0].lower_ == "who" and words[1].i == verb.i and verb.dep_ == "ROOT"
    return opens and alone


def _agreements(words: Sequence[Token]) -> Iterator[Error]:
    """`who plays` → `who play`, `what are the names` → `what is the names`, `does the river` → `do the river`."""
    verb = next((word for word in words[1:7] if word.tag_ in FINITE), None)
    if verb is None or not verb.text.islower() or _is_among_verbs(verb):
        return
    clause = verb.head if verb.dep_ in ("aux", "auxpass") else verb
    if clause.dep_ != "ROOT" or any(child.dep_ == "neg" for child in clause.children):
        return
    nouns = [child for child in clause.children if child.dep_ in ("nsubj", "nsubjpass", "attr")]
    numbers_seen = {_number(noun) for noun in nouns if noun.tag_ not in ("WP", "WDT")}
    if verb.lower_ in OTHER_NUMBER:
        # Nobody writes `what are the name of the river`; before a plural people do.
        attracted = verb.lemma_ != "be" or any(_is_of_several(noun) for noun in nouns)
        is_singular = verb.lower_ in SINGULAR
        if numbers_seen == {"singular" if is_singular else "plural"} and (attracted or not is_singular):
            yield Error(rule="agreement", edits=(replaced(verb, OTHER_NUMBER[verb.lower_]),))
        return
    before = nouns[0] if nouns and nouns[0].i < verb.i and nouns[0].tag_ in ("WP", "WDT", "NN") else None
    if verb.tag_ == "VBZ" and before is not None and verb.text.isalpha() and numbers_seen <= {"singular"}:
        yield Error(rule="agreement", edits=(replaced(verb, verb.lemma_.lower()),))


def _is_among_verbs(verb: Token) -> bool:
    """`languages mentioned have`: with another number it looks like something else."""
    before, after = verb.doc[verb.i - 1], verb.doc[verb.i + 1 : verb.i + 2]
    return before.tag_[:2] in ("VB", "MD") or any(word.tag_ in FINITE | {"VB"} for word in after)


def _number(noun: Token) -> str | None:
    """None: it may take either, or nobody can tell."""
    if any(child.dep_ in ("conj", "cc") for child in noun.children) or noun.lower_ in COLLECTIVE:
        return None
    if noun.tag_ == "PRP":
        return {"he": "singular", "she": "singular", "they": "plural"}.get(noun.lower_)
    if not noun.text.islower():
        return None
    determined = any(child.dep_ in ("det", "poss") for child in noun.children)
    if noun.tag_ == "NN" and determined:
        return "singular"
    return "plural" if noun.tag_ == "NNS" and noun.lemma_.lower() != noun.lower_ else None


def _is_of_several(noun: Token) -> bool:
    """`the name of the rivers`."""
    return any(child.lower_ == "the" for child in noun.lefts) and any(
        child.lower_ == "of" and any(one.tag_ == "NNS" for one in child.rights) for child in noun.rights
    )


def _verb_forms(words: Sequence[Token]) -> Iterator[Error]:
    """`was written` → `was wrote`, `does it belong` → `does it belongs`, `after winning it` → `after win it`."""
    for word in words:
        if not word.text.islower() or not word.text.isalpha():
            continue
        helpers = {child.lower_ for child in word.children if child.dep_ in ("aux", "auxpass")}
        lemma = word.lemma_.lower()
        if word.tag_ == "VBN" and helpers & {"is", "are", "was", "were", "has", "have", "had", "been", "be"}:
            if word.lower_ in TWO_PASTS:
                yield Error(rule="past_for_participle", edits=(replaced(word, form(lemma, "VBD")),))
        elif word.tag_ == "VB" and helpers == {"does"} and not any(child.dep_ == "neg" for child in word.children):
            if is_verb(word.lower_):  # Taggers take names in small letters for verbs.
                yield Error(rule="inflected_after_does", edits=(replaced(word, form(lemma, "VBZ")),))
        elif word.tag_ == "VBG" and _follows_preposition(word) and any(child.dep_ == "dobj" for child in word.children):
            yield Error(rule="base_for_gerund", edits=(replaced(word, lemma),))


def _follows_preposition(gerund: Token) -> bool:
    """Where it belongs to no title in small letters."""
    document, place = gerund.doc, gerund.i
    before = document[place - 1].text if place else ""
    return before in BEFORE_GERUNDS and gerund.dep_ == "pcomp" and has_capitals(list(document))


def _orders(words: Sequence[Token], order: Order | None) -> Iterator[Error]:
    if order and order.asked and (turned := without_inversion(order)):
        yield turned
    if moved := adverb_behind(list(words)):
        yield moved
