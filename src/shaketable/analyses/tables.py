"""What analyses read: scores at once, everything else of a run when it is first asked for."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from shaketable.analyses.score_reading import Narrowed, ScoreField, ScoreReader
from shaketable.factors import System, judging_metric, main_metric
from shaketable.statistics.intervals import Bootstrap
from shaketable.types import Curve, JudgeEffort, NotApplied, Scan, Undone, Variant

IS_FLAGGED = pl.col("flags").is_not_null()


def _nothing() -> pl.DataFrame:
    return pl.DataFrame()


@dataclass(frozen=True, kw_only=True)
class Tables:
    """The tables of a run, and what its study says of all analyses. Tables that are not given are empty."""

    scores: ScoreField = ScoreField()
    """One row per record and metric: the factors, question_id, type, repeat, key, metric, value, reason, flags. Given
    as a table, or as what reads it; asked for, it is the whole table. `of_metric` needs less memory."""
    read_records: Callable[[], pl.DataFrame] = _nothing
    read_record_columns: Callable[[Sequence[str]], pl.DataFrame] | None = None
    """Some columns of the records alone; None: of the whole table."""
    read_records_of: Callable[[Sequence[str], Sequence[str]], pl.DataFrame] | None = None
    """Some columns of the records of some keys; None: of the whole table."""
    read_searches: Callable[[], pl.DataFrame] = _nothing
    read_calls: Callable[[], pl.DataFrame] = _nothing
    read_wordings: Callable[[], Mapping[str, Sequence[Variant]]] = dict
    """Dataset → every wording of its questions, the rejected too."""
    read_verdicts: Callable[[], Sequence[JudgeEffort]] = tuple
    read_curves: Callable[[], Sequence[Curve]] = tuple
    read_baselines: Callable[[], pl.DataFrame] = _nothing
    """Key, metric, value: what a clean answer to another question scores for this one."""
    chosen_metric: str | None = None
    """The number that the study speaks of; None: by the rule."""
    margin: float | str | None = None
    """How much of it is too little to matter; None: by the rule."""
    scan: Scan = field(default_factory=Scan)
    repeats: int | None = 10
    """Of each question in each condition; None: they end when a mean is known, and differ."""
    bootstrap: Bootstrap = field(default_factory=Bootstrap)
    given_names: Mapping[str, str] = field(default_factory=dict)
    """Name that was given to a part of a system → how the part is written without it."""
    undone: tuple[Undone, ...] = ()
    """Perturbations that were not done on too many questions; their scores are here without values."""
    not_applied: tuple[NotApplied, ...] = ()
    """Systems that temperature did not reach; their scores are here at one temperature alone."""
    read_scan: Callable[[], pl.DataFrame] | None = None
    """Scores at all temperatures also of systems whose answers never differed; None: there is no such system."""

    @functools.cached_property
    def scan_scores(self) -> pl.DataFrame:
        """The scores that tell where facts break."""
        return self.scores if self.read_scan is None else self.read_scan()

    @functools.cached_property
    def records(self) -> pl.DataFrame:
        return self.read_records()

    def record_columns(self, *columns: str) -> pl.DataFrame:
        """Some columns of the records, which need less memory than the whole table."""
        if self.read_record_columns is None or "records" in vars(self):
            return self.records.select(columns)
        return self.read_record_columns(columns)

    def records_of(self, keys: Sequence[str], *columns: str) -> pl.DataFrame:
        """The same of some keys alone, as where a few answers are shown."""
        if self.read_records_of is None:
            return self.records.filter(pl.col("key").is_in(list(keys))).select(columns)
        return self.read_records_of(keys, columns)

    @functools.cached_property
    def searches(self) -> pl.DataFrame:
        return self.read_searches()

    @functools.cached_property
    def calls(self) -> pl.DataFrame:
        return self.read_calls()

    @functools.cached_property
    def wordings(self) -> Mapping[str, Sequence[Variant]]:
        return self.read_wordings()

    @functools.cached_property
    def verdicts(self) -> Sequence[JudgeEffort]:
        return self.read_verdicts()

    @functools.cached_property
    def curves(self) -> Sequence[Curve]:
        return self.read_curves()

    @functools.cached_property
    def baselines(self) -> pl.DataFrame:
        return self.read_baselines()

    @property
    def score_reader(self) -> ScoreReader:
        """The scores, a number at a time."""
        reader: ScoreReader = vars(self)["scores"]
        return reader

    @functools.cached_property
    def metrics(self) -> list[str]:
        """The scored numbers, in the order of the study's metrics."""
        return list(self.score_reader.metrics)

    def of_metric(self, name: str | None) -> pl.DataFrame:
        """The scores of one number; empty where it is not scored."""
        return self.score_reader.of(name or "")

    def metric(self, chosen: str | None = None) -> str | None:
        """The number an analysis speaks of: the one it was told, else the study's, else by the rule."""
        return main_metric(self.metrics, chosen or self.chosen_metric)

    def judging_metric(self) -> str | None:
        """The number that tells right answers from wrong ones."""
        return judging_metric(self.metrics, self.chosen_metric)

    def method_of(self, system: System) -> str:
        """The method of a system as it is written, also where it was given a name."""
        return self.given_names.get(system.method, system.method)

    def done_as_asked(self) -> Tables | None:
        """The same without scores whose evidence carries a flag; None: no such score has a value."""
        if not any(_has_flagged_value(self.of_metric(name)) for name in self.metrics):
            return None
        return replace(self, scores=Narrowed(reader=self.score_reader, keep=lambda rows: rows.filter(~IS_FLAGGED)))


def _has_flagged_value(scores: pl.DataFrame) -> bool:
    return "flags" in scores.columns and bool(scores.filter(IS_FLAGGED)["value"].count())
