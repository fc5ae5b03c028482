"""The cases a report shows in full: questions that lost most, with their evidence, answers and how these fail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import polars as pl

from shaketable.report.case import Case, CaseAnswer
from shaketable.report.content import extreme_systems, named_evidence, rows_of
from shaketable.report.old_words import number
from shaketable.types import OldFinding, Question, Record

Row = Mapping[str, Any]


class Store(Protocol):
    def records_of(self, keys: Sequence[str]) -> Iterable[Record]: ...
    def questions(self) -> list[Question]: ...


def cases_of(findings: Sequence[OldFinding], store: Store, judged: pl.DataFrame) -> list[Case]:
    """The choice of the analysis `cases`, of at most two systems, a different disturbance each time; else none.

    `judged` are scores of the metric that tells right from wrong.
    """
    systems = extreme_systems(findings)
    rows = [
        row
        for finding in findings
        for row in rows_of(finding)
        if finding.analysis == "cases" and row["value"] is not None and row["value"] > 0
        if not systems or row["system"] in systems
    ]
    if not rows:
        return []
    keys = [key for row in rows for key in (*row["keys_original"], *row["keys_disturbed"])]
    records = {record.trial.key: record for record in store.records_of(keys)}
    questions = {question.id: question for question in store.questions()}
    correct = dict(judged.select("key", "value").iter_rows())
    turns: dict[tuple[Any, ...], int] = {}
    ordered = []
    for row in sorted(rows, key=lambda row: (row["temperature"], -row["value"])):
        place = row["system"], row["temperature"], row["perturbation"]
        turn = turns[place] = turns.get(place, -1) + 1
        ordered.append((turn, row))
    ordered.sort(key=lambda one: one[0])
    return [_case(row, records, questions, correct) for _, row in ordered if _is_whole(row, records)]


def _is_whole(row: Row, records: Mapping[str, Record]) -> bool:
    return all(key in records for key in (*row["keys_original"], *row["keys_disturbed"]))


def _case(
    row: Row, records: Mapping[str, Record], questions: Mapping[str, Question], correct: Mapping[str, float | None]
) -> Case:
    sides = {name: [records[key] for key in row[f"keys_{name}"]] for name in ("original", "disturbed")}
    question = questions[row["question_id"]]
    before, after = (
        number(row[name], row["unit"]) + (" %" if row["unit"] == "share" else "") for name in ("original", "disturbed")
    )
    type_ = f", {row['type']}" if row["type"] else ""
    return Case(
        question=question.text,
        wording=sides["original"][0].trial.variant.text,
        gold=question.answers,
        evidence_before=_evidence(sides["original"]),
        evidence_after=_evidence(sides["disturbed"]),
        perturbation=row["perturbation"],
        headline=f"{row['system']}{type_}: {named_evidence(row['perturbation'])} at temperature "
        f"{row['temperature']:g} takes {row['metric']} from {before} to {after}.",
        answers=tuple(
            CaseAnswer(
                temperature=record.trial.temperature,
                perturbation=record.trial.perturbation,
                text=record.answer.text if record.answer else "",
                failure=record.failure.kind if record.failure else None,
                correct=correct.get(record.trial.key),
                tags=tuple(tags),
            )
            for name, of_one in sides.items()
            for record, tags in zip(of_one, row[f"tags_{name}"] or [()] * len(of_one), strict=True)
        ),
    )


def _evidence(records: Sequence[Record]) -> str:
    return next((" ".join(hit.passage.text for hit in record.answer.hits) for record in records if record.answer), "")
