"""`records.sqlite`: finished trials, appended as they finish, readable by others meanwhile."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import os
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, Self

from shaketable.errors import StoreError
from shaketable.identity import canonical, digest, digest_text
from shaketable.store import schema, trace
from shaketable.store.codec import decode
from shaketable.store.wordings import WordedQuestion, WordingEffort, read_efforts, read_worded, write_worded
from shaketable.types import Cost, Curve, Question, Record, Trial, Variant, Verdict

COLUMNS = (
    *("key", "variant", "condition", "temperature", "repeat", "seed", "answer", "failure", "may_retry"),
    *("n_searches", "n_generations", "n_prompt_tokens", "n_tokens", "seconds", "environment", "trace"),
)
SUMMED = slice(0, 16)
SEALED = {"questions": "place, id", "conditions": "id", "environments": "id"}
"""Small tables whose digest stands in `meta`, with the order of their rows; records have checksums of their own."""
MADE_FROM = {
    "records": "SELECT key, checksum FROM records ORDER BY id",
    "questions": "SELECT id, body FROM questions ORDER BY id",
    "variants": "SELECT id, question_id, variation, wording, rejected FROM variants ORDER BY id",
    "conditions": "SELECT id, identity FROM conditions ORDER BY id",
    "reference_answers": "SELECT * FROM reference_answers ORDER BY question_id, made_by",
    "curves": "SELECT * FROM curves ORDER BY key",
}
"""What scores and findings are made from, by table."""
N_REMEMBERED = 4096
"""Shared values that are not worked out or read again."""
INSERT = f"INSERT OR REPLACE INTO records ({', '.join(COLUMNS)}, checksum) VALUES ({', '.join('?' * 17)})"


class Condition(Protocol):
    """What the store keeps of a combination of parts."""

    @property
    def identity(self) -> str: ...
    @property
    def labels(self) -> Mapping[str, str | None]: ...
    @property
    def parts(self) -> list[dict[str, Any]]: ...


class RecordStore:
    """One writer, any number of readers. Every append is one transaction: `kill -9` leaves whole records."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._known_texts: set[str] = set()
        self._digests: OrderedDict[int, tuple[Any, str]] = OrderedDict()
        self._values: OrderedDict[str, Any] = OrderedDict()
        self._ids: dict[tuple[str, Any], int] = {}
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

    # --- meta ---------------------------------------------------------------------------------

    def meta(self) -> dict[str, str]:
        return dict(self.rows("SELECT name, value FROM meta"))

    def set_meta(self, **values: object) -> None:
        with self._explained(), self._connection:
            self._connection.executemany(
                "INSERT OR REPLACE INTO meta VALUES (?, ?)", [(k, str(v)) for k, v in values.items()]
            )

    def note_time(self, seconds: float) -> None:
        """Add the time of one go at answering, and say when it ended."""
        before = float(self.meta().get("seconds", 0.0))
        now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        self.set_meta(seconds=before + seconds, finished=now)

    # --- writing ------------------------------------------------------------------------------

    def add_questions(self, questions: Sequence[tuple[Question, str]]) -> None:
        """Questions with their item digests, as far as they are not there yet."""
        rows = [
            (q.id, q.dataset, q.text, canonical(q.answers), canonical(q.tags), canonical(q), item, place)
            for place, (q, item) in enumerate(questions)
        ]
        with self._explained(), self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO questions VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
            self._note_digest("questions")

    def add_rejected(self, variants: Sequence[Variant]) -> None:
        """Wordings that are not asked, with the reasons, as far as they are not there yet."""
        with self._explained(), self._connection:
            for variant in variants:
                self._variant_id(variant)

    def add_worded(self, worded: Sequence[WordedQuestion]) -> None:
        """What a variation made of some questions, in one transaction."""
        with self._explained(), self._connection:
            write_worded(self._connection, worded)

    def worded(self, part: str) -> dict[str, WordedQuestion]:
        """Question id → what is stored of one variation, which is named by its label."""
        return {question.question_id: question for question in read_worded(self.rows, part)}

    def wording_efforts(self) -> list[WordingEffort]:
        return read_efforts(self.rows)

    def add_references(self, made_by: str, rows: Sequence[tuple[str, str, str, Sequence[str]]]) -> None:
        """Reference answers: question id, text, the whole text it was cut from, flags."""
        values = [(question_id, made_by, text, whole, canonical(flags)) for question_id, text, whole, flags in rows]
        with self._explained(), self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO reference_answers VALUES (?, ?, ?, ?, ?)", values)

    def add_verdicts(self, judge: str, verdicts: Mapping[str, Verdict]) -> None:
        """What a judge said, by the digest of its prompt."""
        rows = [(judge, prompt, canonical(verdict)) for prompt, verdict in verdicts.items()]
        with self._explained(), self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?)", rows)

    def verdicts(self, judge: str) -> dict[str, Verdict]:
        """Digest of the prompt → verdict."""
        if not self.rows("SELECT 1 FROM sqlite_master WHERE name = 'verdicts'"):
            return {}  # A file of an older format, opened for reading.
        rows = self.rows("SELECT prompt, body FROM verdicts WHERE judge = ? ORDER BY prompt", judge)
        return {prompt: decode(Verdict, json.loads(body)) for prompt, body in rows}

    def add_curves(self, settings: str, curves: Sequence[Curve]) -> None:
        """Curves with the digest of the settings that made them; a newer one takes the place of an older."""
        rows = [(curve.key, settings, canonical(curve)) for curve in curves]
        with self._explained(), self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO curves VALUES (?, ?, ?)", rows)

    def curves(self, settings: str | None = None) -> Iterator[Curve]:
        if not self._has_curves():
            return
        where, values = ("1", ()) if settings is None else ("settings = ?", (settings,))
        for (body,) in self._stream(f"SELECT body FROM curves WHERE {where} ORDER BY key", values):
            yield decode(Curve, json.loads(body))

    def curves_of(self, keys: Sequence[str]) -> list[Curve]:
        """The curves of these records."""
        if not self._has_curves():
            return []
        marks = ", ".join("?" * len(keys))
        found = self.rows(f"SELECT body FROM curves WHERE key IN ({marks}) ORDER BY key", *keys)
        return [decode(Curve, json.loads(body)) for (body,) in found]

    def _has_curves(self) -> bool:
        """A file of an older format, opened for reading, has no such table."""
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE name = 'curves'"))

    def _variant_id(self, variant: Variant) -> int:
        unique = (variant.question_id, variant.variation, variant.text)
        known = self._ids.get(("variants", unique))
        if known is not None:
            return known
        return self._row_id(
            "variants", unique, "question_id = ? AND variation = ? AND wording = ?",
            "(question_id, variation, wording, provenance, rejected) VALUES (?, ?, ?, ?, ?)",
            (*unique, canonical(variant.provenance), variant.rejected),
        )  # fmt: skip

    def _condition_id(self, condition: Condition) -> int:
        known = self._ids.get(("conditions", (condition.identity,)))
        if known is not None:
            return known
        labels = condition.labels
        row = (*(labels[kind] for kind in ("model", "method", "retriever", "perturbation")), condition.identity)
        return self._row_id(
            "conditions", (condition.identity,), "identity = ?",
            "(model, method, retriever, perturbation, identity, parts) VALUES (?, ?, ?, ?, ?, ?)",
            (*row, canonical(condition.parts)),
        )  # fmt: skip

    def _environment_id(self, environment: Mapping[str, Any]) -> int:
        body = canonical(environment)
        return self._row_id("environments", (body,), "body = ?", "(body) VALUES (?)", (body,))

    def _row_id(self, table: str, unique: tuple[Any, ...], where: str, insert: str, row: tuple[Any, ...]) -> int:
        known = self._ids.get((table, unique))
        if known is not None:
            return known
        found = self._connection.execute(f"SELECT id FROM {table} WHERE {where}", unique).fetchone()
        row_id = found[0] if found else self._connection.execute(f"INSERT INTO {table} {insert}", row).lastrowid
        assert isinstance(row_id, int)
        if not found and table in SEALED:
            self._note_digest(table)
        self._ids[table, unique] = row_id
        return row_id

    def _note_digest(self, table: str) -> None:
        """Part of the transaction that changes the table."""
        self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (table, self.table_digest(table)))

    def append(self, records: Sequence[tuple[Record, Condition]], environment: Mapping[str, Any]) -> None:
        """Finished records of one model, in one transaction."""
        texts: dict[str, str] = {}

        def keep(value: Any) -> str:
            return self._keep(value, texts)

        rows = []
        with self._explained(), self._connection:
            environment_id = self._environment_id(environment)
            for record, condition in records:
                trial, cost = record.trial, record.cost
                row = (
                    trial.key, self._variant_id(trial.variant), self._condition_id(condition),
                    trial.temperature, trial.repeat, trial.seed,
                    None if record.answer is None else record.answer.text,
                    None if record.failure is None else canonical(record.failure),
                    int(record.failure is not None and record.failure.may_retry),
                    cost.n_searches, cost.n_generations, cost.n_prompt_tokens, cost.n_tokens, cost.seconds,
                    environment_id, trace.pack(record, keep),
                )  # fmt: skip
                rows.append((*row, checksum(row)))
            self._connection.executemany("INSERT OR IGNORE INTO texts VALUES (?, ?)", texts.items())
            self._connection.executemany(INSERT, rows)
        self._known_texts.update(texts)

    def _keep(self, value: Any, texts: dict[str, str]) -> str:
        """The digest of a shared value. Many records share one object, so its digest is worked out once."""
        remembered = self._digests.get(id(value))
        if remembered and remembered[0] is value:
            return remembered[1]
        body = canonical(value)
        name = digest_text(body)
        if name not in self._known_texts:
            texts[name] = body
        self._digests[id(value)] = (value, name)
        if len(self._digests) > N_REMEMBERED:
            self._digests.popitem(last=False)
        return name

    # --- reading ------------------------------------------------------------------------------

    def keys(self) -> set[str]:
        return {key for (key,) in self.rows("SELECT key FROM records")}

    def finished_keys(self) -> set[str]:
        """Keys that need no further run: answered, or failed for good."""
        return {key for (key,) in self.rows("SELECT key FROM records WHERE may_retry = 0")}

    def finished_answers(self) -> dict[str, str | None]:
        """Key → answer of every trial that needs no further run; None: it failed for good."""
        return dict(self.rows("SELECT key, answer FROM records WHERE may_retry = 0"))

    def n_finished(self) -> int:
        return int(self.rows("SELECT COUNT(*) FROM records WHERE may_retry = 0")[0][0])

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows of a reading query."""
        with self._explained():
            return self._connection.execute(sql, values).fetchall()

    def questions(self, made_by: str | None = None) -> list[Question]:
        """The questions, with the sentence-form reference answers that `made_by` wrote, where it is given."""
        rows = self.rows("SELECT body FROM questions ORDER BY place")
        questions = [decode(Question, json.loads(body)) for (body,) in rows]
        if made_by is None:
            return questions
        written = dict(self.rows("SELECT question_id, text FROM reference_answers WHERE made_by = ?", made_by))
        return [replace(question, reference=written.get(question.id)) for question in questions]

    def question(self, question_id: str) -> Question | None:
        """One question alone; None: there is none of this id."""
        found = self.rows("SELECT body FROM questions WHERE id = ?", question_id)
        return decode(Question, json.loads(found[0][0])) if found else None

    def table_digest(self, table: str) -> str:
        """The digest of every stored value of a table."""
        return digest(self.rows(f"SELECT * FROM {table} ORDER BY {SEALED[table]}"))

    def content_digest(self) -> str:
        """The digest of all that scores and findings are made from."""
        content = hashlib.sha256()
        tables = {name for (name,) in self.rows("SELECT name FROM sqlite_master")}  # An older format has fewer.
        for table, sql in MADE_FROM.items():
            if table in tables:
                for row in self._stream(sql, ()):
                    content.update(f"{table} {row!r}\n".encode("utf-8", "surrogatepass"))
        return content.hexdigest()[:32]

    def n_questions(self) -> int:
        return int(self.rows("SELECT COUNT(*) FROM questions")[0][0])

    def keys_beginning(self, beginning: str, limit: int) -> list[str]:
        """Whole keys of records, of their beginning."""
        sql = "SELECT key FROM records WHERE key >= ?1 AND key < ?1 || '~' LIMIT ?2"
        return [key for (key,) in self.rows(sql, beginning, limit)]

    def records(self, *, first_questions: int | None = None, with_trace: bool = True) -> Iterator[Record]:
        """Records one after the other, in the order they were stored; of the first questions alone, or of all.

        Without trace, also without evidence: faster.
        """
        return self.select_records(first_questions_where(first_questions), with_trace=with_trace)

    def record(self, key: str) -> Record | None:
        return next(self.select_records("r.key = ?", (key,)), None)

    def records_of(self, keys: Sequence[str]) -> Iterator[Record]:
        """The records of these keys, as far as they are there."""
        return self.select_records(f"r.key IN ({', '.join('?' * len(keys))})", keys)

    def greedy_records(self, identity: str) -> Iterator[Record]:
        """The first repeat of each trial at temperature 0, of the condition of this identity."""
        return self.select_records("r.temperature = 0 AND r.repeat = 0 AND c.identity = ?", (identity,))

    def select_records(
        self, where: str, values: Sequence[str | float | None] = (), *, with_trace: bool = True
    ) -> Iterator[Record]:
        """For the store's own queries: `where` is SQL over records r, variants v and conditions c."""
        environments = {i: json.loads(body) for i, body in self.rows("SELECT id, body FROM environments")}
        columns = [f"r.{name}" for name in COLUMNS]
        if not with_trace:
            columns[-1] = "json_set(json_remove(r.trace, '$.hits'), '$.events', json_array())"
        sql = f"""
            SELECT {", ".join(columns)}, v.question_id, v.variation, v.wording, v.provenance, v.rejected,
                   c.model, c.method, c.retriever, c.perturbation
            FROM records r JOIN variants v ON v.id = r.variant JOIN conditions c ON c.id = r.condition
            WHERE {where} ORDER BY r.id"""
        for row in self._stream(sql, values):
            r = dict(zip(COLUMNS, row[SUMMED], strict=True))
            question_id, variation, wording, provenance, rejected, model, method, retriever, perturbation = row[16:]
            trial = Trial(
                key=r["key"],
                question_id=question_id,
                variant=Variant(
                    question_id=question_id, text=wording, variation=variation,
                    provenance=json.loads(provenance), rejected=rejected,
                ),
                method=method, retriever=retriever, perturbation=perturbation, model=model,
                temperature=r["temperature"], repeat=r["repeat"], seed=r["seed"],
            )  # fmt: skip
            cost = Cost(
                n_searches=r["n_searches"], n_generations=r["n_generations"],
                n_prompt_tokens=r["n_prompt_tokens"], n_tokens=r["n_tokens"], seconds=r["seconds"],
            )  # fmt: skip
            yield trace.unpack(
                trial, r["answer"], r["failure"], cost, environments[r["environment"]], r["trace"], self._fetch
            )

    def _stream(self, sql: str, values: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
        with self._explained():
            cursor = self._connection.execute(sql, values)
        while True:
            with self._explained():
                row = cursor.fetchone()
            if row is None:
                return
            yield row

    def _fetch(self, name: str, unpack: Callable[[Any], Any]) -> Any:
        """A shared value. Records that follow one another often share it, so it is read once for many."""
        if name not in self._values:
            self._values[name] = unpack(self.shared_text(name))
            if len(self._values) > N_REMEMBERED:
                self._values.popitem(last=False)
        return self._values[name]

    def shared_text(self, name: str) -> Any:
        """The JSON of a value that many records share, by its digest."""
        found = self.rows("SELECT body FROM texts WHERE digest = ?", name)
        if not found:
            raise StoreError(
                f"{self.path}: the text {name} that a record refers to is missing. "
                f"Run: shaketable verify {self.path.parent}."
            )
        return json.loads(found[0][0])


def first_questions_where(n: int | None) -> str:
    """The condition on variants v that their question is among the first n; None: any question."""
    return "1" if n is None else f"v.question_id IN (SELECT id FROM questions ORDER BY place LIMIT {n:d})"


def checksum(row: Sequence[Any]) -> str:
    """A short digest over every stored value of a record."""
    return digest_text("\x1f".join(map(str, row)))[:16]


def reading_uri(path: Path) -> str:
    """How SQLite opens the file without changing it.

    In write-ahead mode even readers keep a small file beside it. Where they may not, and nothing waits to be merged,
    nobody else writes either: the file can be taken as it is.
    """
    log = path.with_name(f"{path.name}-wal")
    is_still = not os.access(path.parent, os.W_OK) and not (log.exists() and log.stat().st_size)
    return f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if is_still else ''}"
