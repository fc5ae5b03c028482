"""An SQLite file of a run: opened, checked, and explained when it cannot be used."""

from __future__ import annotations

import contextlib
import datetime
import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from shaketable.errors import StoreError
from shaketable.store import schema


class Database:
    """One writer, any number of readers."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        with self._explained():
            self._connection = self._open(read_only)

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """What SQLite says against the file, in words with a next step."""
        try:
            yield
        except UnicodeEncodeError as error:
            near = error.object[max(0, error.start - 30) : error.start].strip()
            raise StoreError(
                f"{self.path}: a text holds half a character (a lone surrogate), after '{near}'. It cannot be stored; "
                "mend it in the data, then run again."
            ) from error
        except sqlite3.OperationalError as error:
            raise StoreError(
                f"{self.path} cannot be used now: {error}. What was stored before is kept. "
                "Check the disk's space and the file's permissions, then run again."
            ) from error
        except sqlite3.DatabaseError as error:
            raise StoreError(
                f"{self.path} cannot be read as a run's records: {error}. Nothing was changed. "
                "Restore it from a copy, or move the folder away and run the study again."
            ) from error

    def _open(self, read_only: bool) -> sqlite3.Connection:
        if read_only and not self.path.exists():
            raise self._nothing_yet()
        uri = reading_uri(self.path) if read_only else f"{self.path.absolute().as_uri()}?mode=rwc"
        connection = sqlite3.connect(uri, uri=True)
        try:
            self._check(connection, read_only)
        except BaseException:
            connection.close()
            raise
        return connection

    def _check(self, connection: sqlite3.Connection, read_only: bool) -> None:
        """Make the tables of a new file; refuse files that are not a run's, or a later format's."""
        # A run that was killed in its first moment leaves a file without tables.
        if not connection.execute("PRAGMA schema_version").fetchone()[0]:
            if read_only:
                raise self._nothing_yet()
            connection.execute("PRAGMA journal_mode = WAL")
            schema.create(connection)
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if application != schema.APPLICATION:
            raise StoreError(
                f"{self.path} is an SQLite file, but not one of Shaketable's. Nothing was changed. Use another folder."
            )
        if version > schema.VERSION:
            raise StoreError(
                f"{self.path} was written by a newer Shaketable (format {version}, "
                f"this one reads up to {schema.VERSION}). Update Shaketable."
            )
        if not read_only:
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = OFF")
            schema.migrate(connection, version)
        elif version <= schema.BEFORE_MONEY:
            connection.execute(schema.OLDER_RECORDS)

    def _nothing_yet(self) -> StoreError:
        return StoreError(
            f"There are no records in {self.path} yet. "
            f"Answer the study first: shaketable run {self.path.parent} --out {self.path.parent}."
        )

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of a reading query."""
        with self._explained():
            return self._connection.execute(sql, values).fetchall()

    def _stream(self, sql: str, values: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
        with self._explained():
            cursor = self._connection.execute(sql, values)
        while True:
            with self._explained():
                row = cursor.fetchone()
            if row is None:
                return
            yield row

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it is stored, or nothing."""
        with self._explained(), self._connection:
            yield self._connection

    def _has_table(self, name: str) -> bool:
        """A file of an older format, opened for reading, has fewer."""
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE name = ?", name))

    def meta(self) -> dict[str, str]:
        return dict(self.rows("SELECT name, value FROM meta"))

    def set_meta(self, **values: object) -> None:
        with self._writing() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO meta VALUES (?, ?)", [(k, str(v)) for k, v in values.items()]
            )

    def note_time(self, seconds: float) -> None:
        """Add the time of one go at answering, and say when it ended."""
        before = float(self.meta().get("seconds", 0.0))
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        self.set_meta(seconds=before + seconds, finished=now)


def reading_uri(path: Path) -> str:
    """How SQLite opens the file without changing it.

    In write-ahead mode even readers keep a small file beside it. Where they may not, and nothing waits to be merged,
    nobody else writes either: the file can be taken as it is.
    """
    log = path.with_name(f"{path.name}-wal")
    is_still = not os.access(path.parent, os.W_OK) and not (log.exists() and log.stat().st_size)
    return f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if is_still else ''}"
