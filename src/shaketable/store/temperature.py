"""Systems whose sampling temperature never reached a model."""

from __future__ import annotations

from shaketable.store.records import RecordStore

SETS_ITS_OWN = "the method sets the temperature of every generation itself"
ASKS_NONE = "the method asks no model"
NOT_SENT = "it is not sent to the endpoint"
TAKES_NONE = "the pipeline takes none, and ran with its own"


def systems_without_temperature(store: RecordStore) -> dict[tuple[str, str], str]:
    """Model and method → why: the method sets its own, or asks no model; a pipeline takes none; or the endpoint ignores
    it."""
    # Only few traces name a temperature of their own; the others are not taken apart.
    never = store.rows(
        """SELECT c.model, c.method, MAX(r.n_generations) FROM records r JOIN conditions c ON c.id = r.condition
           WHERE r.answer IS NOT NULL GROUP BY c.model, c.method
           HAVING MAX(r.n_generations > 0 AND CASE WHEN r.trace LIKE '%"sampling":%' THEN EXISTS (
               SELECT 1 FROM json_each(r.trace, '$.events') e WHERE json_extract(e.value, '$.generate') IS NOT NULL
               AND json_extract(e.value, '$.sampling.temperature') IS NULL) ELSE 1 END) = 0"""
    )
    reasons = {(model, method): ASKS_NONE if n == 0 else SETS_ITS_OWN for model, method, n in never}
    ignored = store.rows(
        """SELECT DISTINCT c.model, c.method, json_extract(e.body, '$.checks.temperature_applied.reason')
           FROM records r JOIN conditions c ON c.id = r.condition JOIN environments e ON e.id = r.environment
           WHERE json_extract(e.body, '$.checks.temperature_applied.value') = 0"""
    )
    unsent = store.rows(
        """SELECT DISTINCT c.model, c.method, json_extract(e.body, '$.engine') = 'pipeline'
           FROM records r JOIN conditions c ON c.id = r.condition JOIN environments e ON e.id = r.environment
           WHERE json_extract(e.body, '$.temperature_sent') = 0"""
    )
    return (
        {(model, method): f"the endpoint ignores it ({reason})" for model, method, reason in ignored}
        | {(model, method): TAKES_NONE if is_pipeline else NOT_SENT for model, method, is_pipeline in unsent}
        | reasons
    )
