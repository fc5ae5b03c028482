"""Scores that are read a number at a time, so that those of a large run are never all in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, overload

import polars as pl

from shaketable.factors import FACTORS


class ScoreReader(Protocol):
    """Reads the score table of a run."""

    @property
    def metrics(self) -> Sequence[str]:
        """The scored numbers, in the order of the study's metrics."""
        ...

    def of(self, metric: str) -> pl.DataFrame:
        """The rows of one number, in their order."""
        ...

    def whole(self) -> pl.DataFrame:
        """The rows of all numbers at once."""
        ...


@dataclass(frozen=True, kw_only=True)
class Table:
    """A score table that is at hand."""

    rows: pl.DataFrame

    @property
    def metrics(self) -> Sequence[str]:
        return list(self.rows["metric"].unique(maintain_order=True))

    def of(self, metric: str) -> pl.DataFrame:
        return self.rows.filter(metric=metric)

    def whole(self) -> pl.DataFrame:
        return self.rows


def reading(scores: pl.DataFrame | ScoreReader) -> ScoreReader:
    """A table as what reads it."""
    return Table(rows=scores) if isinstance(scores, pl.DataFrame) else scores


def conditions_in(scores: pl.DataFrame | ScoreReader) -> pl.DataFrame:
    """Each combination of factors that scores have, once, as they come first."""
    reader = reading(scores)
    parts = [_conditions(reader.of(name)) for name in reader.metrics]
    return pl.concat(parts).unique(maintain_order=True) if parts else reader.whole().select(FACTORS)


def _conditions(scores: pl.DataFrame) -> pl.DataFrame:
    """Told apart by numbers: the texts of all rows, written out one after the other, are larger than the table."""
    numbered = scores.select(FACTORS).with_columns(pl.col(pl.String).cast(pl.Categorical))
    return numbered.unique(maintain_order=True).cast({pl.Categorical: pl.String})


@dataclass(frozen=True, kw_only=True)
class Narrowed:
    """Some rows of what another reads, which are the same whatever the number."""

    reader: ScoreReader
    keep: Callable[[pl.DataFrame], pl.DataFrame]

    @property
    def metrics(self) -> Sequence[str]:
        return self.reader.metrics

    def of(self, metric: str) -> pl.DataFrame:
        return self.keep(self.reader.of(metric))

    def whole(self) -> pl.DataFrame:
        return self.keep(self.reader.whole())


class ScoreField:
    """A field of a dataclass that takes a score table, or what reads it, and gives the whole table when asked."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name, self._whole = name, f"_whole_{name}"

    def __set__(self, instance: object, given: pl.DataFrame | ScoreReader) -> None:
        vars(instance)[self._name] = reading(given)

    @overload
    def __get__(self, instance: None, owner: type) -> ScoreField: ...
    @overload
    def __get__(self, instance: object, owner: type) -> pl.DataFrame: ...
    def __get__(self, instance: object | None, owner: type) -> ScoreField | pl.DataFrame:
        if instance is None:
            raise AttributeError(self._name)  # The field has no default.
        kept = vars(instance)
        if self._whole not in kept:
            kept[self._whole] = kept[self._name].whole()
        whole: pl.DataFrame = kept[self._whole]
        return whole
