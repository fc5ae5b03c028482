"""How strong is each rewording, beside what it costs: is it without effect, or mild?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from shaketable.analyses.claims import Claim
from shaketable.analyses.conditions import units
from shaketable.analyses.rows import Located
from shaketable.analyses.tables import Tables
from shaketable.analyses.wording.answers import group_scores, read_scores
from shaketable.analyses.wording.asked import Asked
from shaketable.analyses.wording.candidates import claim_differences, spoken_of
from shaketable.analyses.wording.failed_wordings import bound_losses
from shaketable.analyses.wording.measurements import Measurement, measure_losses
from shaketable.analyses.wording.numbers import WordingNumber, estimate_numbers
from shaketable.analyses.wording.rank_relation import correlate_ranks
from shaketable.analyses.wording.strengths import (
    MEASURES,
    NOT_MEASURED,
    MadeWordings,
    MeanStrength,
    StrengthName,
    Worded,
    group_wordings,
)
from shaketable.factors import Cell
from shaketable.statistics.intervals import Bootstrap
from shaketable.types import Estimate

NO_WORDINGS = "the wordings were not given, or there is none beside the original; analyze the run"
RELATED: tuple[StrengthName, ...] = ("terms_kept", "loss")
"""What a retriever sees of a wording, and what a model does."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StrengthRelation(Located):
    """Within a variation: do stronger wordings lose more answers? It is explored, and claims nothing."""

    number: StrengthName
    rho: Estimate
    """Spearman's, over questions, of the measure and what the wording takes of the score."""
    p: float | None
    """That it is not 0, not adjusted; None: it is not known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WordingStrength:
    """How strong is each rewording, beside what it costs?"""

    metric: str | None
    """Whose losses stand beside; None: nothing was scored."""
    made: tuple[MadeWordings, ...]
    means: tuple[MeanStrength, ...]
    losses: tuple[WordingNumber, ...]
    """Original minus reworded, of evidence as it was found, at the coolest temperature."""
    relations: tuple[StrengthRelation, ...]
    reason: str | None = None
    """Why there are no strengths at all."""

    @property
    def spoken_losses(self) -> list[WordingNumber]:
        """Of a system that was asked of several datasets those of all together."""
        return spoken_of(self.losses)

    def mean(self, cell: Cell, number: StrengthName) -> Estimate | None:
        """Of the dataset and variation of a cell; None: it is not known."""
        where = self.where(cell)
        return next((own.estimate for own in self.means if (own.cell, own.number) == (where, number)), None)

    @staticmethod
    def where(cell: Cell) -> Cell:
        """Whose wordings a system of this cell was asked: those of the same dataset and variation."""
        return Cell(dataset=cell.dataset, variation=cell.variation)

    def claims(self) -> Iterable[Claim]:
        """What each rewording takes away, or adds: the claims of `wording_accuracy`, and no others."""
        return claim_differences(self.losses, "wording", is_main=True)


def wording_strength(tables: Tables, *, metric: str | None = None) -> WordingStrength:
    """Of each variation the mean strength of its wordings, how many were refused, and what they cost.

    Strength is measured when wordings are made: the share of the original's search terms that is kept, the share of
    words that changed, the change of a token's loss under the embedded model (nats), of the Flesch reading ease, and
    the cosine to the original. `metric` of None is the main one. Within a variation, Spearman's rho over questions
    tells whether stronger wordings lose more.
    """
    main = tables.metric(metric)
    worded = {own.cell: own for own in group_wordings(tables.wordings)}
    losses, relations = _effects(tables, main, worded) if main else ([], [])
    is_measured = any(own.strengths for own in worded.values())
    return WordingStrength(
        metric=main,
        made=tuple(own.count() for own in worded.values()),
        means=tuple(mean for own in worded.values() for mean in own.means(tables.bootstrap)),
        losses=tuple(losses),
        relations=tuple(relations),
        reason=None if is_measured else NOT_MEASURED if worded else NO_WORDINGS,
    )


def _effects(
    tables: Tables, metric: str, worded: Mapping[Cell, Worded]
) -> tuple[list[WordingNumber], list[StrengthRelation]]:
    scores, unit = read_scores(tables, metric), dict(units(tables.of_metric(metric)).iter_rows())[metric]
    numbers: list[WordingNumber] = []
    relations: list[StrengthRelation] = []
    for asked in _undisturbed(group_scores(tables, metric)):
        measurements = measure_losses(asked, metric, lambda reply: scores[reply.key], unit)
        numbers += estimate_numbers(asked, measurements, tables.bootstrap)
        relations += _relate(asked, measurements, worded, tables.bootstrap)
    losses = [number for number in numbers if number.is_loss]
    return bound_losses(losses, tables, metric), relations


def _undisturbed(every: Sequence[Asked]) -> list[Asked]:
    """Of each system and dataset the evidence as it was found, at the coolest temperature."""
    coolest: dict[Cell, Asked] = {}
    for asked in every:
        where = replace(asked.cell, temperature=None)
        if asked.cell.is_undisturbed:
            kept = coolest.setdefault(where, asked)
            coolest[where] = min(kept, asked, key=lambda own: own.cell.temperature or 0.0)
    return list(coolest.values())


def _relate(
    asked: Asked, measurements: Iterable[Measurement], worded: Mapping[Cell, Worded], bootstrap: Bootstrap
) -> Iterable[StrengthRelation]:
    for loss in measurements:
        own = worded.get(Cell(dataset=asked.cell.dataset, variation=loss.variation))
        if not loss.is_loss or own is None or not own.strengths:
            continue
        for measure in MEASURES:
            if measure.name not in RELATED:
                continue
            values = own.values(measure)
            points = [
                (question, values[question], lost) for question, lost in loss.values.items() if question in values
            ]
            rho, p = correlate_ranks(points, bootstrap)
            cell = replace(asked.cell, variation=loss.variation)
            yield StrengthRelation(cell=cell, number=measure.name, rho=rho, p=p)
