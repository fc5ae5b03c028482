"""What an endpoint does not do, as its replies tell, in one sentence."""

from __future__ import annotations

from collections.abc import Mapping

from shaketable.types import EndpointFact


def describe_checks(facts: Mapping[str, EndpointFact]) -> str:
    """`seed honored, temperature applied: no (HTTP 400); logprobs given: could not be told (…)`: a reason once."""
    names: dict[tuple[bool | None, str], list[str]] = {}
    for name, fact in facts.items():
        names.setdefault((fact.value, fact.reason), []).append(name.replace("_", " "))
    return "; ".join(
        f"{', '.join(alike)}: {'no' if value is False else 'could not be told'} ({reason})"
        for (value, reason), alike in names.items()
    )
