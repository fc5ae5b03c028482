"""Words of a sentence that the lexicon can exchange, in the form in which they stand: for antonym and synonym."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from shaketable.perturbations.altered import Target, Which, choose_targets, disturbed, rewrite
from shaketable.perturbations.checks import check_choice, check_count
from shaketable.text import language
from shaketable.text import lexicon as lexicons
from shaketable.text.language import Word
from shaketable.text.lexicon import Lexicon, PartOfSpeech
from shaketable.types import Edit, Evidence, Hit, Question

TAGS: dict[str, PartOfSpeech] = {
    "NN": "noun", "NNS": "noun",
    "VB": "verb", "VBP": "verb", "VBZ": "verb", "VBD": "verb", "VBN": "verb", "VBG": "verb",
    "JJ": "adj", "RB": "adv",
}  # fmt: skip
"""Names, comparatives and particles are missing on purpose: no other word fits in their place."""
AUXILIARIES = frozenset({"be", "have", "do"})

Lookup = Callable[[str, PartOfSpeech], Sequence[str]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Exchange:
    start: int
    end: int
    before: str
    after: str


Choose = Callable[[Target, Sequence[Exchange]], Sequence[Exchange]]
"""Which of the words that could be exchanged are, in one sentence."""


class WordExchange:
    """What antonym and synonym share. Each declares the settings itself: their order counts in keys."""

    packages: ClassVar[tuple[str, ...]] = language.PACKAGES

    m: int
    sentences: Which
    lexicon: str | None
    pipeline: str
    seed: int

    def __post_init__(self) -> None:
        check_count("m", self.m)
        check_choice("sentences", self.sentences, Which)

    def lacks(self) -> str | None:
        return language.lacks(self.pipeline)

    def contents(self) -> dict[str, str]:
        return lexicons.contents(self.lexicon)

    def perturb(self, questions: Sequence[Question], hits: Sequence[Sequence[Hit]]) -> list[Evidence]:
        if self.m == 0:
            return [Evidence(hits=tuple(own)) for own in hits]
        return [self._exchanged(question, own) for question, own in zip(questions, hits, strict=True)]

    def _exchanged(self, question: Question, hits: Sequence[Hit]) -> Evidence:
        """The evidence with some words of its chosen sentences exchanged; the notes read `BEFORE → AFTER`."""
        words = lexicons.vocabulary(self.lexicon)
        targets, flags = choose_targets(question, hits, self.sentences)
        tagged = language.words_of_each([target.sentence.text for target in targets], self.pipeline) if targets else []
        choose = self.choice(question, hits)
        edits: list[Edit] = []
        for target, tags in zip(targets, tagged, strict=True):
            text = target.sentence.text
            possible = exchanges(text, tags, words, self.lookup(words))
            chosen = sorted(choose(target, possible), key=lambda exchange: exchange.start)
            if chosen:
                note = ", ".join(f"{exchange.before} → {exchange.after}" for exchange in chosen)
                edits.append(rewrite(target, exchanged(text, chosen), note))
        if len(edits) < len(targets):
            flags.append("partly_replaced" if edits else "nothing_to_replace")
        return disturbed(hits, edits, flags)

    def lookup(self, words: Lexicon) -> Lookup:
        """Where the other words of a word stand."""
        raise NotImplementedError

    def choice(self, question: Question, hits: Sequence[Hit]) -> Choose:
        """Which of the words that could be exchanged are."""
        raise NotImplementedError


def exchanges(text: str, words: Iterable[Word], lexicon: Lexicon, lookup: Lookup) -> list[Exchange]:
    """Every word that could be exchanged, with the first other word that takes its form.

    A word whose form follows no rule is left alone: better no change than a word that does not exist.
    """
    possible = []
    for word in words:
        before, part = text[word.start : word.end], TAGS.get(word.tag)
        lemma = word.lemma.lower() or before.lower()
        is_name = before[:1].isupper() and text[: word.start].strip(" \"'“‘(") != ""
        if part is None or is_name or lemma in AUXILIARIES or inflected(lemma, word.tag, lexicon) != before.lower():
            continue
        others = (other for other in lookup(lemma, part) if _fits_article(text[: word.start], before, other))
        forms = (inflected(other, word.tag, lexicon) for other in others)
        after = next((form for form in forms if form), None)
        if after and after != before.lower():
            possible.append(Exchange(start=word.start, end=word.end, before=before, after=cased_like(before, after)))
    return possible


def _fits_article(start: str, before: str, after: str) -> bool:
    """Whether an article before it, `a` or `an`, can stay: what is heard is guessed by the first letter."""
    has_article = re.search(r"\ban?\s+$", start, re.IGNORECASE)
    return not has_article or (before[0].lower() in "aeiou") == (after[0] in "aeiou")


def exchanged(text: str, chosen: Iterable[Exchange]) -> str:
    for exchange in sorted(chosen, key=lambda exchange: -exchange.start):
        text = text[: exchange.start] + exchange.after + text[exchange.end :]
    return text


def cased_like(before: str, after: str) -> str:
    """Small, Capitalized or CAPITALS as the word before."""
    if len(before) > 1 and before.isupper():
        return after.upper()
    return after[:1].upper() + after[1:] if before[:1].isupper() else after


def inflected(lemma: str, tag: str, lexicon: Lexicon) -> str | None:
    """The form that a tag asks for, where a plain rule gives it; None where it may not."""
    if not re.fullmatch(r"[a-z]+", lemma):
        return None
    match tag:
        case "NN" | "VB" | "VBP" | "JJ" | "RB":
            return lemma
        case "NNS":
            # A basic form that ends in s is often a plural already: headquarters, mathematics.
            plural_already = re.search(r"[^su]s$", lemma)
            return None if lexicon.is_irregular(lemma, "noun") or plural_already else _with_s(lemma)
        case "VBZ":
            return _with_s(lemma)
        case "VBD" | "VBN" | "VBG" if not lexicon.is_irregular(lemma, "verb") and not _may_double(lemma):
            return _with_ing(lemma) if tag == "VBG" else _with_ed(lemma)
    return None


def _with_s(lemma: str) -> str | None:
    # Monarchs, but marches; photos, but heroes; quizzes: no plain rule tells them apart.
    if re.search(r"(arch|och|tech|stomach|eunuch|[^aeiou]o|[^z]z)$", lemma):
        return None
    if re.search(r"(s|x|z|ch|sh)$", lemma):
        return f"{lemma}es"
    return f"{lemma[:-1]}ies" if re.search(r"[^aeiou]y$", lemma) else f"{lemma}s"


def _with_ed(lemma: str) -> str:
    if lemma.endswith("e"):
        return f"{lemma}d"
    return f"{lemma[:-1]}ied" if re.search(r"[^aeiou]y$", lemma) else f"{lemma}ed"


def _with_ing(lemma: str) -> str | None:
    if lemma.endswith("ie"):
        return None
    return f"{lemma[:-1]}ing" if re.search(r"[^eoy]e$", lemma) else f"{lemma}ing"


def _may_double(lemma: str) -> bool:
    """Planned, panicked: one short syllable, or a final c."""
    return bool(re.fullmatch(r"[^aeiou]*(qu)?[aeiou][^aeiouwxy]", lemma)) or lemma.endswith("c")
