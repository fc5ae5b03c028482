"""TriviaQA (Joshi et al., ACL 2017) in each of its layouts → closed-book questions with all aliases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import AliasChoices, BaseModel, Field

from shaketable.datasets.reading.gather import gather, id_from, needed, question_and_answers
from shaketable.datasets.reading.rows import Row, RowError, fields_of, make_question, nested, scan_rows
from shaketable.types import Json, Loaded, Question, Rejected

ADVICE = (
    "Known layouts: an official train or dev file of TriviaQA, rc or unfiltered (one JSON object with 'Data', from the "
    "TriviaQA page of the University of Washington), the rows of the data hub, JSON lines with 'question' and "
    "'answers', and DPR's question file (tab-separated). Test files have no answers."
)


class _Answer(BaseModel):
    value: str = Field(validation_alias=AliasChoices("Value", "value"))
    aliases: list[str] = Field([], validation_alias=AliasChoices("Aliases", "aliases"))
    human_answers: list[str] = Field([], validation_alias=AliasChoices("HumanAnswers", "human_answers"))
    type: str | None = Field(None, validation_alias=AliasChoices("Type", "type"))


class _Record(BaseModel):
    """A record of the official files, or of the data hub."""

    id: str = Field(validation_alias=AliasChoices("QuestionId", "question_id"))
    question: str = Field(validation_alias=AliasChoices("Question", "question"))
    answer: _Answer = Field(validation_alias=AliasChoices("Answer", "answer"))
    domain: str | None = None
    split: str | None = None


class _Plain(BaseModel):
    id: str | int | None = None
    question: str
    answers: list[str]


def load_triviaqa(path: str | None = None) -> Loaded:
    """TriviaQA: trivia questions with all aliases of the answer, the canonical value first where a file names it."""
    file = needed(path, "triviaqa", ADVICE)
    return gather(_rows(file), _question, name=file.name, advice=ADVICE)


def _rows(file: Path) -> Iterator[Row | Rejected]:
    for row in scan_rows(file, tables=True):
        if isinstance(row, Row) and isinstance(row.value, dict) and "Data" in row.value:
            of_file = {"domain": row.value.get("Domain"), "split": row.value.get("Split")}
            for record in nested(row, "Data"):
                if isinstance(record, Row) and isinstance(record.value, dict):
                    yield Row(where=record.where, value=of_file | record.value)
                else:
                    yield record
        else:
            yield row


def _question(row: Row) -> Question:
    if isinstance(row.value, list):
        question, answers = question_and_answers(row.value)
        return _trivia_question(id_from(question), question, answers, _unordered(answers))
    if isinstance(row.value, dict) and "answers" in row.value:
        plain = fields_of(row, _Plain)
        id = id_from(plain.question) if plain.id is None else str(plain.id)
        return _trivia_question(id, plain.question, plain.answers, _unordered(plain.answers))
    record = fields_of(row, _Record)
    answer = record.answer
    # The files of the test split on the data hub have this in place of an answer.
    if answer.value == "<unk>":
        raise RowError("it has no accepted answer.")
    tags: dict[str, Json] = {"answer_type": answer.type, "domain": record.domain, "split": record.split}
    return _trivia_question(record.id, record.question, [answer.value, *answer.aliases, *answer.human_answers], tags)


def _unordered(answers: list[str]) -> dict[str, Json]:
    """These layouts list the aliases in no order: the first of several is not the canonical value."""
    return {"canonical": False if len(set(answers)) > 1 else None}


def _trivia_question(id: str, text: str, answers: list[str], tags: dict[str, Json]) -> Question:
    return make_question(id=id, text=text, answers=answers, dataset="triviaqa", documents=(), facts=(), tags=tags)
