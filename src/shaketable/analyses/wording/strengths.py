"""How strong the wordings of each variation are: mean measures, and what was refused."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from shaketable.analyses.rows import Located
from shaketable.factors import ORIGINAL, Cell
from shaketable.statistics.intervals import Bootstrap
from shaketable.types import Estimate, Strength, Unit, Variant

StrengthName = Literal["terms_kept", "edit_distance", "loss", "reading_ease", "meaning"]
NOT_MEASURED = "the wordings were made before their strength was measured, or elsewhere"
NONE_ASKED = "no wording was accepted"
UNNAMED = "unnamed"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Measure:
    name: StrengthName
    read: Callable[[Strength], float | None]
    unit: Unit = "score"
    is_difference: bool = False


MEASURES = (
    _Measure(name="terms_kept", read=lambda strength: strength.terms_kept, unit="share"),
    _Measure(name="edit_distance", read=lambda strength: strength.edit_distance, unit="share"),
    _Measure(name="loss", read=lambda strength: strength.loss, is_difference=True),
    _Measure(name="reading_ease", read=lambda strength: strength.reading_ease, is_difference=True),
    _Measure(name="meaning", read=lambda strength: strength.meaning),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class MeanStrength(Located):
    """Of the wordings of a variation that were asked; its cell has no system, for all systems saw the same."""

    number: StrengthName
    estimate: Estimate
    """Mean over questions, several wordings of one averaged."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RefusalCount:
    kind: str
    n: int


@dataclass(frozen=True, kw_only=True, slots=True)
class MadeWordings(Located):
    """What a variation made of a dataset's questions."""

    n_wordings: int
    """Refused ones too."""
    n_refused: int
    refusals: tuple[RefusalCount, ...]
    """By the kind of reason, the most frequent first."""


@dataclass(frozen=True, kw_only=True)
class Worded:
    """The wordings of one variation and dataset, or of all datasets."""

    cell: Cell
    variants: Sequence[Variant]

    @property
    def strengths(self) -> list[tuple[str, Strength]]:
        """Question id and strength of each wording that was asked and measured."""
        asked = (variant for variant in self.variants if variant.rejected is None)
        return [(variant.question_id, own) for variant in asked if (own := variant.strength) is not None]

    def values(self, measure: _Measure) -> dict[str, float]:
        """Question → the measure, averaged over its wordings."""
        by_question: dict[str, list[float]] = {}
        for question, strength in self.strengths:
            if (value := measure.read(strength)) is not None:
                by_question.setdefault(question, []).append(value)
        return {question: math.fsum(own) / len(own) for question, own in by_question.items()}

    def count(self) -> MadeWordings:
        refused = Counter(variant.refusal or UNNAMED for variant in self.variants if variant.rejected is not None)
        kinds = sorted(refused.items(), key=lambda kind: (-kind[1], kind[0]))
        return MadeWordings(
            cell=self.cell,
            n_wordings=len(self.variants),
            n_refused=refused.total(),
            refusals=tuple(RefusalCount(kind=kind, n=n) for kind, n in kinds),
        )

    def means(self, bootstrap: Bootstrap) -> list[MeanStrength]:
        values = [self.values(measure) for measure in MEASURES]
        questions = sorted({question for own in values for question in own})
        rows = np.array([[own.get(question, np.nan) for question in questions] for own in values], dtype=np.float64)
        estimates = bootstrap.means(
            rows.reshape(len(values), len(questions)),
            questions,
            unit=[measure.unit for measure in MEASURES],
            is_difference=[measure.is_difference for measure in MEASURES],
        )
        return [
            MeanStrength(
                cell=self.cell,
                number=measure.name,
                estimate=estimate if estimate.n else replace(estimate, reason=self._reason()),
            )
            for measure, estimate in zip(MEASURES, estimates, strict=True)
        ]

    def _reason(self) -> str:
        """Why a measure has no value."""
        if all(variant.rejected is not None for variant in self.variants):
            return NONE_ASKED
        return next((strength.reason for _, strength in self.strengths if strength.reason), NOT_MEASURED)


def group_wordings(wordings: Mapping[str, Sequence[Variant]]) -> list[Worded]:
    """One for each dataset and variation but the original, then one for each variation on several datasets."""
    groups: dict[Cell, list[Variant]] = {}
    for dataset, variants in sorted(wordings.items()):
        for variant in variants:
            if variant.variation != ORIGINAL:
                groups.setdefault(Cell(dataset=dataset, variation=variant.variation), []).append(variant)
    parts: dict[Cell, list[tuple[str, Sequence[Variant]]]] = {}
    for cell, own in groups.items():
        parts.setdefault(replace(cell, dataset=None), []).append((cell.dataset or "", own))
    pooled = [
        # Two datasets may use the same id.
        Worded(
            cell=cell, variants=[replace(v, question_id=f"{name}: {v.question_id}") for name, own in of for v in own]
        )
        for cell, of in parts.items()
        if len(wordings) > 1
    ]
    return [Worded(cell=cell, variants=own) for cell, own in groups.items()] + pooled
