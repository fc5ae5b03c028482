"""What the analyses of wording hand over as candidate claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from shaketable.analyses.claims import Claim, Subject, weigh
from shaketable.analyses.rows import Located
from shaketable.analyses.wording.numbers import WordingNumber
from shaketable.factors import Cell

SomeLocated = TypeVar("SomeLocated", bound=Located)


def spoken_of(rows: Iterable[SomeLocated]) -> list[SomeLocated]:
    """Of a system that was asked of several datasets those of all together, else all of them.

    Its single datasets are explored: every question would count twice.
    """
    every = list(rows)
    pooled = {_anywhere(row.cell) for row in every if row.cell.dataset is None}
    return [row for row in every if row.cell.dataset is None or _anywhere(row.cell) not in pooled]


def claim_differences(numbers: Iterable[WordingNumber], kind: str, *, is_main: bool = False) -> Iterator[Claim]:
    """That these differences are not 0.

    Of a rewording of a system, undisturbed evidence at the coolest temperature is spoken of, and the rest are details.
    `is_main`: what rewording does to correctness is what a study of wording asks. Of the numbers that explain it, all
    rewordings of a system weigh as one claim, so that asking for explanations costs little of what can be seen of it.
    """
    lines: dict[Cell, list[WordingNumber]] = {}
    for number in spoken_of(numbers):
        lines.setdefault(replace(number.cell, perturbation=None, temperature=None), []).append(number)
    counts = Counter(replace(cell, variation=None) for cell in lines)
    for cell, line in lines.items():
        n_rewordings = 1 if is_main else counts[replace(cell, variation=None)]
        line.sort(key=lambda number: (not number.cell.is_undisturbed, number.cell.temperature or 0.0))
        for place, number in enumerate(line):
            yield Claim(
                subject=Subject(kind=kind, cell=number.cell, metric=number.metric),
                estimate=number.estimate,
                p=number.p,
                reason=number.reason,
                weight=weigh(place, len(line)) / n_rewordings,
            )


def _anywhere(cell: Cell) -> Cell:
    """The system, evidence and temperature of a cell, whatever the dataset and wording."""
    return replace(cell, dataset=None, variation=None)
