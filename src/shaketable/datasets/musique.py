"""MuSiQue (Trivedi et al., TACL 2022), Ans and Full → questions with paragraphs, the supporting ones in hop order."""

from __future__ import annotations

import re

from pydantic import BaseModel

from shaketable.datasets.reading.gather import gather, needed
from shaketable.datasets.reading.rows import (
    Row,
    RowError,
    every_sentence,
    fields_of,
    make_question,
    scan_rows,
    text_paragraph,
)
from shaketable.types import Loaded, Question

ADVICE = (
    "Known layouts: the official musique_ans or musique_full train or dev file (JSON lines, from the project musique "
    "of StonyBrookNLP), the rows of the data hub, and questions without paragraphs. Test files have no answers."
)


class _Paragraph(BaseModel):
    idx: int
    title: str
    paragraph_text: str
    is_supporting: bool = False


class _Hop(BaseModel):
    paragraph_support_idx: int | None = None
    """None in unanswerable questions, whose paragraphs are not all there."""


class _Record(BaseModel):
    id: str
    question: str
    answer: str
    answer_aliases: list[str] = []
    answerable: bool = True
    # Absent in files for closed-book use.
    paragraphs: list[_Paragraph] = []
    question_decomposition: list[_Hop] = []


def load_musique(path: str | None = None) -> Loaded:
    """MuSiQue: questions of 2 to 4 hops with twenty paragraphs, unanswerable ones of MuSiQue-Full included."""
    file = needed(path, "musique", ADVICE)
    return gather(scan_rows(file), _question, name=file.name, advice=ADVICE)


def _question(row: Row) -> Question:
    record = fields_of(row, _Record)
    documents = {
        paragraph.idx: text_paragraph(paragraph.title, paragraph.paragraph_text) for paragraph in record.paragraphs
    }
    if len({document.id for document in documents.values()}) < len(record.paragraphs):
        raise RowError("two of its paragraphs are the same, or share an idx.")
    supporting = _supporting(record)
    kind = re.match(r"(\d+)hop\d*", record.id)
    return make_question(
        # MuSiQue-Full asks each question twice under one id: with all it needs, and with paragraphs missing.
        id=record.id if record.answerable else f"{record.id}__unanswerable",
        text=record.question,
        answers=[record.answer, *record.answer_aliases],
        dataset="musique",
        documents=tuple(documents.values()),
        facts=every_sentence(documents[idx] for idx in supporting),
        n_facts=len(supporting),
        tags={
            "type": kind and kind[0],
            "hops": int(kind[1]) if kind else None,
            "unanswerable": None if record.answerable else True,
        },
    )


def _supporting(record: _Record) -> list[int]:
    """The supporting paragraphs with a text, those of the hops first, in their order."""
    flagged = [
        paragraph.idx for paragraph in record.paragraphs if paragraph.is_supporting and paragraph.paragraph_text.strip()
    ]
    hops = [hop.paragraph_support_idx for hop in record.question_decomposition]
    return list(dict.fromkeys([*(idx for idx in hops if idx in flagged), *flagged]))
