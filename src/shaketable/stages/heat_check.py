"""Records → the models on which temperature had no effect, so that a flat curve is not taken for robustness."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shaketable.analyses.score_reading import Narrowed, ScoreReader
from shaketable.store import Run
from shaketable.types import Curve

COOL, HOT = 0.3, 1.5
"""Temperatures that must be there, at most and at least, for a comparison to mean anything."""
MIN_CELLS = 5
SAME = 0.05
"""Shares of differing answers that lie closer than this count as equal, if their interval allows it."""
MOST_DRAWN = 2_000_000
"""Values of resamples that are in memory at a time."""
CELL = ("model", "method", "retriever", "perturbation", "variation", "question_id")


class Bounds(NamedTuple):
    """Of a mean."""

    low: float
    high: float


def not_applied(run: Run) -> dict[tuple[str, str], str]:
    """Model and method → why their temperatures say nothing: it never reached the model, or had no effect on it."""
    cells = pl.col(CELL).cast(pl.Categorical)  # Numbers for texts that all records share: half of the memory.
    records = pl.concat(rows.select(cells, "temperature", "answer") for rows in run.record_slices())
    found, ignoring = run.without_temperature(), ignoring_temperature(records)
    for model, method in records.select("model", "method").unique(maintain_order=True).iter_rows():
        if model in ignoring:
            found.setdefault((model, method), ignoring[model])
    return found


def never_differed(run: Run, systems: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the systems whose answers to a question are the same at all temperatures and in all repeats, and that are
    not known in another way to ignore temperature."""
    asked = set(systems) - set(run.without_temperature())
    if not asked:
        return set()
    columns = (*CELL, "answer")
    rows = run.records(columns).filter(pl.col("answer").is_not_null())
    differing = rows.group_by(CELL).agg(n=pl.col("answer").n_unique()).filter(pl.col("n") > 1)
    return asked - set(differing.select("model", "method").unique().iter_rows())


def at_one_temperature(table: pl.DataFrame, systems: Collection[tuple[str, str]]) -> pl.DataFrame:
    """The table with these systems at their coolest alone: without a second temperature nothing is claimed of it."""
    if not systems:
        return table
    schema = {name: table.schema[name] for name in ("model", "method")}
    named = pl.DataFrame(list(systems), schema=schema, orient="row")
    return (
        table.join(named.with_columns(is_flat=True), on=("model", "method"), how="left", maintain_order="left")
        .filter(
            pl.col("is_flat").is_null() | (pl.col("temperature") == pl.col("temperature").min().over("model", "method"))
        )
        .drop("is_flat")
    )


def at_coolest(scores: ScoreReader, systems: Collection[tuple[str, str]]) -> ScoreReader:
    """The same of scores that are read a number at a time."""
    return Narrowed(reader=scores, keep=lambda rows: at_one_temperature(rows, systems)) if systems else scores


def curves_that_count(run: Run, systems: Collection[tuple[str, str]]) -> list[Curve]:
    """Curves tell what a temperature would do that these systems never get: theirs are left out."""
    if not systems:
        return run.curves()
    rows = run.records(("key", "model", "method")).iter_rows()
    without = {key for key, model, method in rows if (model, method) in systems}
    return [curve for curve in run.curves() if curve.key not in without]


def ignoring_temperature(records: pl.DataFrame) -> dict[str, str]:
    """Model → what showed that it ignores its temperature. Models that cannot be judged are left out."""
    found = {}
    answered = records.filter(pl.col("answer").is_not_null())
    for model in answered["model"].unique(maintain_order=True).to_list():
        reason = _reason(answered.filter(pl.col("model") == model))
        if reason:
            found[model] = reason
    return found


def _reason(records: pl.DataFrame) -> str | None:
    cool, hot = records["temperature"].min(), records["temperature"].max()
    if not isinstance(cool, float) or not isinstance(hot, float) or cool > COOL or hot < HOT:
        return None
    cells = _answers(records, cool).join(_answers(records, hot), on=CELL, suffix="_hot", nulls_equal=True)
    if cells.height < MIN_CELLS:
        return None
    pairs = list(cells.select("answer", "answer_hot").iter_rows())
    if all(set(a) == set(b) for a, b in pairs):
        return f"the answers at temperature {hot:g} are those at {cool:g} in all {len(pairs)} cells"
    gains = np.array([_spread(b) - _spread(a) for a, b in pairs if len(a) > 1 and len(b) > 1])
    cool_spread = float(np.mean([_spread(a) for a, _ in pairs]))
    # Greedy answers do not vary; where they do at the coolest, the endpoint samples at a temperature of its own.
    if len(gains) < MIN_CELLS or cool_spread == 0 or gains.std() == 0:
        return None
    # Answers may differ from temperature to temperature and yet vary as much among themselves at each.
    between = np.array([_between(a, b) - (_spread(a) + _spread(b)) / 2 for a, b in pairs if len(a) > 1 and len(b) > 1])
    if between.std() > 0:
        moved = _mean_bounds(between)
        if moved.low > 0:
            return None
    interval = _mean_bounds(gains)
    if interval.low <= 0 <= interval.high and abs(gains.mean()) < SAME:
        return (
            f"repeated answers differ as often at {hot:g} as at {cool:g}: difference {gains.mean():+.2f} "
            f"[{interval.low:.2f}, {interval.high:.2f}], n = {len(gains)} cells"
        )
    return None


def _mean_bounds(values: NDArray[np.float64]) -> Bounds:
    # Its import takes a second, and every command would wait for it.
    from scipy import stats

    # Drawn some at a time: all draws of ten thousand cells would take a gigabyte.
    batch = max(1, MOST_DRAWN // len(values))
    drawn = stats.bootstrap((values,), np.mean, n_resamples=2000, rng=0, method="percentile", batch=batch)
    return Bounds(*drawn.confidence_interval)


def _answers(records: pl.DataFrame, temperature: float) -> pl.DataFrame:
    """Cells in a fixed order: the bootstrap's draws go by place."""
    return records.filter(pl.col("temperature") == temperature).group_by(CELL).agg("answer").sort(CELL)


def _between(first: list[str], second: list[str]) -> float:
    """The share of pairs of an answer of each that differ."""
    return sum(a != b for a in first for b in second) / (len(first) * len(second))


def _spread(answers: list[str]) -> float:
    """The share of pairs of repeats that differ."""
    n = len(answers)
    differing = sum(answers[i] != answers[j] for i in range(n) for j in range(i))
    return differing / (n * (n - 1) / 2) if n > 1 else 0.0
