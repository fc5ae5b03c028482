"""What an endpoint does not do, as its replies tell, in one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shaketable.report.words import join_words
from shaketable.types import EndpointFact

NOT_DONE = {
    "n_honored": "does not give several replies at once",
    "logprobs_given": "does not give log probabilities",
    "seed_honored": "does not repeat its text for the same seed",
    "temperature_applied": "does not apply the temperature",
    "unlikely_drawn": "seems to cut off unlikely tokens by a top_k, top_p or min_p of its own",
}
IN_QUESTION = {
    "n_honored": "gives several replies at once",
    "logprobs_given": "gives log probabilities",
    "seed_honored": "repeats its text for the same seed",
    "temperature_applied": "applies the temperature",
    "unlikely_drawn": "draws unlikely tokens at a high temperature",
}
"""The same, where nothing is known of it."""


def describe_checks(facts: Mapping[str, EndpointFact]) -> str:
    """`the endpoint does not give several replies at once (asked for 3, it gave 1)`: a reason once."""
    names: dict[tuple[bool | None, str], list[str]] = {}
    for name, fact in facts.items():
        names.setdefault((fact.value, fact.reason), []).append(name)
    return "; ".join(f"{_told(alike, is_known=value is False)} ({reason})" for (value, reason), alike in names.items())


def _told(names: Sequence[str], *, is_known: bool) -> str:
    told = join_words([(NOT_DONE if is_known else IN_QUESTION).get(name, name.replace("_", " ")) for name in names])
    return f"the endpoint {told}" if is_known else f"it could not be told whether the endpoint {told}"
