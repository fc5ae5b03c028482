"""`records.sqlite`: finished trials, appended as they finish, readable by others meanwhile."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from shaketable.errors import StoreError
from shaketable.identity import canonical, digest_text
from shaketable.store import trace
from shaketable.store.derived import Derived
from shaketable.store.dimensions import Condition, Dimensions
from shaketable.types import Cost, Json, Record, Trial, Variant

COLUMNS = (
    *("key", "variant", "condition", "temperature", "repeat", "seed", "answer", "failure", "may_retry"),
    *("n_searches", "n_generations", "n_prompt_tokens", "n_tokens", "seconds", "environment", "trace"),
)
SUMMED = slice(0, 16)
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


class RecordStore(Dimensions, Derived):
    """One writer, any number of readers. Every append is one transaction: `kill -9` leaves whole records."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        super().__init__(path, read_only=read_only)
        self._known_texts: set[str] = set()
        self._digests: OrderedDict[int, tuple[object, str]] = OrderedDict()
        self._values: OrderedDict[str, Any] = OrderedDict()

    def append(self, records: Sequence[tuple[Record, Condition]], environment: Mapping[str, Json]) -> None:
        """Finished records of one model, in one transaction."""
        texts: dict[str, str] = {}

        def keep(value: object) -> str:
            return self._keep(value, texts)

        rows = []
        with self._writing() as connection:
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
            connection.executemany("INSERT OR IGNORE INTO texts VALUES (?, ?)", texts.items())
            connection.executemany(INSERT, rows)
        self._known_texts.update(texts)

    def _keep(self, value: object, texts: dict[str, str]) -> str:
        """The digest of a shared value. Many records share one object, so its digest is worked out once."""
        remembered = self._digests.get(id(value))
        if remembered and remembered[0] is value and (remembered[1] in self._known_texts or remembered[1] in texts):
            return remembered[1]
        body = canonical(value)
        name = digest_text(body)
        if name not in self._known_texts:
            texts[name] = body
        self._digests[id(value)] = (value, name)
        if len(self._digests) > N_REMEMBERED:
            self._digests.popitem(last=False)
        return name

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

    def content_digest(self) -> str:
        """The digest of all that scores and findings are made from."""
        content = hashlib.sha256()
        tables = {name for (name,) in self.rows("SELECT name FROM sqlite_master")}  # An older format has fewer.
        for table, sql in MADE_FROM.items():
            if table in tables:
                for row in self._stream(sql, ()):
                    content.update(f"{table} {row!r}\n".encode("utf-8", "surrogatepass"))
        return content.hexdigest()[:32]

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

    def untouched(self, trial: Trial) -> Record | None:
        """The first record of the same wording and system whose evidence was left as it is."""
        where = (
            "v.question_id = ? AND v.wording = ? AND c.model = ? AND c.method = ? AND c.retriever IS ? "
            "AND c.perturbation = 'unchanged' AND r.answer IS NOT NULL"
        )
        same = (trial.question_id, trial.variant.text, trial.model, trial.method, trial.retriever)
        return next(self.select_records(where, same), None)

    def original_wording(self, trial: Trial) -> Record | None:
        """The record of the original wording under the same condition; None: this is it, or there is none."""
        if trial.variant.variation == "original":
            return None
        where = (
            "v.question_id = ? AND v.variation = 'original' AND c.model = ? AND c.method = ? AND c.retriever IS ? "
            "AND c.perturbation IS ? AND r.temperature = ? AND r.repeat = ?"
        )
        condition = (trial.model, trial.method, trial.retriever, trial.perturbation)
        same = (trial.question_id, *condition, trial.temperature, trial.repeat)
        return next(self.select_records(where, same), None)

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
