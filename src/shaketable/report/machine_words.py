"""Where answers were made, in words: what an engine found out about itself has short names that nobody else knows."""

from __future__ import annotations

from collections.abc import Mapping

from shaketable.types import Json

BATCHING = {
    "any": "exact: an answer has the same bits in any batch",
    "fixed": "exact: batches have one fixed size, in which an answer always has the same bits",
    "alone": "exact: each answer is decoded alone",
    "free": "free: other answers of a batch may change the last bits",
}
"""What was proved on the machine, or asked for."""


def tell_machine(environment: Mapping[str, Json]) -> dict[str, Json]:
    """The same entries, those of one engine in words."""
    batching = environment.get("batching")
    if not isinstance(batching, str):
        return dict(environment)
    return {**environment, "batching": BATCHING.get(batching, batching)}
