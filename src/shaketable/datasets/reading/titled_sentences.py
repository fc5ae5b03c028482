"""The record of HotpotQA, which 2WikiMultiHopQA took over: titled lists of sentences, facts as [title, index]."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, get_args

from pydantic import AliasChoices, BaseModel, Field, StrictInt, field_validator

from shaketable.datasets.reading.rows import RowError, make_question, passage, trouble
from shaketable.errors import DataError
from shaketable.types import Json, Question

Unresolved = Literal["reject", "keep"]
"""What becomes of a record whose facts do not each name a sentence."""


class TitledRecord(BaseModel):
    id: str = Field(validation_alias=AliasChoices("_id", "id"))
    question: str
    answer: str
    type: str | None = None
    level: str | None = None
    # Absent in files for closed-book use.
    supporting_facts: list[tuple[str, StrictInt]] = []
    context: list[tuple[str, list[str]]] = []

    @field_validator("supporting_facts", mode="before")
    @classmethod
    def _join_facts(cls, value: Any) -> Any:
        return _pairs(value, "title", "sent_id")

    @field_validator("context", mode="before")
    @classmethod
    def _join_context(cls, value: Any) -> Any:
        return _pairs(value, "title", "sentences", "content")


def check_unresolved(value: str) -> None:
    if value not in get_args(Unresolved):
        raise DataError(f"unresolved is {value!r}, expected 'reject' or 'keep'.")


def _pairs(value: Any, left: str, *rights: str) -> Any:
    """The data hub stores a list of pairs as two columns, or as JSON in a text."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise ValueError("is a text that is no JSON") from None
    if not isinstance(value, dict):
        return value
    right = next((name for name in rights if name in value), rights[0])
    lefts, others = value.get(left), value.get(right)
    if not isinstance(lefts, list) or not isinstance(others, list):
        return value
    if len(lefts) != len(others):
        raise ValueError(f"has {len(lefts)} values of {left} and {len(others)} of {right}")
    return list(zip(lefts, others, strict=True))


def titled_question(
    record: TitledRecord, *, dataset: str, unresolved: Unresolved, tags: Mapping[str, Json]
) -> Question:
    """The question of a record. Kept without its facts resolved, it has gold titles but no supporting sentences."""
    pages = dict.fromkeys((title, tuple(sentences)) for title, sentences in record.context)
    documents = [passage(title, sentences) for title, sentences in pages]
    reason = trouble(record.supporting_facts, documents)
    doubled = len({document.id for document in documents}) < len(documents)
    if reason and (unresolved == "reject" or doubled):
        raise RowError(f"{reason}.")
    question = make_question(
        id=record.id,
        text=record.question,
        answers=[record.answer],
        dataset=dataset,
        documents=documents,
        facts=record.supporting_facts,
        tags=tags,
    )
    if reason:
        return replace(question, supporting=(), tags={**question.tags, "unresolved": True})
    return question
