"""A narrow index of a run's records in a temporary file, kept up to date; nothing is written into the run's folder."""

from __future__ import annotations

import contextlib
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from shaketable.errors import RunError
from shaketable.store import marks, score_file
from shaketable.store.database import reading_uri
from shaketable.store.records import RecordStore
from shaketable.store.selection import COUNTED

N_SHOWN = 300
"""Characters of an answer that the index keeps, for lists and for searching."""
LOOK_AGAIN_SECONDS = 1.0
"""A run that is going on is asked for news at most this often."""
PATIENCE_SECONDS = 30.0
"""How long one page may look through the records."""
REST = 10
"""Times as long as it took to bring the index up to date."""
ANSWERS = f"SELECT id, variant, substr(answer, 1, {N_SHOWN}) FROM run.records"


@dataclass(frozen=True, kw_only=True, slots=True)
class Index:
    path: Path
    score_columns: Mapping[str, str]
    """Metric → its column: s0, s1 ..."""

    def list_columns(self, text: str) -> str:
        """A text for each score: `, s0 REAL, s1 REAL`."""
        return "".join(f", {text.format(column)}" for column in self.score_columns.values())


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """The run as the index knows it."""

    scores: tuple[int, int] | None
    """Time and size of the file; None: there is none."""
    n_records: int
    last: int


def no_tables(index: Index) -> Sequence[str]:
    return ()


@contextlib.contextmanager
def patience(connection: sqlite3.Connection, seconds: float = PATIENCE_SECONDS) -> Iterator[None]:
    """What is asked within ends with an error when its time is over."""
    end = time.monotonic() + seconds
    connection.set_progress_handler(lambda: time.monotonic() > end, 100_000)
    try:
        yield
    except sqlite3.OperationalError as error:
        if str(error) != "interrupted":
            raise
        raise RunError(
            f"Looking through the records took longer than {seconds:g} s, and was given up. Choose fewer of them "
            "first, by a model, an evidence or a temperature, or leave the words out."
        ) from error


class RecordIndex:
    """Any number of threads may ask."""

    def __init__(self, folder: Path, records_path: Path) -> None:
        self._run_folder, self._records_path = folder, records_path
        self._folder = tempfile.TemporaryDirectory(prefix="shaketable-")
        self._lock = threading.Lock()
        self._index: Index | None = None
        self.seen: Seen | None = None
        self._look_again = 0.0

    def close(self) -> None:
        self._folder.cleanup()

    @contextlib.contextmanager
    def reading(self, mark: Callable[[Index], Sequence[str]] = no_tables) -> Iterator[tuple[sqlite3.Connection, Index]]:
        """A connection to the index as `main` and to the records as `run`; `mark` says which tables must be there.

        What takes too long is given up, so that no page keeps the machine busy when nobody waits for it any more.
        """
        index = self.current()
        for table in mark(index):
            self._mark(index, table)
        with contextlib.closing(sqlite3.connect(f"{index.path.as_uri()}?mode=ro", uri=True)) as connection:
            connection.execute("ATTACH ? AS run", (reading_uri(self._records_path),))
            with patience(connection):
                yield connection, index

    def current(self) -> Index:
        """The index, up to date: new records are added; new scores, and records done again, build it anew."""
        with self._lock:
            if self._index is not None and time.monotonic() < self._look_again:
                return self._index
            start = time.monotonic()
            seen = self._look()
            if self._index is None or self.seen is None:
                self._index = self._build(seen)
            elif seen != self.seen:
                is_longer = seen.scores is None and self.seen.scores is None and self._extend(self._index, seen)
                self._index = self._index if is_longer else self._build(seen)
            self.seen = seen
            # However large the run and fast its growth, building leaves most of the time to other work.
            self._look_again = time.monotonic() + max(LOOK_AGAIN_SECONDS, REST * (time.monotonic() - start))
            return self._index

    def _mark(self, index: Index, table: str) -> None:
        """Make a table of records that many filters never ask for, once it is asked for."""
        with self._lock, self._writing(index.path) as connection:
            if not marks.is_there(connection, table):
                with RecordStore(self._records_path, read_only=True) as store:
                    marks.make(connection, table, store)

    def _look(self) -> Seen:
        with RecordStore(self._records_path, read_only=True) as store:
            [(n, last)] = store.rows("SELECT COUNT(*), COALESCE(MAX(id), 0) FROM records")
        file = self._run_folder / score_file.NAME
        scores = (file.stat().st_mtime_ns, file.stat().st_size) if file.is_file() else None
        return Seen(scores=scores, n_records=n, last=last)

    def _extend(self, index: Index, seen: Seen) -> bool:
        """Add the records stored since; False: some were done again meanwhile."""
        with self._writing(index.path) as connection:
            [(last,)] = connection.execute("SELECT COALESCE(MAX(id), 0) FROM looked")
            connection.execute(f"INSERT INTO looked {_looked_rows(index)} WHERE r.id > ?", (last,))
            connection.execute(f"INSERT INTO said {ANSWERS} WHERE id > ?", (last,))
            [(known,)] = connection.execute("SELECT COUNT(*) FROM looked")
            _note_facets(connection)
            marks.forget(connection)
        # More may have come since they were counted; fewer of them would mean that some have gone.
        return bool(known == seen.n_records or (known > seen.n_records and self._look().n_records == known))

    def _build(self, seen: Seen) -> Index:
        """A new file beside the old one, which readers may still hold."""
        scores = None if seen.scores is None else score_file.scan_scores(self._run_folder)
        metrics = () if scores is None else score_file.metrics_in(scores)
        path = Path(tempfile.mkstemp(dir=self._folder.name, suffix=".sqlite")[1])
        index = Index(path=path, score_columns={metric: f"s{place}" for place, metric in enumerate(metrics)})
        with self._writing(path) as connection:
            _create_tables(connection, index)
            if scores is not None:
                _insert_scores(connection, scores, metrics)
            connection.execute(f"INSERT INTO looked {_looked_rows(index)}")
            connection.execute(f"INSERT INTO said {ANSWERS}")
            connection.execute("CREATE INDEX by_variant ON looked (variant, condition, temperature)")
            for name in (*COUNTED, *index.score_columns.values()):
                connection.execute(f"CREATE INDEX by_{name} ON looked ({name})")
            connection.execute("CREATE INDEX by_factors ON looked (condition, temperature, repeat, failed, variant)")
            _note_facets(connection)
        return index

    @contextlib.contextmanager
    def _writing(self, path: Path) -> Iterator[sqlite3.Connection]:
        with contextlib.closing(sqlite3.connect(path.as_uri(), uri=True)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")  # readers need not wait
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("ATTACH ? AS run", (reading_uri(self._records_path),))
            with connection:
                yield connection


def _create_tables(connection: sqlite3.Connection, index: Index) -> None:
    columns = index.list_columns("{} REAL")
    connection.execute(f"CREATE TEMP TABLE scored (key TEXT PRIMARY KEY{columns}) WITHOUT ROWID")
    connection.execute("CREATE TABLE facets (name TEXT, value)")
    connection.execute(
        f"""CREATE TABLE looked (id INTEGER PRIMARY KEY, variant INTEGER, condition INTEGER, temperature REAL,
                repeat INTEGER, failed INTEGER, is_empty INTEGER, n_searches INTEGER, n_tokens INTEGER,
                seconds REAL{columns})"""
    )
    connection.execute("CREATE TABLE said (id INTEGER PRIMARY KEY, variant INTEGER, answer TEXT)")


def _insert_scores(connection: sqlite3.Connection, scores: pl.LazyFrame, metrics: Sequence[str]) -> None:
    """One row per key, with a column for each metric, which are read one after the other."""
    wide = scores.select("key").unique().collect(engine="streaming").sort("key")
    for metric in metrics:
        of_metric = scores.filter(pl.col("metric") == metric).select("key", pl.col("value").alias(metric)).collect()
        wide = wide.join(of_metric.unique("key", keep="first"), on="key", how="left", maintain_order="left")
    connection.executemany(f"INSERT INTO scored VALUES ({', '.join('?' * (len(metrics) + 1))})", wide.iter_rows())


def _looked_rows(index: Index) -> str:
    """What the index keeps of each record."""
    join = "LEFT JOIN scored s ON s.key = r.key" if index.score_columns else ""
    return f"""SELECT r.id, r.variant, r.condition, r.temperature, r.repeat, r.failure IS NOT NULL,
                      r.failure IS NULL AND TRIM(COALESCE(r.answer, ''), {marks.WHITE}) = '', r.n_searches, r.n_tokens,
                      r.seconds{index.list_columns("s.{}")}
               FROM run.records r {join}"""


def _note_facets(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM facets")
    for name in ("temperature", "repeat"):
        connection.execute(f"INSERT INTO facets SELECT '{name}', {name} FROM looked GROUP BY 2")
