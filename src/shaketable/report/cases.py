"""The cases a report shows in full: questions that lost most, with their evidence, answers and how these fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from shaketable.analyses.evidence.cases import CaseRecord, Cases, LargestDrop
from shaketable.report.case import Case, CaseAnswer
from shaketable.report.extremes import extreme_systems, system_cell
from shaketable.report.section import Page
from shaketable.report.sections.cases import describe_ends, describe_noise
from shaketable.report.words import name_evidence
from shaketable.store.examples import PARAGRAPH
from shaketable.types import Question, Record


def make_cases(page: Page) -> list[Case]:
    """The choice of the analysis `cases`, of at most two systems, a different disturbance each time; else none."""
    result = page.result(Cases)
    systems = extreme_systems(page)
    drops = [
        drop
        for drop in (result.drops if result else ())
        if (drop.drop.value or 0.0) > 0 and (not systems or system_cell(drop.cell) in systems)
    ]
    if not drops:
        return []
    records = {record.trial.key: record for record in page.read_records([key for drop in drops for key in _keys(drop)])}
    questions = {question.id: question for question in page.read_questions({drop.question_id for drop in drops})}
    judged = page.of_metric(page.findings.judging_metric).filter(pl.col("key").is_in(list(records)))
    correct = dict(judged.select("key", "value").iter_rows())
    return [
        _case(drop, records, questions, correct, page)
        for drop in _in_turns(drops)
        if all(key in records for key in _keys(drop))
    ]


def _keys(drop: LargestDrop) -> list[str]:
    return [record.key for record in (*drop.original_records, *drop.disturbed_records)]


def _in_turns(drops: Sequence[LargestDrop]) -> list[LargestDrop]:
    """The largest of each system, temperature and disturbance before the second largest of any."""
    turns: dict[object, int] = {}
    ordered = []
    for drop in sorted(drops, key=lambda drop: (drop.cell.temperature or 0.0, -(drop.drop.value or 0.0))):
        line = system_cell(drop.cell), drop.cell.temperature, drop.cell.perturbation
        turn = turns[line] = turns.get(line, -1) + 1
        ordered.append((turn, drop))
    return [drop for _, drop in sorted(ordered, key=lambda pair: pair[0])]


def _case(
    drop: LargestDrop,
    records: Mapping[str, Record],
    questions: Mapping[str, Question],
    correct: Mapping[str, float | None],
    page: Page,
) -> Case:
    question = questions[drop.question_id]
    before, after = describe_ends(drop)
    type_ = f", {drop.cell.group}" if drop.cell.group else ""
    where = f"{name_evidence(drop.cell.perturbation)} at temperature {drop.cell.temperature:g}"
    observed = f"{where} takes {drop.metric} from {before} to {after}."
    if not drop.is_beyond_noise:
        observed = f"{drop.metric} is {after} with {where}, and {before} without. {describe_noise(drop)}"
    return Case(
        question=question.text,
        wording=records[drop.original_records[0].key].trial.variant.text,
        gold=question.answers,
        evidence_before=_evidence(drop.original_records, records),
        evidence_after=_evidence(drop.disturbed_records, records),
        perturbation=drop.cell.perturbation or "",
        question_id=drop.question_id,
        system=drop.cell.system,
        headline=f"{page.name(drop.cell)}{type_}: {observed}",
        answers=tuple(
            _answer(records[shown.key], shown.tags or (), correct.get(shown.key))
            for shown in (*drop.original_records, *drop.disturbed_records)
        ),
    )


def _answer(record: Record, tags: tuple[str, ...], correct: float | None) -> CaseAnswer:
    return CaseAnswer(
        temperature=record.trial.temperature,
        perturbation=record.trial.perturbation,
        text=record.answer.text if record.answer else "",
        failure=record.failure.kind if record.failure else None,
        correct=correct,
        tags=tags,
    )


def _evidence(shown: Sequence[CaseRecord], records: Mapping[str, Record]) -> str:
    """What the first answer that there is was given."""
    answers = (records[record.key].answer for record in shown)
    return next((PARAGRAPH.join(hit.passage.text for hit in answer.hits) for answer in answers if answer), "")
