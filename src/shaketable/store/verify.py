"""Proves that nothing stored was lost, doubled or altered, in one pass over the records that holds none of them."""

from __future__ import annotations

import bisect
import functools
import json
from array import array
from collections.abc import Iterator
from dataclasses import dataclass

from shaketable.identity import digest_text, trial_key
from shaketable.store import schema
from shaketable.store.record_reading import COLUMNS
from shaketable.store.records import RecordStore, fits_checksum
from shaketable.store.sealing.last_commit import describe_loss
from shaketable.store.sealing.problems import Problems
from shaketable.store.sealing.seals import COMMITS, SEALED, Seal, sum_rows
from shaketable.store.trace import references
from shaketable.store.wordings import find_altered
from shaketable.types import Variant

ALTERED = {
    "questions": "their texts, accepted answers or evidence were altered",
    "conditions": "their labels, settings or versions were altered",
    "environments": "what is said of engines and machines was altered",
}
"""What a digest that does not fit means, by table."""
RECORDS = f"""
SELECT r.{", r.".join(COLUMNS)}, r.checksum, e.id, c.identity, q.item, v.wording, v.variation, v.provenance
    FROM records r LEFT JOIN conditions c ON c.id = r.condition LEFT JOIN variants v ON v.id = r.variant
    LEFT JOIN questions q ON q.id = v.question_id LEFT JOIN environments e ON e.id = r.environment
"""
UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""What damaged JSON leads to."""
N_SQLITE = 10
"""Sentences of SQLite's own check that are told."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    n_records: int
    n_planned: int | None
    problems: tuple[str, ...]
    """Empty: the run is sound. Of many alike a few are named, and the others counted."""
    n_problems: int
    missing: int
    """Planned trials without a record; a run that can be resumed, not a damaged one."""
    is_sealed: bool
    """Whether it would show that rows are gone; a run of an older version has no seals until it is written to."""


def verify(store: RecordStore) -> Verdict:
    """Every checksum, every key worked out anew, every reference, digest and seal, and SQLite's own check."""
    problems = Problems()
    with store.reading_damaged():
        for (line,) in store.rows(f"PRAGMA integrity_check({N_SQLITE})"):
            if line != "ok":
                problems.add(f"SQLite: {line}")
        texts = _check_texts(store, problems)
        n_records = _check_records(store, texts, problems)
        _check_wordings(store, problems)
        is_sealed = _check_seals(store, problems)
        meta = store.meta()
        for table, altered in ALTERED.items():
            if meta.get(table) not in (None, _digest_of(store, table)):
                problems.add(f"{table}: {altered}")
    planned = str(meta.get("n_trials", ""))
    n_planned = int(planned) if planned.isdecimal() and len(planned) < 19 else None
    if n_planned is not None and n_records > n_planned:
        problems.add(f"{n_records} records for {n_planned} planned trials")
    return Verdict(
        n_records=n_records,
        n_planned=n_planned,
        problems=problems.sentences(),
        n_problems=problems.n,
        missing=max(0, (n_planned or n_records) - n_records),
        is_sealed=is_sealed,
    )


def _check_texts(store: RecordStore, problems: Problems) -> array[int]:
    """The beginnings of their digests in order: eight bytes of each are enough to tell whether one is there."""
    names = array("Q")
    for name, body in store.stream("SELECT digest, body FROM texts"):
        if isinstance(body, str) and digest_text(body) == name:
            names.append(int(name[:16], 16))
        else:
            problems.add("its content does not match its digest: it was altered", f"text {name}")
    return array("Q", sorted(names))


def _check_wordings(store: RecordStore, problems: Problems) -> None:
    try:
        for part, question_id in find_altered(store.stream):
            problems.add("their content does not match their checksum", f"wordings of {question_id} by {part}")
    except UNREADABLE:
        problems.add("wordings: they cannot be read")


def _digest_of(store: RecordStore, table: str) -> str | None:
    """None: values of it are of no kind that is ever stored."""
    try:
        return store.table_digest(table)
    except UNREADABLE:
        return None


def _check_records(store: RecordStore, texts: array[int], problems: Problems) -> int:
    n_records = 0
    for row in store.stream(RECORDS):
        n_records += 1
        values, found = row[: len(COLUMNS)], row[len(COLUMNS)]
        environment, identity, item, wording, variation, provenance = row[len(COLUMNS) + 1 :]
        name = f"record {values[0]}"
        if not fits_checksum(values, str(found)):
            problems.add("its content does not match its checksum", name)
        if identity is None or item is None or environment is None:
            problems.add("its condition, question or environment is missing", name)
            continue
        try:
            spelled = _spell(wording, variation, provenance)
            if trial_key(identity, item, variation, spelled, values[3], values[4]) != values[0]:
                problems.add("its key does not belong to its trial", name)
            for text in _missing(values[COLUMNS.index("trace")], texts):
                problems.add(f"text {text} is missing", name)
        except UNREADABLE:
            problems.add("its trace or the origin of its wording cannot be read", name)
    return n_records


@functools.lru_cache(maxsize=1024)
def _spell(wording: str, variation: str, provenance: str) -> str:
    """A wording as keys spell it; records that follow one another often share it."""
    return Variant(question_id="", text=wording, variation=variation, provenance=json.loads(provenance)).spelled


def _missing(trace: str, texts: array[int]) -> Iterator[str]:
    for name in references(trace):
        beginning = int(name[:16], 16)
        place = bisect.bisect_left(texts, beginning)
        if place == len(texts) or texts[place] != beginning:
            yield name


def _check_seals(store: RecordStore, problems: Problems) -> bool:
    """Whether there are seals; each is worked out anew."""
    if not store.has_table("seals"):
        if store.version > schema.BEFORE_SEALS:
            problems.add("seals: the table is missing")
        return False
    if store.version < schema.VERSION:
        problems.add(f"the number of the format was altered: it is {store.version}, and there are seals")
    seals = {name: Seal(n=n, digest=own) for name, n, own in store.stream("SELECT name, n, digest FROM seals")}
    if not all(isinstance(seal.n, int) and isinstance(seal.digest, str) for seal in seals.values()):
        problems.add("seals: the table was altered")
        return True
    for table, sql in SEALED.items():
        sealed, own = seals.get(table, Seal(n=0, digest=f"{0:032x}")), sum_rows(table, store.stream(sql))
        if sealed.n != own.n:
            problems.add(f"{table}: {own.n:,} rows, and {sealed.n:,} were stored")
        elif sealed.digest != own.digest:
            problems.add(f"{table}: rows do not match their seal: some were altered, or the seal was")
    for name in seals.keys() - SEALED.keys() - {COMMITS}:
        problems.add(f"seals: there is no table {name!r} that would be sealed")
    if loss := describe_loss(store.path, seals):
        problems.add(loss)
    return True
