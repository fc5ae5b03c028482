"""A prompt → the body of a request, in the dialect that an endpoint understands."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal, Protocol, cast

from shaketable.identity import canonical
from shaketable.types import Json, Prompt, Sampling

OWN = frozenset(
    {
        *("model", "messages", "prompt", "temperature", "top_p", "top_k", "min_p", "repetition_penalty"),
        *("repeat_penalty", "seed", "max_tokens", "max_completion_tokens", "stop", "logprobs", "top_logprobs", "n"),
        *("stream", "continue_final_message", "add_generation_prompt", "include_stop_str_in_output", "no_stop_trim"),
        "reasoning_effort",
    }
)
"""What the study and the part's settings decide; `extra_body` cannot."""

PROCESSED = "processed_logprobs"
"""An extra that no endpoint gives, and that follows from the others where truncation leaves few tokens."""

NEUTRAL: Mapping[str, Json] = {
    "top_k": -1,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "repeat_penalty": 1.0,
    "include_stop_str_in_output": True,
    "no_stop_trim": True,
}
"""What vLLM, SGLang and llama.cpp know beyond OpenAI's API, with the values that switch it off. -1 is off to all three,
0 is not."""

# 2**32 - 1 asks llama.cpp for a random seed, and some servers read seeds as signed 32-bit numbers.
N_SEEDS = 2**31 - 1


class Dialect(Protocol):
    """The settings of the part that shape its requests."""

    @property
    def model(self) -> str: ...
    @property
    def max_tokens_field(self) -> Literal["max_tokens", "max_completion_tokens"]: ...
    @property
    def extended(self) -> bool | None: ...
    @property
    def is_extended(self) -> bool: ...
    @property
    def send_seed(self) -> bool: ...
    @property
    def stop_at(self) -> Literal["server", "client"]: ...
    @property
    def top_logprobs(self) -> int: ...
    @property
    def send_temperature(self) -> bool: ...
    @property
    def reasoning_effort(self) -> str | None: ...
    @property
    def extra_body(self) -> Mapping[str, object] | None: ...
    @property
    def api_version(self) -> str | None: ...
    @property
    def key_variable(self) -> str: ...
    @property
    def headers(self) -> Mapping[str, str] | None: ...


def settle_extra_body(given: Mapping[str, object] | None) -> Mapping[str, object] | None:
    """With one order of its keys, so that equal settings have one spelling."""
    if given is None:
        return None
    if own := sorted(OWN & given.keys()):
        raise ValueError(
            f"extra_body has '{own[0]}', which the study and the other settings decide. Take it out of extra_body."
        )
    try:
        settled: dict[str, object] = json.loads(canonical(given))
    except TypeError as error:
        raise ValueError(f"extra_body cannot be sent as JSON: {error}.") from error
    return settled


def request_body(prompt: Prompt, dialect: Dialect) -> dict[str, Json]:
    sampling = prompt.sampling
    body: dict[str, Json] = {"model": dialect.model, **cast(Mapping[str, Json], dialect.extra_body or {})}
    if dialect.send_temperature:
        body["temperature"] = sampling.temperature
    if dialect.reasoning_effort is not None:
        body["reasoning_effort"] = dialect.reasoning_effort
    if dialect.send_seed:
        body["seed"] = prompt.seed % N_SEEDS
    if not sampling.library_defaults:
        # Models that take no temperature refuse a neutral top_p as well.
        if dialect.send_temperature or sampling.top_p != 1.0:
            body["top_p"] = sampling.top_p
        body |= _more_sampling(sampling, dialect.is_extended)
    if sampling.stop and dialect.stop_at == "server":
        body["stop"] = list(sampling.stop)
        if dialect.is_extended:
            # The names by which vLLM and SGLang are told to leave the stop string in the text.
            body |= {"include_stop_str_in_output": True, "no_stop_trim": True}
    wants_logprobs = not {"logprobs", "top_logprobs", PROCESSED}.isdisjoint(prompt.wants)
    if prompt.layout == "plain":
        body["prompt"] = "".join(message.content for message in prompt.messages)
        body["max_tokens"] = sampling.max_tokens
        if wants_logprobs:
            body["logprobs"] = dialect.top_logprobs
        return body
    body["messages"] = [{"role": message.role, "content": message.content} for message in prompt.messages]
    body[dialect.max_tokens_field] = sampling.max_tokens
    if wants_logprobs:
        body |= {"logprobs": True, "top_logprobs": dialect.top_logprobs}
    if reply_prefix(prompt):
        body |= {"continue_final_message": True, "add_generation_prompt": False}
    return body


def reply_prefix(prompt: Prompt) -> str:
    """The beginning of the reply that the prompt gives; empty when the reply starts afresh."""
    last = prompt.messages[-1:]
    return last[0].content if prompt.layout == "chat" and last and last[0].role == "assistant" else ""


def _more_sampling(sampling: Sampling, always: bool) -> dict[str, Json]:
    penalty = sampling.repetition_penalty
    stated: dict[str, Json] = {} if not sampling.top_k else {"top_k": sampling.top_k}
    if penalty != 1.0:
        stated |= {"repetition_penalty": penalty, "repeat_penalty": penalty}  # The second is its name in llama.cpp.
    neutral = {name: NEUTRAL[name] for name in ("top_k", "repetition_penalty", "repeat_penalty", "min_p")}
    return {**neutral, **stated} if always else stated
