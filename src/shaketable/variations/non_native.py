"""The question as speakers of another language order it: `When was born Mozart?`, `Where capital of France is?`"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

from shaketable.prompts import REWORD_NON_NATIVE, Template
from shaketable.text import language
from shaketable.text.search_terms import terms
from shaketable.types import Json, Question
from shaketable.variations.english.edits import (
    Error,
    applied,
    described,
    is_about_words,
    is_english_question,
    outside_quotations,
)
from shaketable.variations.english.indirect import tidy
from shaketable.variations.english.learner_errors import articles, numbers
from shaketable.variations.english.question_order import Order, order_of
from shaketable.variations.english.word_orders import (
    adverb_behind,
    how_called,
    how_is_it_called,
    how_is_the_name,
    participle_before_subject,
    perfect_for_past,
    perfect_of_the_subject,
    verb_before_subject,
    what_means,
    which_is,
    without_inversion,
)
from shaketable.variations.gate.proposals import Proposal
from shaketable.variations.gate.reworded import Reworded

if TYPE_CHECKING:
    from spacy.tokens import Token

Language = Literal["chinese", "german", "slavic", "spanish"]
Turn = Callable[[Order], Error | None]
TURNS: dict[Language, dict[Turn, int]] = {
    "chinese": {without_inversion: 1},
    "german": {verb_before_subject: 1, perfect_for_past: 1, how_is_it_called: 1},
    "slavic": {without_inversion: 1},
    "spanish": {without_inversion: 1, verb_before_subject: 2, participle_before_subject: 2, how_called: 2},
}
"""Orders that a language leads to, with their weights. Which language leads to which is told by the chapters on them in
Swan and Smith (2001), Learner English: questions without inversion (Chinese, Slavic, Spanish), without `do` and with
the verb before its subject (German, Spanish), the perfect for the past (German)."""
ABOUT_WORDS: dict[Language, dict[Turn, int]] = {
    "chinese": {},
    "german": {what_means: 1},
    "slavic": {what_means: 1},
    "spanish": {what_means: 1},
}
"""Where an expression is asked about, which stays as it is."""
WITHOUT_ARTICLES: frozenset[Language] = frozenset({"chinese", "slavic"})
WITHOUT_PLURALS: frozenset[Language] = frozenset({"chinese"})
MOVED: dict[Language, tuple[Callable[[list[Token]], Error | None], ...]] = {
    "chinese": (),
    "german": (perfect_of_the_subject, how_is_the_name, adverb_behind),
    "slavic": (),
    "spanish": (which_is, adverb_behind),
}
"""What else a language leads to, wherever it applies: `cuál es`, `wie ist der Name`."""


@dataclass(frozen=True, kw_only=True)
class NonNative(Reworded):
    """Word order and omissions that a first language leads to, in the words of the question itself."""

    version: ClassVar[int] = 1
    prompts: ClassVar[tuple[Template, ...]] = (REWORD_NON_NATIVE,)
    is_natural: ClassVar[bool] = False

    language: Literal["any", "chinese", "german", "slavic", "spanish"] = "any"
    """`chinese`, `german`, `slavic`, `spanish`; `any`: drawn for each question, among those that change it."""

    def __post_init__(self) -> None:
        Reworded.__post_init__(self)
        if self.language not in ("any", *get_args(Language)):
            raise ValueError(f"language is '{self.language}', expected any or one of {', '.join(get_args(Language))}")

    def wordings(self, question: Question) -> Sequence[Proposal]:
        text = tidy(question.text)
        words = [word for word in language.parsed(text, self.pipeline) if word.text.strip()]
        if not is_english_question(text, words):
            return []
        about_words, rng = is_about_words(words), self.dice(question)
        languages = [name for name in get_args(Language) if self.language in ("any", name)]
        made: list[Proposal] = []
        for name in rng.sample(languages, len(languages)):
            turned = _turned(words, ABOUT_WORDS[name] if about_words else TURNS[name])
            drawn = rng.choices([error for error, _ in turned], [weight for _, weight in turned]) if turned else []
            if errors := outside_quotations(text, _fitting([*drawn, *([] if about_words else _left_out(words, name))])):
                # Another order says more than a missing article.
                made.insert(0 if drawn else len(made), _proposal(text, errors, name))
        return made

    def checked(self, original: str, proposal: Proposal) -> Proposal:
        changed = set(terms(original)) != set(terms(proposal.text))
        return replace(proposal, facts={**proposal.facts, "changes_search_terms": changed})


def _turned(words: list[Token], turns: dict[Turn, int]) -> list[tuple[Error, int]]:
    order = order_of(words)
    if order and not order.asked and words[-1].text != "?":
        return []  # Without its mark it would be a statement.
    return [(error, weight) for turn, weight in turns.items() if order and (error := turn(order))]


def _left_out(words: list[Token], name: Language) -> list[Error]:
    """What the language has no word or ending for, and what it says otherwise."""
    return [
        *(error for error in articles(words) if error.rule == "article_missing" and name in WITHOUT_ARTICLES),
        *(error for error in numbers(words) if name in WITHOUT_PLURALS),
        *(error for move in MOVED[name] if (error := move(words))),
    ]


def _fitting(errors: list[Error]) -> list[Error]:
    """Those that leave the ones before them alone."""
    kept: list[Error] = []
    for error in errors:
        if not any(error.overlaps(other) for other in kept):
            kept.append(error)
    return kept


def _proposal(text: str, errors: Sequence[Error], name: Language) -> Proposal:
    facts: dict[str, Json] = {
        "language": name,
        "rules": [error.rule for error in errors],
        "errors": [described(text, error) for error in errors],
    }
    return Proposal(text=applied(text, errors), facts=facts)
