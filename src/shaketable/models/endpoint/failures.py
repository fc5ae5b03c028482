"""What went wrong at an endpoint: its kind, whether and when to try again."""

from __future__ import annotations

import contextlib
import email.utils
import random
import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from shaketable.models.endpoint.hints import hint_for, hint_for_status, refused_parameter
from shaketable.models.endpoint.request import Dialect
from shaketable.types import Json

if TYPE_CHECKING:
    from openai import APIError

FIRST_WAIT_SECONDS = 0.5
LONGEST_BACKOFF_SECONDS = 30.0
LONGEST_WAIT_SECONDS = 300.0
"""An endpoint that wants a longer pause (a spent daily quota) fails now; resuming tries it again."""

REFUSALS = ("bad_request", "refused_setting")
LONGEST_WORDS = 240
"""Of the server, so that what to do about them is not cut off."""

# The first is how OpenAI, vLLM, SGLang and llama.cpp word it, the second TGI.
TOO_LONG = re.compile(r"context.?(length|size|window)|tokens.* must be <=|(prompt|input) is too long", re.IGNORECASE)


class EndpointError(Exception):
    """Why there is no completion; the message may hold a secret that the endpoint repeated."""

    def __init__(self, kind: str, message: str, *, may_retry: bool, parameter: str | None = None) -> None:
        super().__init__(message)
        self.kind, self.message, self.may_retry = kind, message, may_retry
        self.parameter = parameter
        """Of the request, where the endpoint does not take it; None: it is about something else."""


def endpoint_error(error: APIError, body: Mapping[str, Json], dialect: Dialect) -> EndpointError:
    from openai import APIConnectionError, APIStatusError, APITimeoutError

    if isinstance(error, APIConnectionError):
        cause = error.__cause__ or error
        kind = "timeout" if isinstance(error, APITimeoutError) else "connection"
        return EndpointError(kind, f"{type(cause).__name__}: {cause}", may_retry=True)
    if not isinstance(error, APIStatusError):
        return EndpointError("bad_reply", str(error), may_retry=True)
    everything = f"{error.body} {error.message}"
    kind, may_retry = kind_of_status(error.status_code, everything)
    parameter = refused_parameter(everything, error.param, body) if kind in REFUSALS else None
    if parameter is not None:
        kind, hint = "refused_setting", hint_for(parameter, everything, dialect)
    else:
        hint = hint_for_status(error.status_code, dialect)
    words = (_server_words(error.body) or error.message)[:LONGEST_WORDS]
    message = f"HTTP {error.status_code}: {words}" + (f" → {hint}." if hint else "")
    return EndpointError(kind, message, may_retry=may_retry, parameter=parameter)


def backoff(attempt: int) -> float:
    longest = min(LONGEST_BACKOFF_SECONDS, FIRST_WAIT_SECONDS * 2.0 ** (attempt - 1))
    return longest * random.uniform(0.5, 1.0)


def seconds_to_wait(error: APIError, attempt: int) -> float | None:
    """Seconds until the next attempt; None: another attempt would not help."""
    from openai import APIConnectionError, APIStatusError

    if isinstance(error, APIConnectionError):
        return backoff(attempt)
    if not isinstance(error, APIStatusError) or error.code == "insufficient_quota":
        return None
    if error.status_code not in (408, 409, 429) and error.status_code < 500:
        return None
    asked = retry_after(error.response.headers)
    if asked is None:
        return backoff(attempt)
    return asked if asked <= LONGEST_WAIT_SECONDS else None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds, by the header that says milliseconds, seconds or a date; None: it does not say."""
    with contextlib.suppress(KeyError, ValueError):
        return max(0.0, float(headers["retry-after-ms"]) / 1000)
    given = headers.get("retry-after", "")
    with contextlib.suppress(ValueError):
        return max(0.0, float(given))
    with contextlib.suppress(ValueError):
        return max(0.0, email.utils.parsedate_to_datetime(given).timestamp() - time.time())
    return None


def kind_of_status(status: int, words: str) -> tuple[str, bool]:
    """The kind of failure, and whether running again may help. A wrong key or name can be mended
    at the endpoint, so those trials are tried again on resume."""
    if status in (401, 403):
        return "authentication", True
    if status == 404:
        return "not_found", True
    if status == 408:
        return "timeout", True
    if status == 429:
        return "rate_limit", True
    if status == 409 or status >= 500:
        return "server", True
    if status == 413 or TOO_LONG.search(words):
        return "too_long", False
    if "unsupported_parameter" in words or "unsupported_value" in words:
        return "refused_setting", False
    if "content_filter" in words or "content management policy" in words:
        return "content_filter", False
    return "bad_request", False


def _server_words(body: object) -> str:
    """The server's own words; the SDK has already taken them out of `error` where it could."""
    if isinstance(body, dict):
        return str(body.get("message") or body.get("error") or body.get("detail") or body)
    return str(body or "")
