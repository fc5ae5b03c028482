"""Rows → a loaded dataset: a broken row is left out and listed with its reason, so one never stops thousands."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from shaketable.datasets.reading.rows import Row, RowError, corpus_of, format_repeated
from shaketable.errors import DataError, at_home
from shaketable.identity import digest_text
from shaketable.text.plain import NORMALIZATIONS
from shaketable.types import Loaded, Question, Rejected, Remark

_LASTING = re.compile(r"[^\W_]{4}")
ID_KEYS = ("_id", "id", "qid", "question_id", "QuestionId")


def needed(path: str | None, dataset: str, advice: str) -> Path:
    """The file to read, or which one to get."""
    if path is None:
        raise DataError(f"Dataset '{dataset}' needs a path: path = 'FILE'. {advice}")
    return at_home(path)


def gather(
    rows: Iterable[Row | Rejected],
    make: Callable[[Row], Question],
    *,
    name: str,
    advice: str,
    has_answers: bool = True,
) -> Loaded:
    """The questions that `make` builds from the rows of `name`; an error only where none is left.

    `make` raises `RowError` for a row that cannot become a question. What holds for every dataset is
    checked here: texts, accepted answers (where the dataset has any), ids.
    """
    questions: dict[str, Question] = {}
    places: dict[str, str] = {}
    rejected: list[Rejected] = []
    remarks: list[Remark] = []
    for row in rows:
        if isinstance(row, Rejected):
            rejected.append(row)
            continue
        where = _named(row)
        try:
            question, dropped = _with_usable_answers(make(row)) if has_answers else (make(row), [])
            if not question.text:
                raise RowError("the question is empty.")
            if question.id in places:
                raise RowError(f"{format_repeated(question.id, places[question.id], made_ids_of([question]))}.")
        except RowError as error:
            rejected.append(Rejected(where=where, reason=str(error)))
            continue
        places[question.id] = row.where
        questions[question.id] = question
        remarks += [Remark(where=where, text=text) for text in dropped]
        if question.tags.get("unresolved"):
            remarks.append(
                Remark(where=where, text="Its facts do not all name a sentence, so it has no gold evidence.")
            )
    if not questions:
        first = f"{rejected[0].where}: {rejected[0].reason}" if rejected else "it has no rows."
        raise DataError(f"{name}: no question is left of {len(rejected)}. First, {first} {advice}")
    kept = tuple(questions.values())
    return Loaded(questions=kept, rejected=tuple(rejected), corpus=corpus_of(kept), remarks=tuple(remarks))


def id_from(text: str) -> str:
    """The text names a question that has no id, so moving lines changes nothing."""
    return digest_text(text.strip())[:16]


def made_ids_of(questions: Iterable[Question]) -> set[str]:
    """The ids that were made of the texts of their questions."""
    return {question.id for question in questions if question.id == id_from(question.text)}


def parse_printed_list(text: str) -> list[str]:
    """The texts of a list as Python prints it: `['a', "b's"]`."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        value = None
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise RowError(f"the answers are {text[:60]!r}, expected a printed list such as ['Paris', 'City of Light'].")
    return value


def question_and_answers(cells: Sequence[object]) -> tuple[str, list[str]]:
    """A line of the question files of DPR (Karpukhin et al., EMNLP 2020): a question, a tab, a printed list."""
    if len(cells) != 2:
        raise RowError(f"found {len(cells)} cells, expected a question and a list of answers.")
    question, answers = cells
    if not isinstance(question, str) or not isinstance(answers, str):
        raise RowError("found a list of other values, expected a question and a list of answers, both as texts.")
    return question, parse_printed_list(answers)


def _with_usable_answers(question: Question) -> tuple[Question, list[str]]:
    """The question with each accepted answer once, and a sentence for each that was dropped.

    An answer that a normalization turns into nothing cannot be compared: exact match would accept
    an empty reply for it.
    """
    if question.tags.get("unanswerable"):
        return replace(question, answers=()), []
    given = list(dict.fromkeys(answer for answer in question.answers if answer))
    if not given:
        raise RowError("it has no accepted answer.")
    dropped = {answer: name for answer in given if (name := _emptied_by(answer))}
    usable = tuple(answer for answer in given if answer not in dropped)
    sentences = [
        f"The accepted answer {answer!r} was dropped: nothing is left of it under the normalization '{name}'."
        for answer, name in dropped.items()
    ]
    if not usable:
        listed = ", ".join(map(repr, dropped))
        raise RowError(f"nothing is left of {listed} under the normalization '{next(iter(dropped.values()))}'.")
    return replace(question, answers=usable), sentences


def _emptied_by(answer: str) -> str | None:
    # No normalization deletes four letters in a row; long lists of aliases are done in an instant.
    if _LASTING.search(answer):
        return None
    return next((name for name, normalize in NORMALIZATIONS.items() if not normalize(answer).strip()), None)


def _named(row: Row) -> str:
    """Where a row stands, with its id if it has one."""
    fields: dict[str, Any] = row.value if isinstance(row.value, dict) else {}
    id = next((fields[key] for key in ID_KEYS if isinstance(fields.get(key), str | int)), None)
    return row.where if id is None else f"{row.where} ({id})"
