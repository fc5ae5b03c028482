"""Questions right in all runs of the base and wrong in all runs of the new one, condition by condition."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
import polars as pl

from shaketable.analyses.gate.quantities import Quantity
from shaketable.analyses.pairs import CONDITION, PAIR, SIDES, TEXTS, name_evidence_alike, pair
from shaketable.factors import Cell, System


@dataclass(frozen=True, kw_only=True)
class BrokenPairs:
    """Questions under conditions, of one system. A pair counts however few runs there are."""

    system: System
    metric: str
    rows: pl.DataFrame
    """Dataset, variation, perturbation, temperature, question_id, and a record of each run: `before_key`, `key`."""
    n_pairs: int
    """With a score in both runs."""
    n_repeated: int
    """Of them, those that the base answered more than once."""
    expected: float | None
    """Of those, how many would break by chance if nothing had changed, at most; None: the base has no repeats."""

    def quantity(self) -> Quantity:
        """What a limit on their number is held against."""
        values = np.zeros((1, self.n_pairs))
        values[0, : self.rows.height] = 1.0
        return Quantity(
            threshold="max_broken",
            metric=self.metric,
            unit="count",
            cells=(Cell(system=self.system),),
            question_ids=(),
            values=values,
            expected=self.expected,
        )


def find_broken(base: pl.DataFrame, scores: pl.DataFrame, metric: str, system: System) -> BrokenPairs:
    """Compare the scores of one system in two runs, by a metric that is 1 for right answers and 0 for wrong ones.

    An answer that failed was not right: a question with one in the base does not count. Nor was it wrong: in the new
    run all answers that there are must be.
    """
    both = pair(base, scores, metric).drop_nulls(SIDES)
    is_broken = (pl.col("first") == 1) & (pl.col("first_failed") == 0) & (pl.col("second") == 0)
    rows = both.filter(is_broken).select(PAIR)
    for name, table in zip(("before_key", "key"), name_evidence_alike(base, scores), strict=True):
        first_runs = (
            table.filter(metric=metric)
            .drop_nulls("value")
            .with_columns(TEXTS)
            .sort("repeat")
            .unique(PAIR, keep="first", maintain_order=True)
        )
        records = first_runs.select(*PAIR, pl.col("key").alias(name))
        rows = rows.join(records, on=PAIR, how="left", nulls_equal=True, maintain_order="left")
    repeated = both.filter(pl.col("first_runs") > 1)
    return BrokenPairs(
        system=system,
        metric=metric,
        rows=rows.sort(*CONDITION, "question_id"),
        n_pairs=both.height,
        n_repeated=repeated.height,
        expected=_expected(repeated) if repeated.height else None,
    )


def _expected(repeated: pl.DataFrame) -> float:
    """Return how many pairs would break by chance, at most, from the runs of the base alone.

    A question that is right with chance p breaks with chance p^a (1 − p)^b in a runs of the base and b new ones. That
    is at most p^m (1 − p)^k with m + k = a, divided as a to b, of which the base's runs give an unbiased estimate: how
    often m of them, drawn at random, are right while the other k are wrong.
    """
    expected = 0.0
    for mean, a, b in repeated.select("first", "first_runs", "second_runs").iter_rows():
        m = min(max(round(a * a / (a + b)), 1), a - 1)
        expected += (round(mean * a) == m) / comb(a, m)
    return expected
