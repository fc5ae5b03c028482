"""`scores.parquet`: one row per record and number, and what they were made from; `baselines.parquet` beside it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from shaketable.errors import RunError
from shaketable.types import Score

NAME = "scores.parquet"
BASELINES = "baselines.parquet"
SCHEMA = {"key": pl.String, "metric": pl.String, "value": pl.Float64, "reason": pl.String}
SOURCE, ASKED = "made_from", "asked"


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreSource:
    """What is kept beside the scores."""

    made_from: str | None = None
    """The digest of what they were made from; None: there are no scores, or an older version made them."""
    asked: tuple[str, ...] | None = None
    """The metrics that were asked for instead of the study's; None: the study's."""


def load_scores(folder: Path, columns: Sequence[str] = tuple(SCHEMA)) -> pl.DataFrame:
    """Key, metric, value, reason, or some of them."""
    if not (folder / NAME).is_file():
        raise RunError(f"{folder} has no scores yet. Run: shaketable score {folder}.")
    return pl.read_parquet(folder / NAME, columns=list(columns))


def load_scores_of(folder: Path, key: str) -> tuple[Score, ...]:
    """Those of one record."""
    if not (folder / NAME).is_file():
        return ()
    rows = pl.scan_parquet(folder / NAME).filter(pl.col("key") == key).select(*SCHEMA).collect().iter_rows()
    return tuple(Score(key=own, metric=metric, value=value, reason=reason) for own, metric, value, reason in rows)


def load_source(folder: Path) -> ScoreSource:
    if not (folder / NAME).is_file():
        return ScoreSource()
    kept = pl.read_parquet_metadata(folder / NAME)
    asked = json.loads(kept.get(ASKED, "null"))
    return ScoreSource(made_from=kept.get(SOURCE), asked=None if asked is None else tuple(asked))


def score_frame(scores: Sequence[Score]) -> pl.DataFrame:
    rows = [(score.key, score.metric, score.value, score.reason) for score in scores]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def write_scores(folder: Path, scores: Sequence[Score], made_from: str, asked: Sequence[str] | None) -> None:
    _write(folder / NAME, scores, {SOURCE: made_from, ASKED: json.dumps(asked)})


def has_baselines(folder: Path) -> bool:
    """Whether there are such that were made from what the scores were made from."""
    made_from = load_source(folder).made_from
    is_there = made_from is not None and (folder / BASELINES).is_file()
    return is_there and pl.read_parquet_metadata(folder / BASELINES).get(SOURCE) == made_from


def load_baselines(folder: Path) -> pl.DataFrame:
    """As scores; empty where there are none that belong to the scores."""
    return pl.read_parquet(folder / BASELINES) if has_baselines(folder) else score_frame(())


def write_baselines(folder: Path, baselines: Sequence[Score]) -> None:
    """Of the scores that are there: when those are made anew, these are void."""
    _write(folder / BASELINES, baselines, {SOURCE: load_source(folder).made_from or ""})


def _write(path: Path, scores: Sequence[Score], metadata: dict[str, str]) -> None:
    temporary = path.with_name(f"{path.name}.tmp")
    score_frame(scores).write_parquet(temporary, metadata=metadata)
    temporary.replace(path)
