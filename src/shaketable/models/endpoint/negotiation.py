"""Settings that an endpoint does not take: learned from its first refusal, left out from then on, reported once.

Only settings without which a reply means the same are left out: the seed, and neutral values of settings that some
servers know. A refused temperature is never left out: answers would be counted at temperatures that no model got.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping

from shaketable.errors import ModelError
from shaketable.models.endpoint.failures import EndpointError
from shaketable.models.endpoint.request import NEUTRAL
from shaketable.models.endpoint.verdict import KEPT
from shaketable.types import Json

logger = logging.getLogger(__name__)

EFFECTS = {
    "seed": ("no seed", "Repeated answers differ by chance, and the same seed does not give the same text"),
    "extensions": ("no top_k, min_p or repetition penalty", "Its own values apply and may cut off unlikely tokens"),
}
MOST_WORDS = 200
"""Characters of an endpoint's own words."""


class Negotiated:
    """What is left out of the requests to an endpoint, and why."""

    def __init__(self) -> None:
        self.left_out: dict[str, str] = {}
        """Setting → the endpoint's words."""

    def fit(self, body: Mapping[str, Json]) -> dict[str, Json]:
        """Return the body of a request without what the endpoint does not take."""
        return without(body, self.left_out)

    def learn(self, error: EndpointError, body: Mapping[str, Json], *, may_drop_extensions: bool) -> bool:
        """Whether the same request may be sent again without the setting that this error refuses."""
        name = error.parameter
        if name == "seed":
            self.leave_out(["seed"], f"{error.host}: {error.message}")
        elif may_drop_extensions and name is not None and name in NEUTRAL and body.get(name) == NEUTRAL[name]:
            self.leave_out(NEUTRAL, f"{error.host}: {error.message}")
        else:
            return False
        return True

    def try_without_extensions(self) -> bool:
        """Whether they were sent until now."""
        if NEUTRAL.keys() <= self.left_out.keys():
            return False
        self.left_out |= dict.fromkeys(NEUTRAL, "")
        return True

    def settle_extensions(self, refusal: str, *, is_taken: bool) -> None:
        """After a request without them: it was taken, or they were not what the endpoint had refused."""
        for name in NEUTRAL:
            self.left_out.pop(name, None)
        if is_taken:
            self.leave_out(NEUTRAL, refusal)

    def leave_out(self, names: Collection[str], refusal: str) -> None:
        """`refusal`: the host and its words."""
        new = [name for name in names if name not in self.left_out]
        if not new:
            return  # Calls that were sent together are refused together.
        words = refusal.partition(" → ")[0].rstrip(".")[:MOST_WORDS]
        self.left_out |= dict.fromkeys(new, words)
        told, effect = EFFECTS["seed" if new == ["seed"] else "extensions"]
        logger.warning(f"The endpoint takes {told}, so none is sent ({words}). {effect}.")


def refuse_temperatures(temperatures: Collection[float], refused: Mapping[tuple[str, str], EndpointError]) -> None:
    """Raises ModelError where the endpoint refuses one of them: each of its trials would fail in these words."""
    errors = {value: refused[key] for value in sorted(temperatures) if (key := ("temperature", repr(value))) in refused}
    if not errors:
        return
    error = next(iter(errors.values()))
    taken = [value for value in temperatures if value not in errors]
    told = f"it refuses temperature {_list(errors)}" + (f" and takes {_list(taken)}" if taken else "")
    raise ModelError(f"{error.host}: {told}. {error.message}\n{KEPT}")


def _list(temperatures: Collection[float]) -> str:
    return ", ".join(f"{value:g}" for value in sorted(temperatures))


def without(body: Mapping[str, Json], left_out: Collection[str]) -> dict[str, Json]:
    """A study's own value of such a setting stays, and its refusal is a failure."""
    return {
        name: value
        for name, value in body.items()
        if name not in left_out or (name in NEUTRAL and value != NEUTRAL[name])
    }
