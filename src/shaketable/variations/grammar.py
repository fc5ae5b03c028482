"""The question with errors of grammar as learners make them: `When did the war started?`"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from shaketable.prompts import REWORD_GRAMMAR, Template
from shaketable.text import language
from shaketable.text.search_terms import terms
from shaketable.types import Json, Question
from shaketable.variations.english import by_words, grammar_checker
from shaketable.variations.english.edits import Error, applied, described, is_about_words, is_english_question
from shaketable.variations.english.indirect import tidy
from shaketable.variations.english.learner_errors import VERBAL, Kind, errors_in
from shaketable.variations.gate.proposals import Proposal
from shaketable.variations.gate.refusal import Refusal
from shaketable.variations.gate.reworded import RULES, Reworded

SHARES: dict[Kind, int] = {
    "article": 15, "number": 8, "tense": 7, "preposition": 5, "agreement": 3, "verb_form": 3, "word_order": 2,
}  # fmt: skip
"""Percent of all errors in NUCLE, a corpus of essays by learners, rounded to whole percents from the table of error
types in Ng et al. (2014), The CoNLL-2014 shared task on grammatical error correction: ArtOrDet, Nn, Vt, Prep, SVA,
Vform, and WOinc with WOadv. Other kinds (wrong words, links, spelling, punctuation) are not made here."""


@dataclass(frozen=True, kw_only=True)
class Grammar(Reworded):
    """One or more errors, their kinds drawn by their shares in a corpus of learners among those that apply.

    What a rule makes is an error by construction, and the provenance tells what the checker says of it; what a model
    makes is asked only if the checker finds an error that the original does not have.
    """

    version: ClassVar[int] = 4
    prompts: ClassVar[tuple[Template, ...]] = (REWORD_GRAMMAR,)
    is_natural: ClassVar[bool] = False
    works_by_words: ClassVar[bool] = True
    retries_unchecked: ClassVar[bool] = True

    checker: str = grammar_checker.HARPER
    """`harper`, or the address of a LanguageTool server, such as `http://localhost:8081`."""
    n_errors: int = 2
    """That rules make in a question, each of another kind, or as many as apply."""
    seen_by_search: bool = False
    """Whether rules make errors alone that change the search terms: a missing article does not."""

    def __post_init__(self) -> None:
        Reworded.__post_init__(self)
        if self.n_errors < 1:
            raise ValueError(f"n_errors is {self.n_errors}, expected 1 or more")

    @property
    def packages(self) -> tuple[str, ...]:
        checked = () if self.by_words else self._checker_packages
        return tuple(dict.fromkeys((*super().packages, *checked)))

    @property
    def _full_packages(self) -> tuple[str, ...]:
        return (*super()._full_packages, *self._checker_packages)

    @property
    def _checker_packages(self) -> tuple[str, ...]:
        return (grammar_checker.HARPER,) if self.checker == grammar_checker.HARPER else ()

    def wordings(self, question: Question) -> Sequence[Proposal]:
        text = tidy(question.text)
        if self.by_words:
            return self._drawn_of(question, text, self._seen(text, by_words.errors_in(text)))
        words = [word for word in language.parsed(text, self.pipeline) if word.text.strip()]
        if not is_english_question(text, words) or is_about_words(words):
            return []
        return self._drawn_of(question, text, self._seen(text, errors_in(text, words)))

    def _drawn_of(self, question: Question, text: str, possible: Mapping[Kind, Sequence[Error]]) -> Sequence[Proposal]:
        rng = self.dice(question)
        drawn = [_drawn(possible, self.n_errors, rng) for _ in range(self.max_attempts)] if possible else []
        return [_proposal(text, errors) for errors in dict.fromkeys(drawn)]

    def _seen(self, text: str, errors_by_kind: Mapping[Kind, list[Error]]) -> dict[Kind, list[Error]]:
        """The errors of each kind; only those that a search sees, if there are any or they are asked for."""
        made: dict[Kind, list[Error]] = {}
        for kind, errors in errors_by_kind.items():
            seen = [error for error in errors if _changes_terms(text, applied(text, [error]))]
            if seen or not self.seen_by_search:
                made[kind] = seen or errors
        return made

    def checked(self, original: str, proposal: Proposal) -> Proposal:
        if self.by_words:
            return replace(
                proposal, facts={**proposal.facts, "changes_search_terms": _changes_terms(original, proposal.text)}
            )
        before = {(flag.rule, flag.text) for flag in grammar_checker.check(original, self.checker)}
        new = [
            flag for flag in grammar_checker.check(proposal.text, self.checker) if (flag.rule, flag.text) not in before
        ]
        name = grammar_checker.described(self.checker)
        facts: dict[str, Json] = {
            **proposal.facts,
            "checker": name,
            "checker_rule": new[0].rule if new else None,
            "changes_search_terms": _changes_terms(original, proposal.text),
        }
        if self.by != RULES and not new:
            refusal = Refusal(kind="no_error_found", text=f"the checker finds no error: {name}")
            return replace(proposal, facts=facts, refused=refusal)
        return replace(proposal, facts=facts)


def _changes_terms(original: str, wording: str) -> bool:
    return set(terms(original)) != set(terms(wording))


def _drawn(possible: Mapping[Kind, Sequence[Error]], n: int, rng: random.Random) -> tuple[tuple[Kind, Error], ...]:
    """Up to n errors of different kinds that leave each other alone, in the order of their kinds."""
    chosen: list[tuple[Kind, Error]] = []
    for _ in range(n):
        made = {kind for kind, _ in chosen}
        left = {
            kind: fitting
            for kind, errors in possible.items()
            if kind not in made
            and not (kind in VERBAL and made & VERBAL)
            and (fitting := [error for error in errors if not any(error.overlaps(other) for _, other in chosen)])
        }
        if not left:
            break
        (kind,) = rng.choices(list(left), [SHARES[kind] for kind in left])
        chosen.append((kind, rng.choice(left[kind])))
    return tuple(sorted(chosen, key=lambda pair: (pair[0], pair[1].edits[0].start)))


def _proposal(text: str, errors: Sequence[tuple[Kind, Error]]) -> Proposal:
    facts: dict[str, Json] = {
        "kinds": [kind for kind, _ in errors],
        "rules": [error.rule for _, error in errors],
        "errors": [described(text, error) for _, error in errors],
    }
    return Proposal(text=applied(text, [error for _, error in errors]), facts=facts)
