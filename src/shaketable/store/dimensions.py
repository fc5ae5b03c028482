"""What records refer to: questions, their wordings, conditions and environments, each stored once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from shaketable.identity import canonical
from shaketable.store.codec import decode
from shaketable.store.database import Database
from shaketable.types import Json, Question, Variant

SEALED = {"questions": "place, id", "conditions": "id", "environments": "id"}
"""Small tables whose digest stands in `meta`, with the order of their rows; records have checksums of their own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class UsedPart:
    kind: str
    """`model`, `method`, `retriever`, `perturbation`."""
    label: str
    """As trials name it: the settings that differ from the defaults."""
    name: str
    version: int | None
    """None: the part is not known here, as in an imported run."""
    settings: Mapping[str, Json]


class Condition(Protocol):
    """What the store keeps of a combination of parts."""

    @property
    def identity(self) -> str: ...
    @property
    def labels(self) -> Mapping[str, str | None]: ...
    @property
    def parts(self) -> Sequence[UsedPart]: ...


class Dimensions(Database):
    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        super().__init__(path, read_only=read_only)
        self._ids: dict[tuple[str, tuple[str, ...]], int] = {}

    def add_questions(self, questions: Sequence[tuple[Question, str]]) -> None:
        """Questions with their item digests, as far as they are not there yet."""
        rows = {
            q.id: (q.id, q.dataset, q.text, canonical(q.answers), canonical(q.tags), canonical(q), item, place)
            for place, (q, item) in enumerate(questions)
        }
        for row in self.stream("SELECT * FROM questions"):
            if rows.get(row[0]) == row:
                del rows[row[0]]
        if not rows:
            return
        with self._writing() as connection:
            connection.executemany("INSERT OR REPLACE INTO questions VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows.values())
            self._note_digest("questions")

    def add_rejected(self, variants: Sequence[Variant]) -> None:
        """Wordings that are not asked, with the reasons, as far as they are not there yet."""
        with self._writing():
            for variant in variants:
                self._variant_id(variant)

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

    def questions_of(self, ids: Collection[str]) -> list[Question]:
        """Some questions, as far as they are there."""
        return [question for id in ids if (question := self.question(id)) is not None]

    def n_questions(self) -> int:
        return int(self.rows("SELECT COUNT(*) FROM questions")[0][0])

    def variants(self, question_id: str) -> tuple[Variant, ...]:
        """Every wording of a question, the rejected with their reasons."""
        rows = self.rows(
            "SELECT wording, variation, provenance, rejected FROM variants WHERE question_id = ? ORDER BY id",
            question_id,
        )
        return tuple(_variant(question_id, *row) for row in rows)

    def wordings(self) -> dict[str, list[Variant]]:
        """Every wording by the dataset of its question, the rejected with their reasons."""
        by_dataset: dict[str, list[Variant]] = {}
        for dataset, *columns in self.rows(
            """SELECT q.dataset, v.question_id, v.wording, v.variation, v.provenance, v.rejected
               FROM variants v JOIN questions q ON q.id = v.question_id ORDER BY q.place, v.id"""
        ):
            by_dataset.setdefault(dataset, []).append(_variant(*columns))
        return by_dataset

    def table_digest(self, table: str) -> str:
        """The digest of every stored value of a table."""
        # As the digest of the list of all rows, which are never all in memory.
        content, separator = hashlib.sha256(), "["
        for row in self.stream(f"SELECT * FROM {table} ORDER BY {SEALED[table]}"):
            content.update(f"{separator}{canonical(row)}".encode("utf-8", "surrogatepass"))
            separator = ","
        content.update(b"[]" if separator == "[" else b"]")
        return content.hexdigest()[:32]

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

    def _environment_id(self, environment: Mapping[str, Json]) -> int:
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
        elif not found:
            self._changes.add(table, (row_id, *row))
        self._ids[table, unique] = row_id
        return row_id

    def _note_digest(self, table: str) -> None:
        """Part of the transaction that changes the table."""
        self._put_meta({table: self.table_digest(table)})


def _variant(question_id: str, wording: str, variation: str, provenance: str, rejected: str | None) -> Variant:
    return Variant(
        question_id=question_id,
        text=wording,
        variation=variation,
        provenance=json.loads(provenance),
        rejected=rejected,
    )
