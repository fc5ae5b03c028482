"""One JSON object in the layout of `docs/data.md` → a question: of a line of a file, or handed over in Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic import BaseModel, ConfigDict, StrictInt

from shaketable.datasets.reading.rows import (
    Fact,
    Row,
    checked,
    every_sentence,
    make_question,
    passage,
    split_sentences,
    trouble,
)
from shaketable.errors import DataError
from shaketable.identity import digest_text
from shaketable.types import Passage, Question

ADVICE = "`shaketable docs data` shows the layout."


class JsonDocument(BaseModel):
    model_config = ConfigDict(extra="forbid")

    title: str
    sentences: list[str] | None = None
    text: str | None = None


class JsonFields(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    id: str | StrictInt | None = None
    question: str
    answers: list[str] = []
    type: str | None = None
    level: str | None = None
    tags: dict[str, str | int | float | bool | None] = {}
    documents: list[JsonDocument] = []
    facts: list[tuple[str, StrictInt]] = []
    reference: str | None = None


def question_of_object(row: Row) -> Question:
    fields = checked(row, JsonFields, ADVICE)
    if not fields.question.strip():
        raise DataError(f"{row.where}: 'question' is empty. Give the question's text.")
    _check_answers(row.where, fields)
    if taken := {"type", "level", "n_facts"} & fields.tags.keys():
        raise DataError(
            f"{row.where}: 'tags' holds '{min(taken)}'. Write type and level beside 'question'; n_facts is counted."
        )
    documents = [_document(row.where, document) for document in fields.documents]
    facts = _facts(row.where, fields, documents)
    if reason := trouble(facts, documents):
        raise DataError(f"{row.where}: {reason}. Facts are [title, sentence index from 0]. {ADVICE}")
    question = make_question(
        # The text names a question without an id, so moving lines changes nothing.
        id=str(fields.id) if fields.id is not None else digest_text(fields.question.strip())[:16],
        text=fields.question,
        answers=fields.answers,
        dataset="jsonl",
        documents=documents,
        facts=facts,
        n_facts=len(fields.facts),
        tags={**fields.tags, "type": fields.type, "level": fields.level},
    )
    return replace(question, reference=fields.reference)


def _facts(where: str, fields: JsonFields, documents: Sequence[Passage]) -> list[Fact]:
    """As the row names them; [title, 0] of a document that came as one text means all of it."""
    came_whole = {given.title for given in fields.documents if given.sentences is None}
    whole = {document.title: document for document in documents if document.title in came_whole and document.sentences}
    facts: list[Fact] = []
    for title, index in fields.facts:
        if title in whole and index != 0:
            raise DataError(
                f"{where}: the fact ['{title}', {index}] names a sentence of a document that came as one text. Write "
                f"['{title}', 0] for all of it, or give the document's 'sentences'. {ADVICE}"
            )
        facts += every_sentence([whole[title]]) if title in whole else [(title, index)]
    return facts


def _check_answers(where: str, fields: JsonFields) -> None:
    unanswerable = bool(fields.tags.get("unanswerable"))
    if unanswerable and fields.answers:
        raise DataError(
            f"{where}: tagged 'unanswerable' with {len(fields.answers)} answers. Leave out the tag or the answers."
        )
    if not unanswerable and not fields.answers:
        raise DataError(f"{where}: 'answers' is empty. Give an accepted answer, or tag the question 'unanswerable'.")
    if not all(answer.strip() for answer in fields.answers):
        raise DataError(f"{where}: 'answers' holds an empty text. Take it out.")


def _document(where: str, document: JsonDocument) -> Passage:
    match document.sentences, document.text:
        case list(sentences), None:
            return passage(document.title, sentences)
        case None, str(text):
            return passage(document.title, split_sentences(text))
        case _:
            raise DataError(f"{where}: the document '{document.title}' needs either 'sentences' or 'text'. {ADVICE}")
