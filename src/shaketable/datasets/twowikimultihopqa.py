"""2WikiMultiHopQA (Ho et al., COLING 2020) in each of its layouts → questions with documents and facts."""

from __future__ import annotations

from shaketable.datasets.reading.gather import gather, needed
from shaketable.datasets.reading.rows import Row, fields_of, scan_rows
from shaketable.datasets.reading.titled_sentences import TitledRecord, Unresolved, check_unresolved, titled_question
from shaketable.types import Loaded, Question

ADVICE = (
    "Known layouts: the official train.json or dev.json of 2WikiMultiHopQA (a JSON array, from the project "
    "2wikimultihop of Alab-NII), the same records as JSON lines, and the rows of the data hub (Parquet or JSON lines). "
    "Test files have no answers."
)


def load_twowikimultihopqa(path: str | None = None, *, unresolved: Unresolved = "reject") -> Loaded:
    """2WikiMultiHopQA: comparison, inference and compositional questions with documents and facts."""
    check_unresolved(unresolved)
    file = needed(path, "2wikimultihopqa", ADVICE)
    return gather(scan_rows(file), lambda row: _question(row, unresolved), name=file.name, advice=ADVICE)


def _question(row: Row, unresolved: Unresolved) -> Question:
    record = fields_of(row, TitledRecord)
    return titled_question(record, dataset="2wikimultihopqa", unresolved=unresolved, tags={"type": record.type})
