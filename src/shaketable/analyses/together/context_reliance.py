"""Does a system lean on its evidence? How much of what evidence brings is lost when it is disturbed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from shaketable.analyses.claims import Claim, Subject
from shaketable.analyses.conditions import ENDS, cells_of, fill_scores, is_uncertain_anywhere, units
from shaketable.analyses.rows import Scored
from shaketable.analyses.tables import Tables
from shaketable.analyses.together.sides import SIDES, pair_sides
from shaketable.factors import UNCHANGED
from shaketable.statistics.intervals import ROUNDING, Bootstrap, Numbers
from shaketable.statistics.sign_flips import sign_flip
from shaketable.statistics.worst_case import worst_p
from shaketable.types import Estimate, Unit

LEAST_GAIN = 0.05
"""What evidence is taken to bring at least, so that a ratio to almost nothing does not run away."""
CLIP = (-1.0, 2.0)
NO_CLOSED_BOOK = "was not asked with this model at this temperature; add it to the methods"
NO_QUESTION = "no question has a score with original evidence, with disturbed evidence and closed book"


@dataclass(frozen=True, kw_only=True, slots=True)
class Reliance(Scored):
    """What a disturbance takes, as a multiple of what evidence brings over closed book."""

    reliance: Estimate
    """Near 0 the disturbance is ignored, at 1 the system falls back to its closed-book answers, above 1 it is
    misled."""
    original: float | None
    """Mean score with original evidence; None: no question has all three."""
    disturbed: float | None
    closed_book: float | None
    unit: Unit
    """Of the three means."""
    is_floored: bool
    """Whether evidence brings less than it is taken to bring."""
    gain: Estimate | None = None
    """Original evidence minus closed book, paired by question, as are the next two; None: not at the coolest
    temperature, which alone is spoken of."""
    loss: Estimate | None = None
    """Original minus disturbed evidence."""
    shortfall: Estimate | None = None
    """Closed book minus disturbed evidence: above 0 the system is misled."""
    p_gain: float | None = None
    """That the gain is not 0, by signs flipped."""
    p_loss: float | None = None
    p_shortfall: float | None = None

    @property
    def gain_subject(self) -> Subject:
        """It is that of the evidence, whatever disturbs it."""
        return Subject(kind="evidence_gain", cell=replace(self.cell, perturbation=UNCHANGED), metric=self.metric)

    @property
    def loss_subject(self) -> Subject:
        """That of other analyses of disturbed evidence."""
        return Subject(kind="evidence", cell=self.cell, metric=self.metric)

    @property
    def shortfall_subject(self) -> Subject:
        return Subject(kind="misled", cell=self.cell, metric=self.metric)


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextReliance:
    """Does the system lean on its evidence, or on what it knows?"""

    reliances: tuple[Reliance, ...]
    """Of a system and a disturbance from cool to hot."""
    closed_book: str
    """How answers without evidence are named: a method, or a kind of evidence."""

    tells_of_evidence: ClassVar[bool] = True

    def claims(self) -> Iterable[Claim]:
        """What evidence brings, what disturbances take, and that they mislead, at the coolest temperature."""
        coolest = [own for own in self.reliances if own.gain and own.loss and own.shortfall]
        for own in coolest:
            n_disturbed = sum(other.gain_subject == own.gain_subject for other in coolest)
            for subject, estimate, p, weight in (
                (own.gain_subject, own.gain, own.p_gain, 1.0),
                (own.loss_subject, own.loss, own.p_loss, 1.0),
                (own.shortfall_subject, own.shortfall, own.p_shortfall, 1 / n_disturbed),
            ):
                if estimate is not None:
                    yield Claim(subject=subject, estimate=estimate, p=p, weight=weight)


def context_reliance(tables: Tables, *, metric: str | None = None, closed_book: str = "closed_book") -> ContextReliance:
    """(original − disturbed) / max(original − closed book, 0.05), clipped to −1 and 2, by disturbance and temperature.

    A question counts with the wordings that were asked in all three ways. `closed_book` names a method (of several with
    this name, the mean), or a kind of evidence in answers made elsewhere.
    """
    main = tables.metric(metric) or ""
    scores = tables.of_metric(main)
    filled = [fill_scores(scores, end) for end in ENDS] if is_uncertain_anywhere(scores) else []
    told = [_reliances(replace(tables, scores=own), main, closed_book) for own in (scores, *filled)]
    reliances = [_settled(*rows) for rows in zip(*told, strict=True)]
    return ContextReliance(reliances=tuple(reliances), closed_book=closed_book)


def _settled(own: Reliance, *filled: Reliance) -> Reliance:
    """Its differences must stand whatever the answers that failed would have scored; nothing filled: few failed."""
    rows = (own, *filled)
    return replace(
        own,
        p_gain=worst_p([(row.gain, row.p_gain) for row in rows]),
        p_loss=worst_p([(row.loss, row.p_loss) for row in rows]),
        p_shortfall=worst_p([(row.shortfall, row.p_shortfall) for row in rows]),
    )


def _reliances(tables: Tables, main: str, closed_book: str) -> list[Reliance]:
    conditions = pair_sides(tables.scores, closed_book)
    sides = [[np.array(values) for values in conditions[side]] for side in SIDES]
    unit = dict(units(tables.scores).iter_rows()).get(main, "score")
    estimates = [
        _reliance(original, disturbed, closed, unit, tables.bootstrap)
        for original, disturbed, closed in zip(*sides, strict=True)
    ]
    counted = conditions.select("n_missing", "is_asked").iter_rows()
    reliances = []
    for cell, estimate, (n_missing, is_asked), *means in zip(
        cells_of(conditions), estimates, counted, *sides, strict=True
    ):
        original, disturbed, closed = (float(sum(own.tolist()) / len(own)) if len(own) else None for own in means)
        missing = NO_QUESTION if is_asked else f"{closed_book} {NO_CLOSED_BOOK}"
        reliances.append(
            Reliance(
                cell=cell,
                metric=main,
                reliance=estimate if estimate.n else replace(estimate, reason=missing),
                original=original,
                disturbed=disturbed,
                closed_book=closed,
                unit=unit,
                is_floored=original is not None and closed is not None and original - closed < LEAST_GAIN,
                n_missing=n_missing,
            )
        )
    for i in conditions["is_coolest"].arg_true():
        ids = conditions["question_ids"][i].to_list()
        reliances[i] = _with_changes(reliances[i], [side[i] for side in sides], ids, tables.bootstrap)
    return reliances


def _with_changes(own: Reliance, sides: Sequence[Numbers], ids: Sequence[str], bootstrap: Bootstrap) -> Reliance:
    original, disturbed, closed = sides
    changes: Numbers = np.round([original - closed, original - disturbed, closed - disturbed], ROUNDING)
    gain, loss, shortfall = bootstrap.means(changes, ids, unit=own.unit, is_difference=True)
    p_gain, p_loss, p_shortfall = sign_flip(changes, ids)
    return replace(
        own, gain=gain, loss=loss, shortfall=shortfall, p_gain=p_gain, p_loss=p_loss, p_shortfall=p_shortfall
    )


def _reliance(original: Numbers, disturbed: Numbers, closed: Numbers, unit: Unit, bootstrap: Bootstrap) -> Estimate:
    """Of what each question adds to the ratio, to first order.

    Of right and wrong answers two more questions are taken in, one that loses and one that gains as little as any does,
    so that questions none of which loses are not endless evidence.
    """
    n = len(original)
    if not n:
        return bootstrap.estimate(np.nan, np.nan, np.nan, n=0, unit="ratio")
    losses, gains = np.round(original - disturbed, ROUNDING), np.round(original - closed, ROUNDING)
    gained = max(float(gains.mean()), LEAST_GAIN)
    ratio = float(losses.mean()) / gained
    added = ratio + (losses - ratio * gains) / gained if gained > LEAST_GAIN else losses / gained
    if unit == "share":
        least = np.abs(losses[losses != 0]).min(initial=1.0)
        added = np.append(added, [ratio - least / gained, ratio + least / gained])
    (estimate,) = bootstrap.means(added[None], [str(i) for i in range(len(added))], unit="ratio")
    if estimate.low is None or estimate.high is None or n < 2:
        return replace(estimate, value=float(np.clip(ratio, *CLIP)), low=None, high=None, n=n)
    value, low, high = np.clip([ratio, estimate.low, estimate.high], *CLIP).tolist()
    return replace(estimate, value=value, low=low, high=high, n=n)
