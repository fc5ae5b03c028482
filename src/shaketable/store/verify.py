"""Proves that nothing stored was lost, doubled or altered."""

from __future__ import annotations

import json
from dataclasses import dataclass

from shaketable.identity import digest_text, trial_key
from shaketable.store.record_reading import COLUMNS
from shaketable.store.records import RecordStore, checksum
from shaketable.store.trace import references
from shaketable.store.wordings import altered
from shaketable.types import Variant

ALTERED = {
    "questions": "their texts, accepted answers or evidence were altered",
    "conditions": "their labels, settings or versions were altered",
    "environments": "what is said of engines and machines was altered",
}
"""What a digest that does not fit means, by table."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    n_records: int
    n_planned: int | None
    problems: tuple[str, ...]
    """Empty: the run is sound."""
    missing: int
    """Planned trials without a record; a run that can be resumed, not a damaged one."""


def verify(store: RecordStore) -> Verdict:
    """Every checksum, every key worked out anew, every reference, every digest, and SQLite's own check."""
    problems = [f"SQLite: {line}" for (line,) in store.rows("PRAGMA integrity_check") if line != "ok"]
    sql = f"""
        SELECT r.{", r.".join(COLUMNS)}, r.checksum, e.id, c.identity, q.item, v.wording, v.variation, v.provenance
        FROM records r LEFT JOIN conditions c ON c.id = r.condition LEFT JOIN variants v ON v.id = r.variant
        LEFT JOIN questions q ON q.id = v.question_id
        LEFT JOIN environments e ON e.id = r.environment"""
    texts = dict(store.rows("SELECT digest, body FROM texts"))
    problems += [f"text {name} was altered" for name, body in texts.items() if digest_text(body) != name]
    n_records = 0
    for row in store.rows(sql):
        n_records += 1
        values, found, environment, identity, item, wording, variation, provenance = (
            row[: len(COLUMNS)],
            *row[len(COLUMNS) :],
        )
        key, temperature, repeat = values[0], values[3], values[4]
        if checksum(values) != found:
            problems.append(f"record {key}: its content does not match its checksum")
        if identity is None or item is None or environment is None:
            problems.append(f"record {key}: its condition, question or environment is missing")
            continue
        variant = Variant(question_id="", text=wording, variation=variation, provenance=json.loads(provenance))
        if trial_key(identity, item, variation, variant.spelled, temperature, repeat) != key:
            problems.append(f"record {key}: its key does not belong to its trial")
        problems += [
            f"record {key}: text {name} is missing"
            for name in references(values[COLUMNS.index("trace")])
            if name not in texts
        ]
    problems += altered(store.rows)
    meta = store.meta()
    problems += [
        f"{table}: {altered}"
        for table, altered in ALTERED.items()
        if meta.get(table) not in (None, store.table_digest(table))
    ]
    planned = meta.get("n_trials")
    n_planned = int(planned) if planned is not None else None
    if n_planned is not None and n_records > n_planned:
        problems.append(f"{n_records} records for {n_planned} planned trials")
    return Verdict(
        n_records=n_records,
        n_planned=n_planned,
        problems=tuple(problems),
        missing=max(0, (n_planned or n_records) - n_records),
    )
