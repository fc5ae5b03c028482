"""A refused request → the setting that is at fault, and what to write instead."""

from __future__ import annotations

import os
import re
from collections.abc import Collection

from shaketable.errors import REASONING
from shaketable.models.endpoint.request import NEUTRAL, Dialect

REFUSED = re.compile(
    r"unsupported|not supported|n't support|not support|unrecogni[sz]ed|unknown|unexpected|extra (inputs|fields)|"
    r"not permitted|not allowed|only the default|cannot both|only one of|deprecated|above_max|below_min|"
    r"(maximum|minimum) value|out of range|cannot find field",
    re.IGNORECASE,
)
"""How servers say that they do not take a setting, or not this value of it."""
RANGE = re.compile(r"above|below|range|maximum|minimum|between|<=|>=|less than|greater than", re.IGNORECASE)
OPENAI_HOSTS = ("api.openai.com", ".openai.azure.com")
ROOM_TO_THINK = 1000
"""Tokens below which thoughts are likely to be cut off; reasoning models write thousands."""
ROOM_FOR_THOUGHTS = 4000
CONTENT = ("model", "messages", "prompt")

NO_TEMPERATURE = (
    "This model takes no temperature: set send_temperature=False. Its questions are then asked at one temperature, "
    "and nothing is said of others"
)
HINTS = {
    "top_p": "Set library_defaults = true in [generation]: top_p is then not sent",
    "max_tokens": "Set max_tokens_field='max_completion_tokens', as reasoning models want it; many of them take no "
    "temperature either: send_temperature=False",
    "max_completion_tokens": "Set max_tokens_field='max_tokens'",
    "seed": "Set send_seed=False: the endpoint then draws as it likes",
    "stop": "Set stop_at='client': texts are then cut here",
    "logprobs": "Leave logprobs and top_logprobs out of [generation], and methods that need them",
    "top_logprobs": "Set a lower top_logprobs, or leave logprobs and top_logprobs out of [generation]",
    "reasoning_effort": "Leave reasoning_effort out, or give a value that the model knows",
    **dict.fromkeys(
        ("continue_final_message", "add_generation_prompt"),
        "This endpoint cannot go on with a reply that the method has begun. Use a method that asks once, such as "
        "single_retrieval, or a server that can, such as vLLM",
    ),
}


def refused_parameter(words: str, named: str | None, sent: Collection[str]) -> str | None:
    """What of the request an endpoint does not take; None: its words are about something else."""
    if not REFUSED.search(words):
        return None
    if named in sent and named not in CONTENT:
        return named
    # The longest first: the words on `max_completion_tokens` may hold `tokens`, and those on `top_logprobs` `logprobs`.
    names = sorted((name for name in sent if name not in CONTENT), key=len, reverse=True)
    return next((name for name in names if re.search(rf"(?<![A-Za-z_]){name}(?![A-Za-z_])", words)), None)


def known_refusal(dialect: Dialect, host: str, max_tokens: int) -> str | None:
    """Return what OpenAI's own reasoning models are known to refuse of these settings, and what to set; None: nothing
    is known. The same names elsewhere may stand for anything."""
    if not host.endswith(OPENAI_HOSTS) or not REASONING.match(dialect.model) or "chat" in dialect.model:
        return None
    wrong = {
        "max_tokens": dialect.max_tokens_field == "max_tokens" and "max_tokens_field='max_completion_tokens'",
        "temperature": dialect.send_temperature and "send_temperature=False",
    }
    settings = {name: setting for name, setting in wrong.items() if setting}
    told = []
    if settings:
        told.append(f"{dialect.model} refuses {' and '.join(settings)}: set {', '.join(settings.values())}.")
    if max_tokens < ROOM_TO_THINK:
        told.append(
            f"{dialect.model} thinks before it writes, and {max_tokens} tokens may all go into its thoughts: "
            f"set max_tokens to {ROOM_FOR_THOUGHTS} or so."
        )
    return " ".join(told) or None


def hint_for(parameter: str, words: str, dialect: Dialect) -> str:
    """What to set so that the endpoint takes the next request."""
    if parameter in (dialect.extra_body or {}):
        return "It stands in extra_body: change it there, or take it out"
    if parameter == "temperature":
        if "top_p" in words:
            return HINTS["top_p"]
        return "Change cross.temperatures" if RANGE.search(words) else NO_TEMPERATURE
    if parameter in NEUTRAL:
        return "Set extended=False" if dialect.extended else f"Leave {parameter} out of [generation]"
    return HINTS.get(parameter, "")


def hint_for_status(status: int, dialect: Dialect) -> str:
    """What to look at when the endpoint does not know the key, the address or the model."""
    if status in (401, 403):
        if not os.environ.get(dialect.key_variable, "").strip() and not dialect.headers:
            return f"No key was sent: the environment variable {dialect.key_variable} is not set. Set it to your key"
        return f"Check the key in {dialect.key_variable}"
    if status == 402:
        return f"Top up the account of the key in {dialect.key_variable}"
    if status == 404 and dialect.api_version:
        return "With api_version, base_url is the resource alone and model the name of a deployment"
    if status == 404:
        return "Check model, and base_url: at most servers it ends with /v1"
    return ""
