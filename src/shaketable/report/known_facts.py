"""What sections on facts share: names of systems, numbers over all datasets, tables of systems."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from shaketable.factors import Cell
from shaketable.report.grouping import SomeLocated
from shaketable.report.section import Headline, Page, Table
from shaketable.report.words import Entry, format_level
from shaketable.types import Completion, Estimate, Generate, Record

ALL_DATASETS = "all datasets"


def name_system(cell: Cell, page: Page) -> str:
    """Without the dataset, over which facts are pooled."""
    return page.labels.name(cell, "perturbation", "variation")


def name_dataset(cell: Cell) -> str:
    """Of a panel."""
    return cell.dataset or ALL_DATASETS


def in_panels(values: Iterable[SomeLocated], page: Page) -> list[SomeLocated]:
    """By dataset, all of them together last, and then by system."""
    return sorted(
        values, key=lambda value: (value.cell.dataset is None, name_dataset(value.cell), name_system(value.cell, page))
    )


def make_headline(kind: str, cell: Cell, sentence: str, detail: str, page: Page) -> Headline:
    """Without a card, unless it is given a number."""
    return Headline(kind=kind, cell=cell, system=name_system(cell, page), sentence=sentence, detail=detail)


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One number of a system in a table."""

    cell: Cell
    what: str
    estimate: Estimate


def table_of_lines(title: str, lines: Sequence[Line], page: Page) -> tuple[Table, ...]:
    """None without lines."""
    rows = [
        (
            name_system(line.cell, page),
            line.cell.dataset or "all",
            line.what,
            format_level(line.estimate),
            line.estimate.n,
        )
        for line in lines
    ]
    columns = ("System", "Dataset", "", "Estimate", "Questions")
    return (Table(title=title, columns=columns, rows=tuple(rows)),) if rows else ()


def fill_table(title: str, rows: Sequence[dict[str, Entry]], *, is_folded: bool = False) -> tuple[Table, ...]:
    """Rows by the names of their columns, of which each may lack some; none without rows."""
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    filled = tuple(tuple(row.get(name) for name in columns) for row in rows)
    return (Table(title=title, columns=columns, rows=filled, is_folded=is_folded),) if rows else ()


@dataclass(frozen=True, kw_only=True, slots=True)
class GreedyAnswer:
    """What was answered at temperature 0."""

    question: str
    """The id of the question where the record is gone."""
    answer: str = ""
    tokens: tuple[str, ...] = ()


class Answered(Protocol):
    @property
    def question_id(self) -> str: ...
    @property
    def key(self) -> str | None: ...


def read_answers(facts: Sequence[Answered], page: Page) -> list[GreedyAnswer]:
    keys = [fact.key for fact in facts if fact.key]
    records = {record.trial.key: record for record in page.read_records(keys)} if keys else {}
    return [
        _greedy_answer(records[fact.key])
        if fact.key is not None and fact.key in records
        else GreedyAnswer(question=fact.question_id)
        for fact in facts
    ]


def _greedy_answer(record: Record) -> GreedyAnswer:
    replies = [event.reply for event in record.trace if isinstance(event.step, Generate)]
    return GreedyAnswer(
        question=record.trial.variant.text,
        answer=record.answer.text if record.answer else "",
        tokens=replies[-1].tokens if replies and isinstance(replies[-1], Completion) else (),
    )
