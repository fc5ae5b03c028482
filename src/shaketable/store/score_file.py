"""`scores.parquet`: one row per record and number, and what the scores were made from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from shaketable.errors import RunError
from shaketable.types import Score

NAME = "scores.parquet"
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
    temporary = folder / f"{NAME}.tmp"
    score_frame(scores).write_parquet(temporary, metadata={SOURCE: made_from, ASKED: json.dumps(asked)})
    temporary.replace(folder / NAME)
