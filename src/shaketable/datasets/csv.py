"""Your own questions as a table (CSV) → questions: a column `question`, and if there are any `answer` and `context`."""

from __future__ import annotations

from shaketable.datasets.reading.gather import made_ids_of
from shaketable.datasets.reading.rows import check_ids, corpus_of, scan_rows
from shaketable.datasets.reading.table_layout import ADVICE, cells_of, question_of_cells
from shaketable.errors import DataError, at_home
from shaketable.types import Loaded


def load_csv(path: str | None = None) -> Loaded:
    """The questions of a table with a header. Nothing is rejected: what is wrong is an error.

    Without a column of answers, agreement with the system's own answers is all that can be measured (`same_answer`).
    """
    if path is None:
        raise DataError(f"Dataset 'csv' needs a path: path = 'questions.csv'. {ADVICE}")
    file = at_home(path)
    rows = [cells_of(row, file.name) for row in scan_rows(file, tables=True)]
    if not rows:
        raise DataError(f"{file.name}: found no questions below the header. {ADVICE}")
    questions = tuple(question_of_cells(row, cells) for row, cells in rows)
    places = [(row.where, question.id) for (row, _), question in zip(rows, questions, strict=True)]
    check_ids(places, made_ids_of(questions))
    return Loaded(questions=questions, corpus=corpus_of(questions))
