"""Scores with the factors of their records, a number at a time: what analyses read of a run of any size."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import polars as pl

from shaketable.store.evidence_flags import NOTHING_CHANGED
from shaketable.store.score_file import metrics_in

ROWS_AT_ONCE = 100_000
"""Of all numbers, where they are taken out in order."""


class ScoreTables:
    """Reads scores when it is asked. The factors of all records are held once, and shared by all numbers."""

    def __init__(
        self,
        scores: pl.LazyFrame,
        read_factors: Callable[[], pl.DataFrame],
        read_flags: Callable[[], pl.DataFrame],
        without_flags: Sequence[str],
    ) -> None:
        self._scores = scores
        self._read_factors, self._read_flags = read_factors, read_flags
        self._unwanted = [NOTHING_CHANGED, *without_flags]

    def read_by(self, read_factors: Callable[[], pl.DataFrame], read_flags: Callable[[], pl.DataFrame]) -> ScoreTables:
        """The same, with what was read so far: what is read from now on is read in another way."""
        other = copy.copy(self)
        other._read_factors, other._read_flags = read_factors, read_flags
        return other

    @cached_property
    def metrics(self) -> Sequence[str]:
        """The scored numbers, in the order of the study's metrics."""
        return metrics_in(self._scores)

    def of(self, metric: str) -> pl.DataFrame:
        """The rows of one number, in their order; none where it is not scored."""
        return self._with_factors(self._scores.filter(pl.col("metric") == metric).collect())

    def whole(self) -> pl.DataFrame:
        """The rows of all numbers at once: about a gigabyte for each four million."""
        return self._with_factors(self._scores.collect())

    def of_records(self, keys: Sequence[str]) -> pl.DataFrame:
        """The rows of all numbers of some records."""
        own = pl.Series(keys, dtype=pl.String).implode()
        return self._with_factors(self._scores.filter(pl.col("key").is_in(own)).collect(engine="streaming"))

    def slices(self) -> Iterator[pl.DataFrame]:
        """The whole in its order, some rows after the other; one slice at least."""
        n_rows = self._scores.select(pl.len()).collect().item()
        for start in range(0, max(n_rows, 1), ROWS_AT_ONCE):
            yield self._with_factors(self._scores.slice(start, ROWS_AT_ONCE).collect(), start)

    def forget_factors(self) -> None:
        """Until they are asked for again: who reads two large runs holds those of one at a time."""
        vars(self).pop("_factors", None)

    @cached_property
    def _factors(self) -> pl.DataFrame:
        """One row per record, in the order they were stored: its key, factors, the flags of its evidence, and whether
        it is left out."""
        has_unwanted = pl.col("flags").str.split(" ").list.set_intersection(self._unwanted).list.len() > 0
        flags = self._read_flags().with_columns(is_left_out=has_unwanted)  # Before they are laid beside all records.
        flagged = self._read_factors().join(flags, on="key", how="left", maintain_order="left")
        return flagged.with_columns(pl.col("is_left_out").fill_null(False))

    def _with_factors(self, scores: pl.DataFrame, start: int = 0) -> pl.DataFrame:
        """What was not disturbed says nothing of the disturbance (it would count as an effect of 0), so it has no
        value, nor has evidence with one of the flags that the study leaves out: `is_left_out`. `start`: the place of
        the first row among those of all numbers, which usually stand in the order of the records."""
        same = self._factors.slice(start % max(self._factors.height, 1), scores.height)
        if scores.height == same.height and (scores["key"] == same["key"]).all():
            # Shares the columns, keys too: no text is there twice.
            table = scores.drop("key").hstack(same).select(*scores.columns, pl.exclude(*scores.columns))
        else:
            table = scores.join(self._factors, on="key", how="inner", maintain_order="left")
        is_left_out = pl.col("is_left_out")
        return table.with_columns(
            value=pl.when(is_left_out).then(None).otherwise("value"),
            reason=pl.when(is_left_out).then(pl.format("left out: {}", "flags")).otherwise("reason"),
        )
