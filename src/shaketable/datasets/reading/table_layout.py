"""A row of a table with a column `question` → a question: of a CSV file, or of a data frame."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence

from shaketable.datasets.reading.gather import id_from, parse_printed_list
from shaketable.datasets.reading.rows import (
    Row,
    RowError,
    every_sentence,
    make_question,
    passage,
    split_sentences,
)
from shaketable.errors import DataError, did_you_mean
from shaketable.types import Question, Rejected

KNOWN = ("question", "answer", "context", "id")
OTHER_NAMES = {
    **dict.fromkeys(("questions", "query", "user_input"), "question"),
    **dict.fromkeys(("answers", "reference", "ground_truth", "expected_answer"), "answer"),
    **dict.fromkeys(("contexts", "documents", "passages"), "context"),
}
"""What tables of other tools call the same; where a table has our own name too, theirs is a tag."""
TAKEN = ("n_facts", "unanswerable")
"""Tags that a column may not give."""
ADVICE = (
    "The first line names the columns, separated by commas, semicolons or tabs: question, and optionally answer "
    "(several as 'Paris | City of Light'), context (passages with an empty line between them) and id; others become "
    "tags."
)


def cells_of(row: Row | Rejected, name: str) -> tuple[Row, dict[str, str]]:
    """A row with its cells by our names."""
    if isinstance(row, Rejected):
        hint = "Put quotation marks around a cell that holds a comma" if "cells" in row.reason else "Mend the line"
        raise DataError(f'{row.where}: {row.reason} {hint}: "Paris, France".')
    if not row.has_cells or not isinstance(row.value, dict):
        raise DataError(f"{name}: expected a table whose first line names its columns. {ADVICE}")
    cells = _by_our_names(row.value, name)
    if "question" not in cells:
        found = ", ".join(f"'{column}'" for column in row.value)
        raise DataError(
            f"{name}: no column is named 'question'.{did_you_mean('question', cells)} Found: {found}. {ADVICE}"
        )
    return row, cells


def _by_our_names(given: Mapping[str, object], name: str) -> dict[str, str]:
    plain = {column: str(column).strip().casefold() for column in given}
    own = set(plain.values())
    cells: dict[str, str] = {}
    for column, cell in given.items():
        meant = OTHER_NAMES.get(plain[column], plain[column])
        meant = plain[column] if meant in own else meant
        if meant in cells:
            raise DataError(f"{name}: two columns are the {meant}, the second is '{column}'. Rename or take out one.")
        cells[meant] = "" if cell is None else str(cell).strip()
    return cells


def name_columns(columns: Sequence[str]) -> dict[str, str]:
    """Our name → the column, of those whose names are understood."""
    plain = {column.strip().casefold(): column for column in reversed(columns)}
    others = {ours: plain[theirs] for theirs, ours in reversed(OTHER_NAMES.items()) if theirs in plain}
    return {name: found for name in KNOWN if (found := plain.get(name) or others.get(name))}


def texts_of(cell: str, separator: str) -> list[str]:
    """The texts of a cell: a printed list, as data frames write it, or texts with a separator between them."""
    if cell.startswith("[") and cell.endswith("]"):
        with contextlib.suppress(RowError):  # Brackets may also be part of a text.
            return [text.strip() for text in parse_printed_list(cell) if text.strip()]
    return [text.strip() for text in re.split(separator, cell) if text.strip()]


def question_of_cells(row: Row, cells: Mapping[str, str]) -> Question:
    if not cells["question"]:
        raise DataError(f"{row.where}: 'question' is empty. Give the question's text, or take out the line.")
    answers = texts_of(cells.get("answer", ""), r"\|")
    if "answer" in cells and not answers:
        raise DataError(
            f"{row.where}: 'answer' is empty. Give an accepted answer, or take out the whole column: then agreement "
            "with the system's own plain answers is measured."
        )
    if taken := next((name for name in cells if name in TAKEN), None):
        raise DataError(f"{row.where}: a column is named '{taken}', which means something else here. Rename it.")
    id = cells.get("id") or id_from(cells["question"])
    texts = texts_of(cells.get("context", ""), r"\n\s*\n")
    documents = [passage(f"Context {n}", split_sentences(text), id=f"{id}/{n}") for n, text in enumerate(texts, 1)]
    return make_question(
        id=id,
        text=cells["question"],
        answers=answers,
        dataset="csv",
        documents=documents,
        facts=every_sentence(documents),
        n_facts=len(documents),
        tags={name: cell for name, cell in cells.items() if name not in KNOWN and name and cell},
    )
