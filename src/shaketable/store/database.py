"""An SQLite file of a run: opened, checked, and explained when it cannot be used."""

from __future__ import annotations

import contextlib
import datetime
import os
import sqlite3
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from shaketable.errors import LayoutError, StoreError
from shaketable.store import schema
from shaketable.store.lock import has_locks
from shaketable.store.ownership import open_inside
from shaketable.store.sealing.folder import seal_older
from shaketable.store.sealing.last_commit import Noting, describe_loss
from shaketable.store.sealing.seals import COMMITS, Changes, insert_sealed, read_seals, write_seals

CACHE_KIB = 64 * 1024
"""Pages that a writer keeps: keys are digests, and each record's lands anywhere in their index; with SQLite's 2 MB a
run of a million trials reads pages again and again."""


MOST_NAMED = 200
"""Characters of what is wrong with a file's layout."""


class Database:
    """One writer, any number of readers."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._changes = Changes()
        self._noting: Noting | None = None
        with self._explained():
            self._connection = self._open(read_only)
            if not read_only:
                self._begin_noting()

    def _begin_noting(self) -> None:
        """Tell what was lost since the last commit, and note those to come."""
        seals = read_seals(self._connection)
        loss = describe_loss(self.path, seals)
        self._noting = Noting(self.path)
        if loss is not None:
            warnings.warn(f"{loss} What is missing is asked again.", stacklevel=4)
        elif COMMITS in seals:
            self._noting.note(seals)

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """What SQLite says against the file, in words with a next step."""
        try:
            yield
        except UnicodeEncodeError as error:
            raise StoreError(f"{self.path}: a text {describe_half_character(error)}") from error
        except sqlite3.OperationalError as error:
            raise StoreError(
                f"{self.path} cannot be used now: {error}. What was stored before is kept. "
                "Check the disk's space and the file's permissions, then run again."
            ) from error
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            # Of damaged tables SQLite's own sentence may be no text.
            said = error.object.decode("utf-8", "replace") if isinstance(error, UnicodeDecodeError) else error
            raise StoreError(
                f"{self.path} cannot be read as a run's records: {said}. Nothing was changed. "
                "Restore it from a copy, or move the folder away and run the study again."
            ) from error

    def _open(self, read_only: bool) -> sqlite3.Connection:
        if read_only and not self.path.exists():
            raise self._nothing_yet()
        if not read_only:
            self._make_file()
        uri = reading_uri(self.path) if read_only else f"{self.path.absolute().as_uri()}?mode=rwc"
        connection = sqlite3.connect(uri, uri=True)
        try:
            self._check(connection, read_only)
        except BaseException:
            connection.close()
            raise
        return connection

    def _make_file(self) -> None:
        """SQLite would let everybody read it; the files beside it get its mode. What stands against it SQLite tells."""
        with contextlib.suppress(OSError):
            os.close(open_inside(self.path))

    def _check(self, connection: sqlite3.Connection, read_only: bool) -> None:
        """Make the tables of a new file; refuse files that are not a run's, or a later format's."""
        connection.execute("PRAGMA trusted_schema = OFF")
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
        if altered := schema.find_altered(connection, version):
            raise LayoutError(
                f"{self.path} has another layout than the records of a run: {', '.join(altered)[:MOST_NAMED]}. It was "
                "altered or damaged, and nothing of it was read or changed. Restore it from a copy, or move the folder "
                "away and run the study again."
            )
        if not read_only:
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = OFF")
            connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
            if version <= schema.BEFORE_SEALS:
                seal_older(self.path.parent)
            schema.migrate(connection, version)
        elif version <= schema.BEFORE_MONEY:
            connection.execute(schema.OLDER_RECORDS)

    def _nothing_yet(self) -> StoreError:
        return StoreError(
            f"There are no records in {self.path} yet. "
            f"Answer the study first: shaketable run {self.path.parent} --out {self.path.parent}."
        )

    @property
    def version(self) -> int:
        """Of the format."""
        return int(self.rows("PRAGMA user_version")[0][0])

    def copy_to(self, target: sqlite3.Connection) -> None:
        with self._explained():
            self._connection.backup(target)

    def close(self) -> None:
        self._connection.close()
        if self._noting is not None:
            self._noting.close()
            self._noting = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of a reading query."""
        with self._explained():
            return self._connection.execute(sql, values).fetchall()

    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """The same, one after the other: they are never all in memory."""
        with self._explained():
            cursor = self._connection.execute(sql, values)
        while True:
            with self._explained():
                row = cursor.fetchone()
            if row is None:
                return
            yield row

    @contextlib.contextmanager
    def reading_damaged(self) -> Iterator[None]:
        """Texts that are not UTF-8 any more are read too, as texts that nobody wrote."""
        usual = self._connection.text_factory
        self._connection.text_factory = lambda content: content.decode("utf-8", "surrogateescape")
        try:
            yield
        finally:
            self._connection.text_factory = usual

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it is stored with its seals, or nothing."""
        self._changes = Changes()
        seals = None
        with self._explained(), self._connection:
            yield self._connection
            if self._changes.counts or self._connection.in_transaction:
                seals = write_seals(self._connection, self._changes)
        if seals is not None and self._noting is not None:
            self._noting.note(seals)

    def has_table(self, name: str) -> bool:
        """A file of an older format, opened for reading, has fewer."""
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE name = ?", name))

    def meta(self) -> dict[str, str]:
        return dict(self.rows("SELECT name, value FROM meta"))

    def set_meta(self, **values: object) -> None:
        """What is there already is not written again: a run that has nothing to do stays as it is."""
        known = self.meta()
        if new := {name: str(value) for name, value in values.items() if known.get(name) != str(value)}:
            with self._writing():
                self._put_meta(new)

    def _put_meta(self, values: Mapping[str, str]) -> None:
        """Part of a transaction."""
        insert_sealed(self._connection, self._changes, "meta", "name", values.items())

    def note_time(self, seconds: float) -> None:
        """Add the time of one go at answering, and say when it ended."""
        before = float(self.meta().get("seconds", 0.0))
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        self.set_meta(seconds=before + seconds, finished=now)


def reading_uri(path: Path) -> str:
    """How SQLite opens the file without changing it.

    In write-ahead mode even readers keep a small file beside it. Where they may not, and nothing waits to be merged,
    nobody else writes either: the file can be taken as it is. Where the disk has no locks, too.
    """
    log = path.with_name(f"{path.name}-wal")
    is_log_empty = not (log.exists() and log.stat().st_size)
    is_still = is_log_empty and not (os.access(path.parent, os.W_OK) and has_locks(path.parent))
    return f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if is_still else ''}"


def describe_half_character(error: UnicodeEncodeError) -> str:
    near = error.object[max(0, error.start - 30) : error.start].strip()
    return (
        f"holds half a character (a lone surrogate), after '{near}'. It cannot be stored; mend it in the data, then "
        "run again."
    )
