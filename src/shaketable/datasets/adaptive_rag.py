"""The 500-question test sets of Adaptive-RAG (Jeong et al., NAACL 2024), which AdaRAGUE and others share."""

from __future__ import annotations

import ast
import re
from typing import Any

from pydantic import AliasChoices, BaseModel, Field, field_validator

from shaketable.datasets.reading.gather import gather, needed
from shaketable.datasets.reading.rows import Row, every_sentence, fields_of, make_question, scan_rows, text_paragraph
from shaketable.types import Loaded, Question

ADVICE = (
    "Known layouts: JSON lines with 'qid', 'question_text' and 'reference', the CSV files of AdaRAGUE, and the "
    "test_subsampled.jsonl files of the project Adaptive-RAG."
)
_PRINTED = re.compile(r"""('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|\})(\s+(?=['"{]))?""", re.DOTALL)
"""A printed text or the end of an object, and the gap before the next one."""


class _Paragraph(BaseModel):
    title: str
    paragraph_text: str
    is_supporting: bool = False


class _Answers(BaseModel):
    spans: list[str] = []


class _Record(BaseModel):
    id: str = Field(validation_alias=AliasChoices("qid", "question_id"))
    question: str = Field(validation_alias=AliasChoices("question_text", "question"))
    dataset: str | None = None
    type: str | None = None
    level: str | None = None
    reference: list[str] = []
    answers: list[_Answers] = Field([], validation_alias=AliasChoices("answer_objects", "answers_objects"))
    context: list[_Paragraph] = Field([], validation_alias=AliasChoices("context", "contexts"))

    @field_validator("reference", "answers", "context", mode="before")
    @classmethod
    def _parse(cls, value: Any) -> Any:
        return parse_printed_array(value) if isinstance(value, str) else value


def load_adaptive_rag(path: str | None = None) -> Loaded:
    """The 500-question test sets of Adaptive-RAG: NQ, SQuAD, TriviaQA, MuSiQue, HotpotQA or 2WikiMultiHopQA."""
    file = needed(path, "adaptive_rag", ADVICE)
    return gather(scan_rows(file, tables=True), _question, name=file.name, advice=ADVICE)


def _question(row: Row) -> Question:
    record = fields_of(row, _Record)
    passages = [
        (text_paragraph(paragraph.title, paragraph.paragraph_text), paragraph.is_supporting)
        for paragraph in record.context
        if paragraph.paragraph_text.strip()
    ]
    documents = {document.id: document for document, _ in passages}
    gold = dict.fromkeys(document.id for document, is_supporting in passages if is_supporting)
    spans = [span for answer in record.answers for span in answer.spans]
    answers = [*record.reference, *spans]
    # The files list accepted answers in no order: the first of several is not the canonical one.
    canonical = False if len(set(answers)) > 1 else None
    return make_question(
        id=record.id,
        text=record.question,
        answers=answers,
        dataset="adaptive_rag",
        documents=tuple(documents.values()),
        facts=every_sentence(documents[id] for id in gold),
        n_facts=len(gold),
        tags={"subset": record.dataset, "type": record.type, "level": record.level, "canonical": canonical},
    )


def parse_printed_array(text: str) -> Any:
    """A cell that holds a NumPy array as it prints: no commas between members, `array([...], dtype=object)` inside."""
    with_commas = _PRINTED.sub(lambda match: match[1] + ("," if match[2] else ""), text)
    try:
        tree = _Unwrapped().visit(ast.parse(with_commas.strip(), mode="eval"))
        return ast.literal_eval(tree)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise ValueError(f"is {text[:60]!r}, expected a printed list") from None


class _Unwrapped(ast.NodeTransformer):
    """`array([...], dtype=object)` becomes the list inside."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        is_array = isinstance(node.func, ast.Name) and node.func.id == "array" and len(node.args) == 1
        return node.args[0] if is_array else node
