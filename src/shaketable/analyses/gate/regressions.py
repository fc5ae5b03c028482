"""The numbers behind a comparison with a base: how much worse each system became, overall and in each condition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from shaketable.analyses.changes import lay_out, slices_of
from shaketable.analyses.conditions import units
from shaketable.analyses.gate.broken_pairs import BrokenPairs, find_broken
from shaketable.analyses.gate.quantities import Quantity
from shaketable.analyses.pairs import Unpaired, count_unpaired, pair, systems_in
from shaketable.errors import StudyError
from shaketable.factors import System, measure_of
from shaketable.types import Unit


def broken_pairs(base: pl.DataFrame, scores: pl.DataFrame, metric: str) -> list[BrokenPairs]:
    """Of each system that both have, answers that were right and are wrong."""
    return [
        find_broken(_of(base, old), _of(scores, new), metric, new)
        for old, new in _matched(systems_in(base), systems_in(scores))
    ]


def regressions(
    base: pl.DataFrame, scores: pl.DataFrame, metric: str
) -> tuple[list[Quantity], dict[System, tuple[Unpaired, ...]]]:
    """Of each system that both have, and what of it has no partner.

    The mean of a question over all its conditions has the least noise, and stands for half of the error; the conditions
    stand for the other half, so that a loss in one of them is not lost among the others.
    """
    quantities, unpaired = [], {}
    for old, new in _matched(systems_in(base), systems_in(scores)):
        paired = pair(_of(base, old), _of(scores, new), metric)
        if not len(paired.drop_nulls(["first", "second"])):
            raise StudyError(
                f"gate.max_regression: {new.model} has no question under the same condition with a score in both runs. "
                "Compare runs of one dataset that share wordings, evidence and temperatures."
            )
        unpaired[new] = count_unpaired(paired)
        unit: Unit = dict(units(pl.concat([base, scores], how="diagonal")).iter_rows()).get(metric, "score")
        quantities.append(_regression(paired, metric, unit, new))
    return quantities, unpaired


def _regression(paired: pl.DataFrame, metric: str, unit: Unit, system: System) -> Quantity:
    asked = paired.drop_nulls(["first_runs", "second_runs"])
    slices = [own for own in slices_of(asked, system) if own.kind in ("overall", "condition")]
    layout = lay_out(slices, metric)
    sign = 1.0 if measure_of(metric).higher_is_better is False else -1.0
    matters = layout.is_uncertain[:, None]
    n_conditions = len(slices) - 1
    return Quantity(
        threshold="max_regression",
        metric=metric,
        unit=unit,
        is_difference=True,
        cells=tuple(own.cell for own in slices),
        question_ids=layout.question_ids,
        values=sign * layout.differences + 0.0,
        same=tuple(_is_same(own.rows) for own in slices),
        filled=tuple(np.where(matters, sign * own + 0.0, np.nan) for own in (layout.least, layout.greatest)),
        weights=(1.0, *[1 / max(n_conditions, 1)] * n_conditions),
    )


def _is_same(rows: pl.DataFrame) -> bool:
    """Whether each question has the same score, and as many failed answers, in both runs."""
    columns = (("first", "second"), ("first_failed", "second_failed"))
    return bool(rows.select(pl.all_horizontal(pl.col(a).eq_missing(pl.col(b)) for a, b in columns).all()).item())


def _matched(old: Sequence[System], new: Sequence[System]) -> Iterator[tuple[System, System]]:
    """The same name on both sides; where each has one system, these, whatever their names."""
    if len(old) == len(new) == 1:
        yield old[0], new[0]
        return
    both = [system for system in new if system in old]
    if not both:
        names = " and ".join(", ".join(_name(system) for system in own) for own in (new, old))
        raise StudyError(
            f"gate.max_regression: no system is in both runs. Found {names}. Give the system under test the same "
            "name= in both studies, or compare runs with one system each."
        )
    yield from ((system, system) for system in both)


def _name(system: System) -> str:
    return " · ".join(filter(None, (system.model, system.method, system.retriever)))


def _of(scores: pl.DataFrame, system: System) -> pl.DataFrame:
    return scores.filter(
        pl.col("model") == system.model,
        pl.col("method") == system.method,
        pl.col("retriever").eq_missing(pl.lit(system.retriever, dtype=pl.String)),
    )
