"""A reply's body → its JSON, with nothing in it that cannot be stored and no secret that was sent."""

from __future__ import annotations

from typing import Any

from shaketable.models.endpoint.failures import EndpointError
from shaketable.models.endpoint.words import Hide, clean_json, clean_text

LONGEST_BEGINNING = 60
"""Characters of a reply that is not understood."""


def parse_reply(body: bytes, hide: Hide) -> Any:
    """Raises EndpointError where it is not JSON."""
    try:
        return clean_json(body.decode("utf-8-sig"), hide)
    except RecursionError as error:
        raise _bad("the reply is nested too deep") from error
    except ValueError as error:
        text = clean_text(body.decode("utf-8", "replace"), hide).strip()
        begins = f"it begins with {text[:LONGEST_BEGINNING]!r}" if text else "it is empty"
        raise _bad(f"the reply is not JSON; {begins}") from error


def _bad(message: str) -> EndpointError:
    return EndpointError("bad_reply", message, may_retry=True, blame="broken")
