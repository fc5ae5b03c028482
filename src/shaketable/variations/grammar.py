"""The question with one error of grammar that a real checker confirms."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from shaketable.prompts import REWORD_GRAMMAR, Template
from shaketable.text import language
from shaketable.types import Question
from shaketable.variations.english import grammar_checker
from shaketable.variations.english.indirect import AUXILIARIES, tidy
from shaketable.variations.english.inflection import form
from shaketable.variations.gate.refusal import Refusal
from shaketable.variations.gate.reworded import Proposal, Reworded

Errors = Iterator[tuple[int, int, str]]
"""First word, word after the last, and what stands there instead."""
AGREEMENT = {
    "is": "are", "are": "is", "was": "were", "were": "was", "has": "have", "have": "has", "does": "do", "do": "does",
}  # fmt: skip
PREPOSITIONS = {"in": "on", "on": "in", "at": "on", "for": "of", "by": "from", "from": "of", "to": "at"}
VOWEL = re.compile(r"[aeiou]", re.IGNORECASE)
DOUBLED = frozenset({
    "the", "a", "an", "of", "in", "is", "was", "were", "are", "for", "by", "on", "at", "and", "did", "has", "from",
    "with", "as", "which", "when", "where", "more", "how", "do", "about", "or", "than",
})  # fmt: skip


def _article(words: Sequence[Any], known: Sequence[str] = ("a", "an"), tags: Sequence[str] = ("NN", "JJ")) -> Errors:
    """`a owner`, `an director`: the wrong one before its noun."""
    for place, word in enumerate(words[:-1]):
        following = words[place + 1]
        # How a word sounds is sure for plain ones alone: an hour, a European, an MP.
        if word.lower_ in known and re.match(r"[bcdfgklmnprstvwz]|[ai]", following.text):
            wrong = "a" if VOWEL.match(following.text) else "an"
            if following.text.islower() and following.tag_ in tags and word.lower_ != wrong:
                yield place, place + 1, wrong.capitalize() if word.text[0].isupper() else wrong


def _definite_article(words: Sequence[Any]) -> Errors:
    """`the director` → `an director`."""
    return _article(words, ("the",), ("NN",))


def _doubled_word(words: Sequence[Any]) -> Errors:
    for place, word in enumerate(words):
        around = [*words[max(0, place - 1) : place], *words[place + 1 : place + 2]]
        in_a_name = len(around) == 2 and all(one.text[:1].isupper() for one in around)
        if word.lower_ in DOUBLED and (word.text.islower() or place == 0) and not in_a_name:
            yield place, place + 1, f"{word.text} {word.lower_}"


def _past_after_did(words: Sequence[Any]) -> Errors:
    """`who directed` → `who did directed`."""
    for place, word in enumerate(words[:6]):
        asked = [one.lower_ for one in words[: max(1, place)]][:1]
        if place and asked[0] in ("who", "what", "which") and word.tag_ == "VBD" and word.lower_ not in AUXILIARIES:
            yield place, place + 1, f"did {word.text}"
            return
        if word.lower_ in AUXILIARIES or word.tag_ in ("WDT", "IN", ","):
            return


def _one_of(words: Sequence[Any]) -> Errors:
    """`one of the largest cities` → `one of the largest city`."""
    for place, word in enumerate(words[:-3]):
        if (
            word.lower_ == "one"
            and words[place + 1].lower_ == "of"
            and words[place + 2].lower_ in ("the", "his", "her")
        ):
            for after in range(place + 3, min(place + 7, len(words))):
                if words[after].tag_ == "NNS" and words[after].text.islower():
                    yield after, after + 1, words[after].lemma_
                    break


def _participle(words: Sequence[Any]) -> Errors:
    """`was written` → `was wrote`, `has gone` → `has went`."""
    for place, word in enumerate(words):
        if word.tag_ == "VBN" and any(child.dep_ in ("aux", "auxpass") for child in word.children):
            past = form(word.lemma_, "VBD")
            if past != word.lower_ and past.isalpha():
                yield place, place + 1, past


def _pronoun(words: Sequence[Any]) -> Errors:
    """`who` → `whom` for a subject."""
    for place, word in enumerate(words[:-1]):
        if word.lower_ == "who" and words[place + 1].tag_ in ("VBD", "VBZ", "VBP", "MD"):
            yield place, place + 1, "Whom" if word.text[0].isupper() else "whom"


def _degree(words: Sequence[Any]) -> Errors:
    """`older` → `more older`, `largest` → `most largest`."""
    for place, word in enumerate(words):
        if word.tag_ in ("JJR", "JJS") and word.lower_.endswith(("er", "est")) and word.text.islower():
            yield place, place + 1, f"{'more' if word.tag_ == 'JJR' else 'most'} {word.text}"


def _comparison(words: Sequence[Any]) -> Errors:
    for place, word in enumerate(words):
        if word.lower_ == "than":
            yield place, place + 1, "then"


def _tense(words: Sequence[Any]) -> Errors:
    """`did he go` → `did he went`, `does it belong` → `does it belongs`."""
    for place, word in enumerate(words):
        helpers = [child.lower_ for child in word.children if child.dep_ == "aux"]
        for helper, tag in (("did", "VBD"), ("does", "VBZ")):
            if word.tag_ in ("VB", "VBP") and helper in helpers and (wrong := form(word.lower_, tag)) != word.lower_:
                yield place, place + 1, wrong


def _agreement(words: Sequence[Any]) -> Errors:
    for place, word in enumerate(words):
        if word.lower_ in AGREEMENT and word.tag_ in ("VBZ", "VBP", "VBD"):
            wrong = AGREEMENT[word.lower_]
            yield place, place + 1, wrong.capitalize() if word.text[0].isupper() else wrong


def _missing_article(words: Sequence[Any]) -> Errors:
    for place, word in enumerate(words[:-1]):
        if place and word.lower_ in ("the", "a", "an") and words[place + 1].tag_ in ("NN", "JJ"):
            yield place, place + 1, ""


def _number(words: Sequence[Any]) -> Errors:
    """`how many tracks` → `how many track`."""
    for place, word in enumerate(words):
        if word.tag_ == "NNS" and word.lemma_.lower() != word.lower_ and word.text.islower():
            yield place, place + 1, word.lemma_


def _preposition(words: Sequence[Any]) -> Errors:
    for place, word in enumerate(words):
        if word.tag_ == "IN" and word.text in PREPOSITIONS:
            yield place, place + 1, PREPOSITIONS[word.text]


CONFIRMED = (_article, _participle, _pronoun, _degree, _comparison, _past_after_did, _one_of)
"""Errors that people make and Harper finds as a rule."""
SLIPS = (_doubled_word, _definite_article)
"""Of the fingers; almost every question has a place for one."""
OTHERS = (_tense, _agreement, _missing_article, _number, _preposition)
"""Errors that it mostly overlooks; LanguageTool finds more of them."""


@dataclass(frozen=True, kw_only=True)
class Grammar(Reworded):
    """At least one grammar error: the checker flags the wording, and not the original."""

    version: ClassVar[int] = 2
    prompts: ClassVar[tuple[Template, ...]] = (REWORD_GRAMMAR,)

    checker: str = grammar_checker.HARPER
    """`harper`, or the address of a LanguageTool server, such as `http://localhost:8081`."""

    def wordings(self, question: Question) -> Sequence[Proposal]:
        text = tidy(question.text)
        words = [word for word in language.parsed(text, self.pipeline) if word.text.strip()]
        rng = self.dice(question)
        made = []
        # Attempts are few: a slip must be among them.
        for rules, most in ((CONFIRMED, self.max_attempts - len(SLIPS)), (SLIPS, len(SLIPS)), (OTHERS, len(OTHERS))):
            one_each = [proposal for rule in rules if (proposal := _wrong(text, words, rule, rng))]
            made += rng.sample(one_each, len(one_each))[: max(1, most)]
        return made

    def checked(self, original: str, proposal: Proposal) -> Proposal:
        before = grammar_checker.check(original, self.checker)
        if before:
            return replace(
                proposal,
                refused=Refusal(
                    kind="error_in_the_original", text=f"the checker flags the original already: {before[0].rule}"
                ),
            )
        found = grammar_checker.check(proposal.text, self.checker)
        name = grammar_checker.described(self.checker)
        if not found:
            return replace(proposal, refused=Refusal(kind="no_error_found", text=f"the checker finds no error: {name}"))
        facts = {"checker": name, "checker_rule": found[0].rule, "checker_message": found[0].message}
        return replace(proposal, facts={**proposal.facts, **facts})


def _wrong(text: str, words: Sequence[Any], rule: Callable[[Sequence[Any]], Errors], rng: Any) -> Proposal | None:
    """The text with one error of this kind, at a drawn place."""
    places = list(rule(words))
    if not places:
        return None
    first, last, wrong = rng.choice(places)
    start = words[first].idx
    end = words[last - 1].idx + len(words[last - 1].text)
    kept = text[end:] if wrong else text[end:].lstrip()
    made = f"{text[:start]}{wrong}{kept}"
    return Proposal(text=made, facts={"rule": rule.__name__.strip("_"), "error": f"{text[start:end]} → {wrong}"})
