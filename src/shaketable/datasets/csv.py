"""Your own questions as a table (CSV) → questions: a column `question`, and optional columns `answer` and `context`."""

from __future__ import annotations

from shaketable.datasets.reading.gather import made_ids_of
from shaketable.datasets.reading.rows import EMPTY_ROW, check_ids, corpus_of, scan_rows
from shaketable.datasets.reading.table_layout import ADVICE, cells_of, question_of_cells
from shaketable.errors import DataError, at_home
from shaketable.types import Loaded, Rejected


def load_csv(path: str | None = None) -> Loaded:
    """Read a table whose first line names the columns, separated by commas, semicolons or tabs.

    Rows without a question are left out and listed; anything else that is wrong is an error. Without a column of
    answers, only agreement with the system's own answers can be measured (`same_answer`).
    """
    if path is None:
        raise DataError(f"Dataset 'csv' needs a path: path = 'questions.csv'. {ADVICE}")
    file = at_home(path)
    rows, rejected = [], []
    for scanned in scan_rows(file, header=True):
        if isinstance(scanned, Rejected) and scanned.reason == EMPTY_ROW:
            rejected.append(scanned)
            continue
        row, cells = cells_of(scanned, file.name)
        if cells["question"]:
            rows.append((row, cells))
        else:
            rejected.append(Rejected(where=row.where, reason="the question is empty."))
    if not rows:
        raise DataError(f"{file.name}: found no questions below the header. {ADVICE}")
    questions = tuple(question_of_cells(row, cells) for row, cells in rows)
    places = [(row.where, question.id) for (row, _), question in zip(rows, questions, strict=True)]
    check_ids(places, made_ids_of(questions))
    return Loaded(questions=questions, corpus=corpus_of(questions), rejected=tuple(rejected))
