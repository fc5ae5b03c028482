"""The questions that ship with the package: multi-hop questions with documents, and plain facts."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Literal

from pydantic import BaseModel, ConfigDict

from shaketable.datasets.reading.rows import check_ids, checked, make_question, passage, read_rows, trouble
from shaketable.errors import DataError
from shaketable.types import Loaded, Passage, Question

PARTS = ("multihop", "facts")
ADVICE = "A file of the package is damaged: install it again."


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Multihop(_Strict):
    id: str
    question: str
    answers: list[str]
    type: Literal["bridge", "comparison"]
    level: str
    facts: list[tuple[str, int]]
    documents: list[str]
    """Titles in the corpus, gold and distracting."""


class _Fact(_Strict):
    id: str
    question: str
    answers: list[str]
    type: Literal["number", "place", "person", "entity"]


class _Document(_Strict):
    title: str
    sentences: list[str]


def load_builtin(path: str | None = None, *, part: str = "multihop") -> Loaded:
    """`multihop`: bridge and comparison questions with 2 to 4 facts. `facts`: closed-book questions."""
    if path is not None:
        raise DataError(f"Dataset 'builtin' has no path, found '{path}'. Leave it out, or use the dataset 'jsonl'.")
    if part not in PARTS:
        raise DataError(f"Dataset 'builtin' has no part '{part}'. Parts: {', '.join(PARTS)}.")
    return _load_multihop() if part == "multihop" else _load_facts()


def _load_multihop() -> Loaded:
    corpus: dict[str, Passage] = {}
    for name in ("bridge_corpus.jsonl", "comparison_corpus.jsonl"):
        for row in read_rows(_data(name)):
            document = checked(row, _Document, ADVICE)
            if document.title in corpus:
                raise DataError(f"{row.where}: a second passage is titled '{document.title}'. {ADVICE}")
            corpus[document.title] = passage(document.title, document.sentences)
    questions: list[Question] = []
    places: list[str] = []
    for name in ("bridge_questions.jsonl", "comparison_questions.jsonl"):
        for row in read_rows(_data(name)):
            fields = checked(row, _Multihop, ADVICE)
            documents = [corpus[title] for title in fields.documents if title in corpus]
            if len(documents) < len(fields.documents):
                missing = next(title for title in fields.documents if title not in corpus)
                raise DataError(f"{row.where}: the document '{missing}' is not in the corpus. {ADVICE}")
            if reason := trouble(fields.facts, documents):
                raise DataError(f"{row.where}: {reason}. {ADVICE}")
            places.append(row.where)
            questions.append(
                make_question(
                    id=fields.id,
                    text=fields.question,
                    answers=fields.answers,
                    dataset="builtin",
                    documents=documents,
                    facts=fields.facts,
                    tags={"type": fields.type, "level": fields.level},
                )
            )
    check_ids(zip(places, (question.id for question in questions), strict=True))
    return Loaded(questions=tuple(questions), corpus=tuple(corpus.values()))


def _load_facts() -> Loaded:
    rows = list(read_rows(_data("facts.jsonl")))
    facts = [checked(row, _Fact, ADVICE) for row in rows]
    check_ids((row.where, fact.id) for row, fact in zip(rows, facts, strict=True))
    return Loaded(
        questions=tuple(
            make_question(
                id=fact.id,
                text=fact.question,
                answers=fact.answers,
                dataset="builtin",
                documents=(),
                facts=(),
                tags={"type": fact.type},
            )
            for fact in facts
        )
    )


def _data(name: str) -> Traversable:
    return files("shaketable") / "resources" / "questions" / name
