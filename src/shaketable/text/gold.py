"""Whether a search brought what supports the answer: the one meaning of a gold hit."""

from __future__ import annotations

from collections.abc import Iterable

from shaketable.text.plain import title_key
from shaketable.types import Question


def gold_among(question: Question, titles: Iterable[str]) -> set[str] | None:
    """Return the supporting documents among those with these titles (`title_key`); None: the question names none."""
    gold = {*map(title_key, question.gold_titles or _titles_of_facts(question))}
    return gold & {*map(title_key, titles)} if gold else None


def _titles_of_facts(question: Question) -> list[str]:
    """Of the documents that hold a supporting sentence."""
    supporting = set(question.supporting)
    return [
        document.title
        for document in question.documents
        if any(sentence.id in supporting for sentence in document.sentences)
    ]
