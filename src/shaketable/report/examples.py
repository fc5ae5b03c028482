"""A case as the page shows it: its evidence as a diff, and its answers by temperature and evidence."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from shaketable.report.case import Case, CaseAnswer
from shaketable.report.charts.few import few
from shaketable.report.words import name_evidence

Change = Literal["kept", "gone", "new"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownAnswer:
    text: str
    correct: float | None
    tags: tuple[str, ...]
    failure: str | None
    n: int = 1
    """How often it came."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownCase:
    headline: str | None
    question: str
    wording: str
    gold: tuple[str, ...]
    evidence: str
    diff: tuple[tuple[Change, str], ...]
    columns: tuple[str | None, ...]
    """Perturbations, the original first."""
    lines: tuple[tuple[float, tuple[tuple[ShownAnswer, ...], ...]], ...]
    """Temperatures, each with the answers of every column."""


def show_case(case: Case) -> ShownCase:
    columns = sorted({answer.perturbation for answer in case.answers}, key=lambda name: name != "unchanged")
    temperatures = few(sorted({answer.temperature for answer in case.answers}))
    return ShownCase(
        headline=case.headline,
        question=case.question,
        wording=case.wording,
        gold=case.gold,
        evidence=name_evidence(case.perturbation),
        diff=tuple(word_diff(case.evidence_before, case.evidence_after)),
        columns=tuple(columns),
        lines=tuple(
            (temperature, tuple(_distinct(case.answers, temperature, column) for column in columns))
            for temperature in temperatures
        ),
    )


def word_diff(before: str, after: str) -> list[tuple[Change, str]]:
    """Runs of words that are `kept`, `gone` or `new`, in reading order."""
    old, new = before.split(), after.split()
    runs: list[tuple[Change, str]] = []
    for kind, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            runs.append(("kept", " ".join(old[i:j])))
            continue
        changes: tuple[tuple[Change, list[str]], ...] = (("gone", old[i:j]), ("new", new[k:m]))
        runs += [(change, " ".join(words)) for change, words in changes if words]
    return runs


def _distinct(answers: Sequence[CaseAnswer], temperature: float, perturbation: str | None) -> tuple[ShownAnswer, ...]:
    """Equal answers once, with how often they came."""
    counted = Counter(
        # A mark says right or wrong already; the tags beside it say how.
        (answer.text, answer.correct, tuple(tag for tag in answer.tags if tag != "wrong"), answer.failure)
        for answer in answers
        if answer.temperature == temperature and answer.perturbation == perturbation
    )
    return tuple(
        ShownAnswer(text=text, correct=correct, tags=tags, failure=failure, n=n)
        for (text, correct, tags, failure), n in counted.items()
    )
