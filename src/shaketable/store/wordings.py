"""The wordings of a run: what each variation made of each question, and what that took."""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from shaketable.identity import canonical, digest
from shaketable.store.sealing.seals import Changes, insert_sealed, remove_sealed
from shaketable.types import Making, Rewording, Variant

Rows = Callable[..., list[tuple[Any, ...]]]
"""A reading query and its values → rows."""
Stream = Callable[..., Iterator[tuple[Any, ...]]]
"""The same, one row after the other."""
COUNTS = ("n_attempts", "n_calls", "n_failures", "n_prompt_tokens", "n_tokens", "seconds")
"""The fields of a `Making`, in its order."""
REFUSED_BEFORE = (
    "rejected IS NOT NULL AND question_id = ? AND (variation, wording) IN "
    "(SELECT variation, wording FROM wordings WHERE part = ? AND question_id = ? AND rejected IS NOT NULL)"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class WordedQuestion:
    """What a variation made of one question, as it is stored."""

    question_id: str
    part: str
    """The variation as labels show it."""
    made_by: str | None
    """The variation as keys spell it, with its version and what is in its files; None: it was not kept."""
    original: str
    """The question's text when it was reworded."""
    rewording: Rewording


@dataclass(frozen=True, kw_only=True, slots=True)
class WordingEffort:
    """What the wordings by one variation took that asked a model."""

    part: str
    n_questions: int
    making: Making


def write_worded(connection: sqlite3.Connection, changes: Changes, worded: Iterable[WordedQuestion]) -> None:
    """Part of a transaction; what was stored of these questions is replaced."""
    for question in worded:
        key = (question.part, question.question_id)
        wordings = [
            (variant.variation, variant.text, canonical(variant.provenance), variant.rejected)
            for variant in question.rewording.variants
        ]
        counts = _counts(question.rewording.making)
        row = (*key, question.made_by, question.original, int(question.rewording.may_retry), *counts)
        # What was refused before, because a model was busy, is not refused any more.
        remove_sealed(connection, changes, "variants", REFUSED_BEFORE, (question.question_id, *key))
        remove_sealed(connection, changes, "wordings", "part = ? AND question_id = ?", key)
        insert_sealed(connection, changes, "rewordings", "part, question_id", [(*row, _checksum(row, wordings))])
        placed = [(*key, place, *wording) for place, wording in enumerate(wordings)]
        insert_sealed(connection, changes, "wordings", "part, question_id, place", placed)


def read_worded(rows: Rows, part: str) -> Iterator[WordedQuestion]:
    """What is stored of one variation."""
    wordings = _wordings(rows, "part = ?", part)
    for row in rows("SELECT * FROM rewordings WHERE part = ? ORDER BY question_id", part):
        _, question_id, made_by, original, may_retry, *counts, _ = row
        yield WordedQuestion(
            question_id=question_id,
            part=part,
            made_by=made_by,
            original=original,
            rewording=Rewording(
                variants=tuple(
                    Variant(
                        question_id=question_id,
                        text=text,
                        variation=variation,
                        provenance=json.loads(provenance),
                        rejected=rejected,
                    )
                    for variation, text, provenance, rejected in wordings[part, question_id]
                ),
                making=None if counts[0] is None else Making(**dict(zip(COUNTS, counts, strict=True))),
                may_retry=bool(may_retry),
            ),
        )


def read_efforts(rows: Rows) -> list[WordingEffort]:
    """Of each variation that asked a model since this is counted."""
    if not _has_table(rows):
        return []
    summed = ", ".join(f"SUM({name})" for name in COUNTS)
    return [
        WordingEffort(part=part, n_questions=n, making=Making(**dict(zip(COUNTS, counts, strict=True))))
        for part, n, *counts in rows(
            f"SELECT part, COUNT(*), {summed} FROM rewordings WHERE n_calls > 0 GROUP BY part ORDER BY part"
        )
    ]


def read_checks(rows: Rows) -> list[tuple[str, str]]:
    """Return each variation whose wordings passed another check than the full one, with that check."""
    if not _has_table(rows):
        return []
    check = "json_extract(provenance, '$.check')"
    found = rows(f"SELECT DISTINCT part, {check} FROM wordings WHERE {check} IS NOT NULL ORDER BY 1, 2")
    return [(part, check) for part, check in found]


def find_altered(stream: Stream) -> Iterator[tuple[str, str]]:
    """Variation and question whose stored wordings, or what is told of them, do not match their checksum."""
    if not next(stream("SELECT 1 FROM sqlite_master WHERE name = 'rewordings'"), None):
        return
    rows = stream(
        """SELECT r.*, w.variation, w.wording, w.provenance, w.rejected, w.place IS NOT NULL FROM rewordings r
           LEFT JOIN wordings w ON w.part = r.part AND w.question_id = r.question_id
           WHERE r.checksum IS NOT NULL ORDER BY r.part, r.question_id, w.place"""
    )
    for (part, question_id), joined in itertools.groupby(rows, key=lambda row: row[:2]):
        own = list(joined)
        wordings = [row[-5:-1] for row in own if row[-1]]
        if _checksum(own[0][: len(COUNTS) + 5], wordings) != own[0][len(COUNTS) + 5]:
            yield part, question_id


def _counts(making: Making | None) -> tuple[float | None, ...]:
    if making is None:
        return (None,) * len(COUNTS)
    whole = making.n_attempts, making.n_calls, making.n_failures, making.n_prompt_tokens, making.n_tokens
    return (*whole, float(making.seconds))


def _wordings(rows: Rows, where: str, *values: str) -> dict[tuple[str, str], list[tuple[Any, ...]]]:
    """By variation and question, in order."""
    wordings: dict[tuple[str, str], list[tuple[Any, ...]]] = defaultdict(list)
    for part, question_id, *columns in rows(
        "SELECT part, question_id, variation, wording, provenance, rejected FROM wordings "
        f"WHERE {where} ORDER BY part, question_id, place",
        *values,
    ):
        wordings[part, question_id].append(tuple(columns))
    return wordings


def _has_table(rows: Rows) -> bool:
    """A file of an older format, opened for reading, has none."""
    return bool(rows("SELECT 1 FROM sqlite_master WHERE name = 'rewordings'"))


def _checksum(row: tuple[Any, ...], wordings: list[tuple[Any, ...]]) -> str:
    return digest([row, wordings])[:16]
