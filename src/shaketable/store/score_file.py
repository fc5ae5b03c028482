"""`scores.parquet`: one row per record and number, and what they were made from; `baselines.parquet` beside it."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import polars as pl

from shaketable.errors import RunError
from shaketable.store.frame_file import write_frames
from shaketable.store.sealing.files import refuse_altered, replace_sealed
from shaketable.text.whole_file import beside
from shaketable.types import Score

NAME = "scores.parquet"
BASELINES = "baselines.parquet"
SCHEMA = {"key": pl.String, "metric": pl.String, "value": pl.Float64, "reason": pl.String}
SCORES_AT_ONCE = 100_000
"""Scores that are Python values at a time."""
SOURCE, ASKED = "made_from", "asked"


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreSource:
    """What is kept beside the scores."""

    made_from: str | None = None
    """The digest of what they were made from; None: there are no scores, or an older version made them."""
    asked: tuple[str, ...] | None = None
    """The metrics that were asked for instead of the study's; None: the study's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenScores:
    """Scores and their baselines as they stood when they were opened, whatever takes their place meanwhile."""

    rows: pl.LazyFrame
    source: ScoreSource
    stamp: tuple[int, int]
    """Time and size of the file."""
    baselines: pl.LazyFrame | None
    """None: there were none that belong to the scores."""


def open_scores(folder: Path) -> OpenScores | None:
    """None: there are none."""
    if not (folder / NAME).is_file():
        return None
    with _opened(folder / NAME) as file:
        status, source = os.fstat(file.fileno()), _source_in(file)
        return OpenScores(
            rows=_scan(file),
            source=source,
            stamp=(status.st_mtime_ns, status.st_size),
            baselines=_open_baselines(folder, source.made_from),
        )


def scan_scores(folder: Path) -> pl.LazyFrame:
    """Key, metric, value, reason, to be read when they are asked for, also if others take their place before."""
    if not (folder / NAME).is_file():
        raise RunError(f"{folder} has no scores yet. Run: shaketable score {folder}.")
    with _opened(folder / NAME) as file:
        return _scan(file)


def metrics_in(scores: pl.LazyFrame) -> list[str]:
    """The numbers that there are scores of, in their order."""
    return scores.select("metric").unique(maintain_order=True).collect(engine="streaming")["metric"].to_list()


def load_scores(folder: Path, columns: Sequence[str] = tuple(SCHEMA)) -> pl.DataFrame:
    """Key, metric, value, reason, or some of them."""
    scores = scan_scores(folder)
    with _reading(folder / NAME):
        return scores.select(*columns).collect()


def load_scores_of(folder: Path, key: str) -> tuple[Score, ...]:
    """Those of one record."""
    if not (folder / NAME).is_file():
        return ()
    with _opened(folder / NAME) as file:
        rows = _scan(file).filter(pl.col("key") == key).collect().iter_rows()
    return tuple(Score(key=own, metric=metric, value=value, reason=reason) for own, metric, value, reason in rows)


def load_scores_by(folder: Path, metrics: Sequence[str]) -> Iterator[Score]:
    """Those of some numbers, in their order."""
    with _opened(folder / NAME) as file:
        frame = _scan(file).filter(pl.col("metric").is_in(list(metrics))).collect()
    for key, metric, value, reason in frame.iter_rows():
        yield Score(key=key, metric=metric, value=value, reason=reason)


def load_source(folder: Path) -> ScoreSource:
    if not (folder / NAME).is_file():
        return ScoreSource()
    with _opened(folder / NAME) as file:
        return _source_in(file)


def _source_in(file: IO[bytes]) -> ScoreSource:
    kept = pl.read_parquet_metadata(file)
    asked = json.loads(kept.get(ASKED, "null"))
    return ScoreSource(made_from=kept.get(SOURCE), asked=None if asked is None else tuple(asked))


def _scan(file: IO[bytes]) -> pl.LazyFrame:
    """Reads the file that is open, not the one that has its name later; it may be closed here."""
    file.seek(0)
    rows = pl.scan_parquet(file).select(*SCHEMA)
    rows.collect_schema()  # What has other columns is told now.
    return rows


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    with _reading(path), path.open("rb") as file:
        yield file


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[None]:
    """What was altered is not looked into; what cannot be read, as of a version that sealed nothing, is told."""
    advice = f"Make it anew: shaketable score {path.parent}."
    refuse_altered(path, advice)
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError, TypeError) as error:
        problem = str(error).partition("\n")[0]
        raise RunError(f"{path} cannot be read as scores: {problem}. {advice}") from error


def score_frame(scores: Iterable[Score]) -> pl.DataFrame:
    rows = [(score.key, score.metric, score.value, score.reason) for score in scores]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def write_scores(folder: Path, scores: Iterable[Score], made_from: str, asked: Sequence[str] | None) -> int:
    """Returns how many there are."""
    return _write(folder / NAME, scores, {SOURCE: made_from, ASKED: json.dumps(asked)})


def has_baselines(folder: Path) -> bool:
    """Whether there are such that were made from what the scores were made from."""
    return _open_baselines(folder, load_source(folder).made_from) is not None


def load_baselines(folder: Path) -> pl.DataFrame:
    """As scores; empty where there are none that belong to the scores."""
    baselines = _open_baselines(folder, load_source(folder).made_from)
    if baselines is None:
        return score_frame(())
    with _reading(folder / BASELINES):
        return baselines.collect()


def _open_baselines(folder: Path, made_from: str | None) -> pl.LazyFrame | None:
    """None: there are none that were made from this."""
    if made_from is None or not (folder / BASELINES).is_file():
        return None
    with _opened(folder / BASELINES) as file:
        return _scan(file) if _source_in(file).made_from == made_from else None


def write_baselines(folder: Path, baselines: Iterable[Score], made_from: str) -> None:
    """Of the scores that were made from the same: when those are made anew, these are void."""
    _write(folder / BASELINES, baselines, {SOURCE: made_from})


def _write(path: Path, scores: Iterable[Score], metadata: dict[str, str]) -> int:
    with beside(path) as temporary:
        n = write_frames(_slices(iter(scores)), temporary, "parquet", metadata)
        replace_sealed(temporary, path)
    return n


def _slices(scores: Iterator[Score]) -> Iterator[pl.DataFrame]:
    """One at least."""
    yield score_frame(itertools.islice(scores, SCORES_AT_ONCE))
    while some := tuple(itertools.islice(scores, SCORES_AT_ONCE)):
        yield score_frame(some)
