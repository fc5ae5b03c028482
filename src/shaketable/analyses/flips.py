"""How often right answers become wrong, and wrong ones right, from one system to another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from shaketable.analyses.pairs import SIDES
from shaketable.statistics.intervals import Bootstrap
from shaketable.types import Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class Flips:
    """Of one run of each system, drawn at random: their difference is that of the two shares of right answers."""

    metric: str
    """The number that tells right from wrong."""
    lost: Estimate
    """Right by the first system and wrong by the second."""
    gained: Estimate
    noise: Estimate | None
    """Flips, either way, between two runs of the same system, the mean of both; None: nothing was asked twice."""


def count_flips(paired: pl.DataFrame, metric: str, bootstrap: Bootstrap) -> Flips:
    first, second = (pl.col(side) for side in SIDES)
    rows = paired.drop_nulls(SIDES).select(
        pl.concat_str("dataset", "question_id", separator="/").alias("id"),
        lost=first * (1 - second),
        gained=(1 - first) * second,
        noise=pl.mean_horizontal(_noise("first"), _noise("second"), ignore_nulls=False),
    )
    questions = rows.group_by("id").agg(pl.col("lost", "gained", "noise").mean()).sort("id")
    values = questions.select("lost", "gained", pl.col("noise").fill_null(np.nan)).to_numpy().T
    lost, gained, noise = bootstrap.means(values, questions["id"].to_list(), unit="share")
    return Flips(metric=metric, lost=lost, gained=gained, noise=noise if noise.n else None)


def _noise(side: str) -> pl.Expr:
    """The share of pairs of different runs that disagree; None: there is one run."""
    mean, n = pl.col(side), pl.col(f"{side}_runs")
    return pl.when(n > 1).then(2 * mean * (1 - mean) * n / (n - 1))
