"""SQuAD 1.1 and 2.0 (Rajpurkar et al., EMNLP 2016, ACL 2018) → questions with their paragraph, split into sentences."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, field_validator

from shaketable.datasets.reading.gather import gather, needed
from shaketable.datasets.reading.rows import Row, RowError, fields_of, make_question, nested, paragraph, scan_rows
from shaketable.datasets.reading.sentences import sentence_bounds
from shaketable.types import Loaded, Passage, Question, Rejected

ADVICE = (
    "Known layouts: the official train or dev file of SQuAD 1.1 or 2.0 (one JSON object with 'data', from the SQuAD "
    "explorer page), the rows of the data hub (Parquet or JSON lines), and JSON lines with 'context', 'question' and "
    "'answers'."
)


class _Answer(BaseModel):
    text: str
    answer_start: int = -1
    """The character of the context at which it begins; -1: not said."""


class _Record(BaseModel):
    id: str
    title: str = ""
    context: str = ""
    """Empty: the question is for closed-book use."""
    question: str
    answers: list[_Answer] = []
    is_impossible: bool = False

    @field_validator("answers", mode="before")
    @classmethod
    def _join_answers(cls, value: Any) -> Any:
        """The data hub stores the answers as two columns."""
        if not isinstance(value, dict) or not isinstance(value.get("text"), list):
            return value
        texts, starts = value["text"], value.get("answer_start") or [-1] * len(value["text"])
        if not isinstance(starts, list):
            raise ValueError("has an answer_start that is no list, beside a list of texts")
        if len(texts) != len(starts):
            raise ValueError(f"has {len(texts)} values of text and {len(starts)} of answer_start")
        return [{"text": text, "answer_start": start} for text, start in zip(texts, starts, strict=True)]


def load_squad(path: str | None = None, *, empty_is_unanswerable: bool = False) -> Loaded:
    """SQuAD 1.1 and 2.0: questions about a paragraph, the sentences that hold the answer as facts.

    `empty_is_unanswerable`: a row without answers is a question that has none. SQuAD 2.0 on the data
    hub says it no other way; the official files do, so there an empty list is a mistake.
    """
    file = needed(path, "squad", ADVICE)
    return gather(_rows(file), lambda row: _question(row, empty_is_unanswerable), name=file.name, advice=ADVICE)


def _rows(file: Path) -> Iterator[Row | Rejected]:
    for row in scan_rows(file):
        if isinstance(row, Row) and isinstance(row.value, dict) and "data" in row.value:
            for article in nested(row, "data"):
                yield from _questions_of(article)
        else:
            yield row


def _questions_of(article: Row | Rejected) -> Iterator[Row | Rejected]:
    if isinstance(article, Rejected):
        yield article
        return
    for piece in nested(article, "paragraphs"):
        if isinstance(piece, Rejected):
            yield piece
            continue
        for asked in nested(piece, "qas"):
            if isinstance(asked, Row) and isinstance(asked.value, dict):
                above = {"title": article.value.get("title", ""), "context": piece.value.get("context", "")}
                yield Row(where=asked.where, value=above | asked.value)
            else:
                yield asked


def _question(row: Row, empty_is_unanswerable: bool) -> Question:
    record = fields_of(row, _Record)
    unanswerable = record.is_impossible or (empty_is_unanswerable and not record.answers)
    title = record.title.replace("_", " ")
    document, bounds = _document(title, record.context)
    first, last = (0, 0) if unanswerable or not record.answers or not document.sentences else _span(record)
    return make_question(
        id=record.id,
        text=record.question,
        answers=[answer.text for answer in record.answers],
        dataset="squad",
        documents=(document,) if document.sentences else (),
        facts=[(document.id, index) for index, (start, end) in enumerate(bounds) if start < last and first < end],
        tags={"article": title or None, "unanswerable": unanswerable or None},
    )


@functools.lru_cache(maxsize=256)
def _document(title: str, context: str) -> tuple[Passage, list[tuple[int, int]]]:
    """A paragraph and where its sentences stand; kept, because several questions in a row share one."""
    bounds = sentence_bounds(context)
    return paragraph(title, [context[start:end] for start, end in bounds]), bounds


def _span(record: _Record) -> tuple[int, int]:
    """Where the first answer stands in the context: as the file says, or its first occurrence if that is wrong."""
    answer = record.answers[0]
    text = answer.text.strip()
    start = answer.answer_start
    if start < 0 or not record.context[start:].lstrip().startswith(text):
        start = record.context.find(text)
    if start < 0:
        raise RowError(f"the answer {text[:60]!r} does not stand in the context.")
    return start, start + len(text)
