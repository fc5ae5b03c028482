"""Natural Questions, open version (Lee et al., ACL 2019) → closed-book questions, or questions with gold passages."""

from __future__ import annotations

from pydantic import AliasChoices, BaseModel, Field

from shaketable.datasets.reading.gather import gather, id_from, needed, question_and_answers
from shaketable.datasets.reading.rows import Row, every_sentence, fields_of, make_question, scan_rows, text_paragraph
from shaketable.types import Loaded, Question

ADVICE = (
    "Known layouts: the official NQ-open.dev.jsonl or NQ-open.train.jsonl (JSON lines, from the project "
    "natural-questions of Google Research), the rows of the data hub, the passages of Lost in the Middle (JSON lines "
    "with 'ctxs'), and DPR's question file (tab-separated)."
)


class _Passage(BaseModel):
    title: str
    text: str
    isgold: bool = False


class _Record(BaseModel):
    id: str | int | None = None
    question: str
    answer: list[str] = Field(validation_alias=AliasChoices("answer", "answers"))
    ctxs: list[_Passage] = []


def load_nq_open(path: str | None = None) -> Loaded:
    """Natural Questions, open version: real search queries, with gold passages where a file has them."""
    file = needed(path, "nq_open", ADVICE)
    return gather(scan_rows(file, tables=True), _question, name=file.name, advice=ADVICE)


def _question(row: Row) -> Question:
    if isinstance(row.value, list):
        question, answers = question_and_answers(row.value)
        record = _Record(question=question, answer=answers)
    else:
        record = fields_of(row, _Record)
    passages = [
        (text_paragraph(passage.title, passage.text), passage.isgold) for passage in record.ctxs if passage.text.strip()
    ]
    documents = {document.id: document for document, _ in passages}
    gold = dict.fromkeys(document.id for document, is_gold in passages if is_gold)
    return make_question(
        id=id_from(record.question) if record.id is None else str(record.id),
        text=record.question,
        answers=record.answer,
        dataset="nq_open",
        documents=tuple(documents.values()),
        facts=every_sentence(documents[id] for id in gold),
        n_facts=len(gold),
        tags={},
    )
