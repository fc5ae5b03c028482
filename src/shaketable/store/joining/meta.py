"""What several runs noted of themselves, as one run would have."""

from __future__ import annotations

import json
from collections.abc import Mapping

from shaketable.store.money import lost
from shaketable.store.records import RecordStore

SPENT = """
SELECT COALESCE(SUM(n_generations * (NOT reused)), 0), COALESCE(SUM(CASE WHEN reused THEN NULL ELSE dollars END), 0.0)
    FROM records
"""


def join_meta(joined: RecordStore, runs: Mapping[str, RecordStore]) -> dict[str, object]:
    """Times, and what was spent on calls of which no record tells: answers that another run gave too among them."""
    metas = [run.meta() for run in runs.values()]
    spent = [run.rows(SPENT)[0] for run in runs.values()]
    gone = [lost(run) for run in runs.values()]
    [(n_calls, dollars)] = joined.rows(SPENT)
    n_underway, dollars_underway = joined.spent_underway()
    created = [meta["created"] for meta in metas if "created" in meta]
    finished = [meta["finished"] for meta in metas if "finished" in meta]
    return {
        **({"created": min(created)} if created else {}),
        "seconds": sum(float(meta.get("seconds", 0.0)) for meta in metas),
        "lost_calls": sum(own.n_calls for own in gone) + sum(n for n, _ in spent) - n_calls - n_underway,
        "lost_dollars": round(
            sum(own.dollars for own in gone) + sum(own for _, own in spent) - dollars - dollars_underway, 9
        ),
        "joined": json.dumps(
            [
                {"run": name, "created": meta.get("created"), "content": run.content_digest()}
                for (name, run), meta in zip(runs.items(), metas, strict=True)
            ],
            ensure_ascii=False,
        ),
        **({"finished": max(finished)} if finished else {}),
    }
