"""The tables of `records.sqlite`, and how older files become newer ones."""

from __future__ import annotations

import functools
import sqlite3

from shaketable.store.sealing import seals

VERSION = 7
APPLICATION = 0x53484B54  # "SHKT": tells a run from any other SQLite file.

FIRST = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE questions (
    id TEXT PRIMARY KEY, dataset TEXT NOT NULL, text TEXT NOT NULL, answers TEXT NOT NULL, tags TEXT NOT NULL,
    body TEXT NOT NULL, item TEXT NOT NULL, place INTEGER NOT NULL
) STRICT;
CREATE TABLE variants (
    id INTEGER PRIMARY KEY, question_id TEXT NOT NULL REFERENCES questions, variation TEXT NOT NULL,
    wording TEXT NOT NULL, provenance TEXT NOT NULL, rejected TEXT,
    UNIQUE (question_id, variation, wording)
) STRICT;
CREATE TABLE conditions (
    id INTEGER PRIMARY KEY, model TEXT NOT NULL, method TEXT NOT NULL, retriever TEXT, perturbation TEXT,
    identity TEXT NOT NULL UNIQUE, parts TEXT NOT NULL
) STRICT;
CREATE TABLE environments (id INTEGER PRIMARY KEY, body TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE texts (digest TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE records (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,
    variant INTEGER NOT NULL REFERENCES variants, condition INTEGER NOT NULL REFERENCES conditions,
    temperature REAL NOT NULL, repeat INTEGER NOT NULL, seed INTEGER NOT NULL,
    answer TEXT, failure TEXT, may_retry INTEGER NOT NULL,
    n_searches INTEGER NOT NULL, n_generations INTEGER NOT NULL, n_prompt_tokens INTEGER NOT NULL,
    n_tokens INTEGER NOT NULL, seconds REAL NOT NULL,
    environment INTEGER NOT NULL REFERENCES environments, trace TEXT NOT NULL, checksum TEXT NOT NULL
) STRICT;
CREATE INDEX records_by_variant ON records (variant);
CREATE INDEX records_by_condition ON records (condition, temperature);
"""

REFERENCES = """
CREATE TABLE reference_answers (
    question_id TEXT NOT NULL, made_by TEXT NOT NULL, text TEXT NOT NULL, whole TEXT NOT NULL, flags TEXT NOT NULL,
    PRIMARY KEY (question_id, made_by)
) STRICT, WITHOUT ROWID;
"""
CURVES = """
CREATE TABLE curves (key TEXT PRIMARY KEY, settings TEXT NOT NULL, body TEXT NOT NULL) STRICT, WITHOUT ROWID;
"""
VERDICTS = """
CREATE TABLE verdicts (
    judge TEXT NOT NULL, prompt TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (judge, prompt)
) STRICT, WITHOUT ROWID;
"""
WORDINGS = """
CREATE TABLE rewordings (
    part TEXT NOT NULL, question_id TEXT NOT NULL, made_by TEXT, original TEXT NOT NULL, may_retry INTEGER NOT NULL,
    n_attempts INTEGER, n_calls INTEGER, n_failures INTEGER, n_prompt_tokens INTEGER, n_tokens INTEGER, seconds REAL,
    checksum TEXT, PRIMARY KEY (part, question_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE wordings (
    part TEXT NOT NULL, question_id TEXT NOT NULL, place INTEGER NOT NULL, variation TEXT NOT NULL,
    wording TEXT NOT NULL, provenance TEXT NOT NULL, rejected TEXT, PRIMARY KEY (part, question_id, place)
) STRICT, WITHOUT ROWID;
"""
"""What each variation made of each question: one row of `rewordings` for the question, and one of `wordings` for each
wording, of which there may be none. `part` is the variation as labels show it, `made_by` as keys spell it."""
WORDED_BEFORE = """
INSERT INTO rewordings (part, question_id, original, may_retry)
    SELECT DISTINCT v.variation, v.question_id, q.text, 0 FROM variants v JOIN questions q ON q.id = v.question_id
    WHERE json_extract(v.provenance, '$.by') NOT IN ('rules', 'people');
INSERT INTO wordings
    SELECT v.variation, v.question_id, ROW_NUMBER() OVER (PARTITION BY v.variation, v.question_id ORDER BY v.id) - 1,
           v.variation, v.wording, v.provenance, v.rejected
    FROM variants v WHERE json_extract(v.provenance, '$.by') NOT IN ('rules', 'people');
"""
"""Before version 5 wordings were made anew by each go. A model would not make the same again, so its wordings are taken
from the variants; rules make the same, and are asked once more."""
MONEY = """
ALTER TABLE records ADD COLUMN dollars REAL;
ALTER TABLE records ADD COLUMN reused INTEGER NOT NULL DEFAULT 0;
"""
UNDERWAY = """
CREATE TABLE underway (
    key TEXT NOT NULL, place INTEGER NOT NULL, prompt TEXT NOT NULL, reply TEXT NOT NULL, n_calls INTEGER NOT NULL,
    dollars REAL, checksum TEXT NOT NULL, PRIMARY KEY (key, place)
) STRICT, WITHOUT ROWID;
"""
"""Replies to trials that have not ended."""
TABLES = FIRST + REFERENCES + CURVES + VERDICTS + WORDINGS + MONEY + UNDERWAY + seals.TABLE
OLDER_RECORDS = "CREATE TEMP VIEW records AS SELECT *, NULL AS dollars, 0 AS reused FROM main.records"
"""A file of version 5 or older that is only read has the newer columns by this view, which stands before its table."""
BEFORE_MONEY = 5
BEFORE_SEALS = 6

MIGRATIONS: dict[int, str] = {
    1: REFERENCES,
    2: CURVES,
    3: VERDICTS,
    4: WORDINGS + WORDED_BEFORE,
    BEFORE_MONEY: MONEY,
    BEFORE_SEALS: UNDERWAY + seals.TABLE,
}
"""Version n → the statements that make it n + 1. Traces of version 5 keep every field of a step and its reply; those of
older versions are read as they are."""

OBJECTS = "SELECT type, name, tbl_name, sql FROM main.sqlite_schema"


@functools.cache
def _objects(version: int) -> frozenset[tuple[str, ...]]:
    """The tables and indexes of a new file in the format of this version."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(FIRST + "".join(MIGRATIONS[before] for before in range(1, version)))
        return _read_objects(connection)
    finally:
        connection.close()


def _read_objects(connection: sqlite3.Connection) -> frozenset[tuple[str, ...]]:
    """What makes up the layout of a file: views and triggers too. White space in statements means nothing."""
    return frozenset(
        (kind, name, table, "".join((sql or "").split())) for kind, name, table, sql in connection.execute(OBJECTS)
    )


def find_altered(connection: sqlite3.Connection, version: int) -> list[str]:
    """Name what a file of this version has otherwise than a run: a view would be read for ever, and a trigger would
    delete records, without any record being altered."""
    altered = _objects(min(version, VERSION)) ^ _read_objects(connection)
    return sorted({f"{kind} {name}" for kind, name, *_ in altered})


def create(connection: sqlite3.Connection) -> None:
    """All tables and the marks of the format in one transaction: a file is a run's, or still empty."""
    marks = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
    connection.executescript(f"BEGIN IMMEDIATE; {TABLES} {marks} COMMIT;")


def migrate(connection: sqlite3.Connection, found: int) -> None:
    """Bring an older file up to date, each version in one transaction."""
    for version in range(found, VERSION):
        connection.executescript(f"BEGIN; {MIGRATIONS[version]}")
        if version == BEFORE_SEALS:
            seals.seal_all(connection)
        connection.execute(f"PRAGMA user_version = {version + 1}")
        connection.execute("COMMIT")
