"""Differences of paired systems, averaged over the questions of all conditions, of a level of a factor, or of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import polars as pl

from shaketable.analyses.pairs import CONDITION, SIDES
from shaketable.analyses.rows import Bounded
from shaketable.factors import Cell, System, measure_of
from shaketable.statistics.bounds import Flags, p_equivalent
from shaketable.statistics.differences import bound_differences
from shaketable.statistics.intervals import ROUNDING, Bootstrap, Numbers
from shaketable.statistics.sign_flips import sign_flip
from shaketable.statistics.simultaneous import differences_together
from shaketable.statistics.worst_case import is_uncertain, worst_cases
from shaketable.types import Estimate, Unit

Kind = Literal["overall", "level", "condition", "worst case"]
NO_PAIRS = "no pairs"
ENDS = ("least", "greatest")
FILLED = tuple(f"{side}_{end}" for side in SIDES for end in ENDS)


@dataclass(frozen=True, kw_only=True, slots=True)
class Change(Bounded):
    """The second system minus the first, paired by question: below 0 where the second has less of the number."""

    kind: Kind
    """`worst case`: of the worst of all conditions, question by question."""
    first: Estimate
    second: Estimate
    difference: Estimate
    p: float | None
    """That it is not 0, by signs of questions flipped; None: there was nothing to test."""
    p_equivalent: float | None
    """That it lies within the margin; None: too few questions."""
    sd: float | None
    """Of the differences between questions; None: fewer than two."""
    among: Estimate | None = None
    """Of a condition, as one of several: drawn towards their mean, with an interval that holds for all together."""

    @property
    def is_same(self) -> bool:
        """Whether no question differs at all."""
        return self.difference.value == 0 and not self.sd


@dataclass(frozen=True, kw_only=True, slots=True)
class Slice:
    """Which pairs a change is of."""

    kind: Kind
    cell: Cell
    rows: pl.DataFrame


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """Both systems as slices × questions; NaN where a question has no pair."""

    question_ids: tuple[str, ...]
    first: Numbers
    second: Numbers
    least: Numbers
    """The difference, had all that failed turned out as much against the second as can be."""
    greatest: Numbers
    is_uncertain: Flags
    """Whether more failed than may be left out without a word."""

    @property
    def differences(self) -> Numbers:
        return np.round(self.second - self.first, ROUNDING)


def measure_changes(
    paired: pl.DataFrame, *, metric: str, unit: Unit, margin: float, system: System, bootstrap: Bootstrap
) -> tuple[Change, ...]:
    """Overall, then of each level of a factor that has several, of each condition where there are several, and of the
    worst of them."""
    slices = list(slices_of(paired.drop_nulls(["first_runs", "second_runs"]), system))
    layout = lay_out(slices, metric)
    ids, differences = layout.question_ids, layout.differences
    estimates = bootstrap.means(differences, ids, unit=unit, is_difference=True)
    firsts, seconds = (bootstrap.means(side, ids, unit=unit) for side in (layout.first, layout.second))

    def test_margin(values: Numbers) -> list[float]:
        ps: list[float] = p_equivalent(bound_differences(values, unit == "share"), margin).tolist()
        return ps

    filled, uncertain = (layout.least, layout.greatest), layout.is_uncertain
    apart = worst_cases(differences, filled, uncertain, lambda values: sign_flip(values, ids))
    within = worst_cases(differences, filled, uncertain, test_margin, keeps_sign=False)
    changes = [
        Change(
            cell=own.cell,
            metric=metric,
            worst_low=apart[i].low,
            worst_high=apart[i].high,
            kind=own.kind,
            first=_of_pairs(firsts[i]),
            second=_of_pairs(seconds[i]),
            difference=_of_pairs(estimates[i]),
            p=apart[i].p if estimates[i].n else None,
            p_equivalent=within[i].p if estimates[i].n > 1 else None,
            sd=float(np.nanstd(differences[i], ddof=1)) if estimates[i].n > 1 else None,
        )
        for i, own in enumerate(slices)
    ]
    return _with_others(changes, differences, ids, bootstrap)


def _of_pairs(estimate: Estimate) -> Estimate:
    """One side may well have scores where no pair has two."""
    return estimate if estimate.n else replace(estimate, reason=NO_PAIRS)


def slices_of(asked: pl.DataFrame, system: System) -> Iterator[Slice]:
    datasets = asked["dataset"].unique().to_list()
    whole = Cell(system=system, dataset=datasets[0] if len(datasets) == 1 else None)
    yield Slice(kind="overall", cell=whole, rows=asked)
    for factor in (*CONDITION, "type"):
        levels = asked[factor].drop_nulls().unique().sort().to_list()
        for level in levels if len(levels) > 1 else ():
            cell = _located({factor: level}, whole)
            yield Slice(kind="level", cell=cell, rows=asked.filter(pl.col(factor) == level))
    conditions = asked.partition_by(CONDITION, maintain_order=True)
    if len(conditions) < 2:
        return
    for rows in conditions:
        yield Slice(kind="condition", cell=_located(rows.select(CONDITION).row(0, named=True), whole), rows=rows)
    yield Slice(kind="worst case", cell=whole, rows=asked)


def _located(levels: Mapping[str, Any], whole: Cell) -> Cell:
    """The cell of some levels of factors, by the names that score tables have for them."""
    return Cell(
        system=whole.system,
        dataset=levels.get("dataset", whole.dataset),
        variation=levels.get("variation"),
        perturbation=levels.get("perturbation"),
        temperature=levels.get("temperature"),
        group=levels.get("type"),
    )


def lay_out(slices: Sequence[Slice], metric: str) -> Layout:
    """A question under several conditions counts once: with its mean, or with its worst."""
    is_higher_better = measure_of(metric).higher_is_better is not False
    named = [own.rows.with_columns(id=pl.concat_str("dataset", "question_id", separator="/")) for own in slices]
    ids = named[0]["id"].unique().sort().to_list()
    place = {id: i for i, id in enumerate(ids)}
    numbers = {column: np.full((len(slices), len(ids)), np.nan) for column in (*SIDES, *ENDS)}
    for i, (own, rows) in enumerate(zip(slices, named, strict=True)):
        is_worst = own.kind == "worst case"
        for columns in (SIDES, FILLED):
            taken = [f"{side}_even" for side in SIDES] if is_worst and columns == SIDES else columns
            worst = pl.col(taken).min() if is_higher_better else pl.col(taken).max()
            grouped = rows.drop_nulls(taken).group_by("id").agg(worst if is_worst else pl.col(taken).mean())
            where = [place[id] for id in grouped["id"]]
            values = grouped.select(taken).to_numpy()
            if columns == SIDES:
                numbers["first"][i, where], numbers["second"][i, where] = values.T
            else:
                first_least, first_greatest, second_least, second_greatest = values.T
                numbers["least"][i, where] = second_least - first_greatest
                numbers["greatest"][i, where] = second_greatest - first_least
    return Layout(question_ids=tuple(ids), is_uncertain=np.array([_is_uncertain(own) for own in slices]), **numbers)


def _is_uncertain(own: Slice) -> bool:
    counts = own.rows.select(pl.sum(f"{side}_{count}") for count in ("failed", "runs") for side in SIDES).row(0)
    return bool(is_uncertain(np.array(counts[:2]), np.array(counts[2:])).any())


def _with_others(
    changes: Sequence[Change], differences: Numbers, question_ids: Sequence[str], bootstrap: Bootstrap
) -> tuple[Change, ...]:
    """Conditions with two questions or more as some of several."""
    places = [i for i, own in enumerate(changes) if own.kind == "condition" and own.difference.n > 1]
    if len(places) < 2:
        return tuple(changes)
    unit = changes[0].difference.unit
    together = differences_together(differences[places], question_ids, bootstrap, unit=unit)
    among = dict(zip(places, together, strict=True))
    return tuple(replace(own, among=among.get(i)) for i, own in enumerate(changes))
