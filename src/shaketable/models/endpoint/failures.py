"""What went wrong at an endpoint: its kind, whether and when to try again."""

from __future__ import annotations

import contextlib
import email.utils
import random
import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from shaketable.models.endpoint.hints import hint_for, hint_for_status, refused_parameter
from shaketable.models.endpoint.request import Dialect
from shaketable.models.endpoint.words import Hide, clean_json, clean_text, plain_words
from shaketable.types import Json

if TYPE_CHECKING:
    from openai import APIError

FIRST_WAIT_SECONDS = 0.5
LONGEST_BACKOFF_SECONDS = 30.0
LONGEST_WAIT_SECONDS = 300.0
"""An endpoint that wants a longer pause (a spent daily quota) and answers nobody fails now; resuming tries it again."""
A_DAY_SECONDS = 86_400.0
"""No server means more: what says so is read wrongly, or written by a clock that is wrong."""

REFUSALS = ("bad_request", "refused_setting")
STATUS_OF = {"authentication": 401, "payment": 402, "not_found": 404}
"""Failures that no request would escape, with the status that most servers give them."""
BUSY = (429, 503, 529)
"""How servers say that they have too much to do; the last is Anthropic's."""

Blame = Literal["request", "refusal", "busy", "unreachable", "unusable", "broken"]
"""What is at fault: the request alone; this request or all of them, which a server refused; a server with
too much to do; one that is not there; one that takes no request of ours (its key, its model, a spent quota); one that
does not do what it should, which another attempt may mend."""

LONGEST_WORDS = 240
"""Of the server, so that what to do about them is not cut off."""
LONGEST_MESSAGE = 1000
MOST_SEARCHED = 4000
"""Characters of what a server says that are searched for what it may mean."""

# The first is how OpenAI, vLLM, SGLang and llama.cpp word it, the second TGI.
WRONG_KEY = re.compile(
    r"api.?key.{0,20}(not valid|invalid|expired|incorrect)|(invalid|incorrect|wrong|no|expired).{0,10}api.?key",
    re.IGNORECASE,
)
WRONG_MODEL = re.compile(
    r"model_not_found|(not a|no) valid model|(invalid|unknown|no such) model\b|"
    r"\bmodel\b.{0,80}(does not exist|not found|not exist|is not available)",
    re.IGNORECASE,
)
"""Some answer 400 where others answer 401 or 404."""
TOO_LONG = re.compile(r"context.?(length|size|window)|tokens.* must be <=|(prompt|input) is too long", re.IGNORECASE)


class EndpointError(Exception):
    """Why there is no completion. The message is one line; of a secret that the endpoint repeated it may hold a short
    one still."""

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        may_retry: bool,
        parameter: str | None = None,
        blame: Blame = "request",
        wait: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind, self.message, self.may_retry = kind, plain_words(message)[:LONGEST_MESSAGE], may_retry
        self.parameter = parameter
        """Of the request, where the endpoint does not take it; None: it is about something else."""
        self.blame: Blame = blame
        self.wait = wait
        """Seconds after which the server wants to be asked again; None: it did not say."""
        self.host = ""
        """Where it came from; empty: it was not sent."""


def endpoint_error(error: APIError, body: Mapping[str, Json], dialect: Dialect, hide: Hide) -> EndpointError:
    """What the SDK raised, in our terms. What the server said is read anew: the SDK's own reading holds its secrets."""
    from openai import APIConnectionError, APIStatusError, APITimeoutError

    if isinstance(error, APIConnectionError):
        cause = error.__cause__ or error
        if isinstance(cause, EndpointError):
            return cause
        kind = "timeout" if isinstance(error, APITimeoutError) else "connection"
        blame: Blame = "unreachable" if _is_unreachable(cause) else "broken"
        words = hide(f"{type(cause).__name__}: {cause}".rstrip(": "))
        return EndpointError(kind, words, may_retry=True, blame=blame)
    if not isinstance(error, APIStatusError):
        return EndpointError("bad_reply", hide(str(error)), may_retry=True, blame="broken")
    told = words_of(error.response.content, hide)
    failed = status_error(error.status_code, told, body, dialect)
    failed.wait = retry_after(error.response.headers)
    failed.blame = _blame(error.status_code, code_of(told), failed.kind)
    return failed


def status_error(status: int, told: object, body: Mapping[str, Json], dialect: Dialect) -> EndpointError:
    """`told`: what the server said of the error, without secrets."""
    everything = _spelled(told)
    kind, may_retry = kind_of_status(status, everything)
    parameter = None
    if kind in REFUSALS:
        named = told.get("param") if isinstance(told, dict) else None
        parameter = refused_parameter(everything, named if isinstance(named, str) else None, body)
    if parameter is not None:
        kind, hint = "refused_setting", hint_for(parameter, everything, dialect)
    else:
        hint = hint_for_status(STATUS_OF.get(kind, status), dialect)
    message = f"HTTP {status}: {_server_words(told).strip()[:LONGEST_WORDS] or 'no words'}" + (
        f" → {hint}." if hint else ""
    )
    return EndpointError(kind, message, may_retry=may_retry, parameter=parameter)


def words_of(content: bytes, hide: Hide) -> object:
    """What a server says of an error: what stands under `error` in its JSON, or all of it, or its text."""
    try:
        told = clean_json(content.decode("utf-8", "replace"), hide)
    except (ValueError, RecursionError):
        return clean_text(content.decode("utf-8", "replace").strip(), hide)
    return told.get("error", told) if isinstance(told, dict) else told


def code_of(told: object) -> str | None:
    code = told.get("code") if isinstance(told, dict) else None
    return code if isinstance(code, str) else None


def _is_unreachable(cause: BaseException) -> bool:
    """By its name: which library the SDK connects with depends on its version."""
    return type(cause).__name__ in ("ConnectError", "ConnectTimeout")


def _blame(status: int, code: str | None, kind: str) -> Blame:
    if kind in STATUS_OF or code == "insufficient_quota":
        return "unusable"
    if status in BUSY:
        return "busy"
    if status in (408, 409) or status >= 500:
        return "broken"
    return "refusal" if kind == "bad_request" else "request"


def backoff(attempt: int) -> float:
    longest = min(LONGEST_BACKOFF_SECONDS, FIRST_WAIT_SECONDS * 2.0 ** (attempt - 1))
    return longest * random.uniform(0.5, 1.0)


def seconds_to_wait(error: APIError, attempt: int) -> float | None:
    """Seconds until the next attempt; None: another attempt would not help."""
    from openai import APIConnectionError, APIStatusError

    if isinstance(error.__cause__, EndpointError):
        return None  # A reply came, and was not taken.
    if isinstance(error, APIConnectionError):
        return backoff(attempt)
    if not isinstance(error, APIStatusError) or not is_passing(error.status_code, error.code):
        return None
    asked = retry_after(error.response.headers)
    return backoff(attempt) if asked is None else asked if asked <= LONGEST_WAIT_SECONDS else None


def is_passing(status: int, code: str | None) -> bool:
    """Whether another attempt may bring what this one did not."""
    return code != "insufficient_quota" and (status in (408, 409, 429) or status >= 500)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds, by the header that says milliseconds, seconds or a date; None: it does not say, or what cannot be."""
    given = headers.get("retry-after", "")
    for read, text in ((_milliseconds, headers.get("retry-after-ms", "")), (float, given), (_until, given)):
        # A date of the year 99999999999 overflows; which errors others raise depends on the version.
        with contextlib.suppress(ValueError, TypeError, OverflowError):
            return _sensible(read(text))
    # OpenAI and others tell when a spent limit is whole again, such as `6m0s`, `1.5s` or `120ms`.
    waits = [
        duration(headers.get(f"x-ratelimit-reset-{of}", ""))
        for of in ("requests", "tokens")
        if headers.get(f"x-ratelimit-remaining-{of}") == "0"
    ]
    return max((wait for wait in waits if wait is not None), default=None)


def _milliseconds(given: str) -> float:
    return float(given) / 1000


def _until(given: str) -> float:
    return email.utils.parsedate_to_datetime(given).timestamp() - time.time()


def _sensible(seconds: float) -> float | None:
    """None: no number, or more than a day."""
    return max(0.0, seconds) if seconds <= A_DAY_SECONDS else None


def duration(given: str) -> float | None:
    """Seconds, of hours, minutes, seconds and milliseconds; None: it is something else."""
    units = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
    if not re.fullmatch(r"(\d+(\.\d+)?(ms|h|m|s))+", given):
        return None
    parts = re.findall(r"(\d+(\.\d+)?)(ms|h|m|s)", given)
    return _sensible(sum(float(number) * units[unit] for number, _, unit in parts))


def kind_of_status(status: int, words: str) -> tuple[str, bool]:
    """The kind of failure, and whether running again may help. A wrong key or name can be mended
    at the endpoint and a balance topped up, so those trials are tried again on resume."""
    if status in (401, 403) or (status == 400 and WRONG_KEY.search(words)):
        return "authentication", True
    if status == 402:
        return "payment", True
    if status == 404 or (status == 400 and WRONG_MODEL.search(words)):
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


def _server_words(told: object) -> str:
    """The server's own words."""
    if isinstance(told, dict):
        told = told.get("message") or told.get("error") or told.get("detail") or told
    return _spelled(told or "")


def _spelled(told: object) -> str:
    try:
        return str(told)[:MOST_SEARCHED]
    except (RecursionError, ValueError):  # Nested too deep, or a number of thousands of digits.
        return ""
